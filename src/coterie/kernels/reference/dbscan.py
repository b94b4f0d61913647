"""DBSCAN by its definition, to be read beside the paper's section on connectivity.

Two data points are *nearby* if their distance is at most eps. A point with at least m_near nearby
points, itself among them, is a *core point*. Core points that can be reached from each other by a
sequence of nearby core points are one cluster; every other point that is nearby to a core point
belongs to its cluster too (*border*); the rest are outliers (*noise*).

Two rules settle the numbers that the paper leaves open: clusters are numbered by their smallest
core point, and a border point that several clusters reach joins the one with the lowest number.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.kernels.reference.arithmetic import Floats

Flags = NDArray[np.bool_]
NOISE = -1


@dataclass(frozen=True)
class Clusters:
    """The result of DBSCAN."""

    labels: NDArray[np.intp]  # (n,) number of the cluster, -1 for noise
    core: Flags  # (n,)
    near: Floats  # (n,) the number of points nearby, or their weight
    n_clusters: int


def dbscan(
    X: NDArray[Any],
    eps: float,
    m_near: int,
    weights: Floats | None = None,
    *,
    metric: str = "euclidean",
    p: float | None = None,
) -> Clusters:
    """Clusters of the rows of X. weights : (n,) any finite numbers, also negative, or None."""
    return clusters(nearby(X, X, eps, metric=metric, p=p), m_near, weights)


def clusters(near: Flags, m_near: int, weights: Floats | None = None) -> Clusters:
    """Clusters, given the pairs of points that are nearby. near : (n, n), symmetric"""
    n = len(near)
    near = near | np.eye(n, dtype=bool)  # a point is nearby to itself, also after rounding
    # Sums are exact and then rounded once, so that no order of the points matters.
    w = np.ones(n) if weights is None else weights
    total = np.array([math.fsum(w[row]) for row in near])
    core = total >= m_near
    labels = np.full(n, NOISE, dtype=np.intp)
    n_clusters = 0
    # Core points in order, so a new cluster begins at its smallest one.
    for i in map(int, np.flatnonzero(core)):
        if labels[i] != NOISE:
            continue
        reached = connected(i, near, core)
        # Border points that an earlier cluster reached stay there: it has the lower number.
        labels[reached & (labels == NOISE)] = n_clusters
        n_clusters += 1
    return Clusters(labels, core, total, n_clusters)


def connected(start: int, near: Flags, core: Flags) -> Flags:
    """Points that a sequence of nearby core points leads to, starting at a core point."""
    reached = np.zeros(len(near), dtype=bool)
    front = np.array([start])
    while len(front):
        found = near[front].any(axis=0) & ~reached
        reached |= found
        front = np.flatnonzero(found & core)
    return reached


def predict(
    X: NDArray[Any],
    found: Clusters,
    new: NDArray[Any],
    eps: float,
    *,
    metric: str = "euclidean",
    p: float | None = None,
) -> NDArray[np.intp]:
    """The lowest-numbered cluster with a core point nearby; -1 if there is none.

    For the rows of X this gives `labels`: core points near a core point are of its cluster, and
    border points have joined by the same rule.
    """
    labels = np.full(len(new), NOISE, dtype=np.intp)
    near = nearby(new, X[found.core], eps, metric=metric, p=p)
    of_core = found.labels[found.core]
    for i, row in enumerate(near):
        if row.any():
            labels[i] = of_core[row].min()
    return labels


def nearby(
    X: NDArray[Any],
    Y: NDArray[Any],
    eps: float,
    *,
    metric: str = "euclidean",
    p: float | None = None,
) -> Flags:
    """(n, m): true where the distance is at most eps.

    All in float64, column after column: sums are added in that order and nothing is fused. A power
    or a sine is compared instead of the distance where that is possible: it spares a rounding.
    """
    x, y = (np.asarray(rows, dtype=np.float64) for rows in (X, Y))
    near: Flags
    with np.errstate(over="ignore", under="ignore"):  # an infinite distance is not nearby
        match metric:
            case "euclidean":
                near = _sum(x, y, lambda a, b: (a - b) * (a - b)) <= eps * eps
            case "manhattan":
                near = _sum(x, y, lambda a, b: np.abs(a - b)) <= eps
            case "chebyshev":
                near = np.abs(x[:, np.newaxis] - y).max(axis=2) <= eps
            case "minkowski":
                assert p is not None
                near = _sum(x, y, lambda a, b: _power(np.abs(a - b), p)) <= _pow(eps, p)
            case "cosine":
                apart = 1.0 - _sum(unit(x), unit(y), lambda a, b: a * b)
                near = np.clip(apart, 0.0, 2.0) <= eps
            case "haversine":
                # No two places on a sphere are farther apart than pi.
                bound = math.sin(0.5 * eps) ** 2 if eps < math.pi else math.inf
                near = _haversine(x, y) <= bound
            case _:
                raise ValueError(f"no reference for metric {metric!r}")
    return near


def unit(x: Floats) -> Floats:
    """Rows divided by their lengths; rows of zeros, which have no direction, as they are."""
    length = np.sqrt(np.cumsum(x * x, axis=1)[:, -1])
    length[length == 0] = 1.0
    return x / length[:, np.newaxis]


def _sum(x: Floats, y: Floats, term: Any) -> Floats:
    s = np.zeros((len(x), len(y)))
    for column in range(x.shape[1]):
        s += term(x[:, column, np.newaxis], y[np.newaxis, :, column])
    return s


def _pow(base: float, exponent: float) -> float:
    try:
        return math.pow(base, exponent)
    except OverflowError:
        return math.inf


# NumPy has sines and powers of its own, which may differ from the C library's in the last digit.
_sine = np.vectorize(math.sin, otypes=[float])
_cosine = np.vectorize(math.cos, otypes=[float])
_power = np.vectorize(_pow, otypes=[float])


def _haversine(x: Floats, y: Floats) -> Floats:
    """Squared sine of half the angle between places given as latitude and longitude in radians."""
    s = _sine(0.5 * (x[:, np.newaxis] - y))  # (n, m, 2)
    cosines = _cosine(x[:, :1]) * _cosine(y[:, 0])
    h: Floats = s[..., 0] * s[..., 0] + cosines * s[..., 1] * s[..., 1]
    return h
