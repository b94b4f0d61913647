"""k-means: Algorithm 2 of the paper, line by line.

The paper's words are kept: data points x, cluster means m, assignments y, activity indicators b.
Sums are taken over integers, so a mean is the exact ratio and an error the exact sum, each rounded
once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.kernels.reference.arithmetic import (
    Floats,
    Labels,
    exact_mean,
    exact_mean_variance,
    exact_squares,
)


@dataclass(frozen=True)
class Answer:
    """The result of a run of k-means."""

    means: Floats  # (k, d)
    labels: Labels  # (n,)
    active: NDArray[np.bool_]  # (k,)
    inertia: float
    clustering_error: float
    n_iter: int
    errors: tuple[float, ...]  # clustering error after each iteration


def squared_distances(X: Floats, means: Floats) -> Floats:
    """(n, k) sums over columns of (x - m)^2, multiplied and then added in float64.

    The order of the columns decides the last bits.
    """
    s = np.zeros((len(X), len(means)))
    for column in range(X.shape[1]):
        e = X[:, column, np.newaxis] - means[np.newaxis, :, column]
        s += e * e
    return s


def nearest(X: Floats, means: Floats) -> Labels:
    """y(i) = min argmin_c |x(i) - m(c)|: `argmin` gives the lowest index among equals."""
    y: Labels = np.argmin(squared_distances(X, means), axis=1)
    return y


def updated_means(
    X: Floats, weights: Floats, y: Labels, active: NDArray[np.bool_], means: Floats
) -> Floats:
    """m(c) = mean of the points with y(i) = c, for all c with b(c) = 1; the others stay."""
    new = means.copy()
    for c in np.flatnonzero(active):
        new[c] = exact_mean(X[y == c], weights[y == c])
    return new


def relocated(X: Floats, y: Labels, means: Floats) -> Labels:
    """Each cluster without points gets one of those farthest from their means, the lower row
    among equals; a point that lies on its mean stays."""
    y = y.copy()
    empty = np.setdiff1d(np.arange(len(means)), y)
    s = squared_distances(X, means)[np.arange(len(X)), y]
    far = np.argsort(-s, kind="stable")[: len(empty)]
    far = far[s[far] > 0]
    y[far] = empty[: len(far)]
    return y


def k_means(
    X: NDArray[Any],
    means: Floats,
    weights: Floats | None = None,
    *,
    max_iter: int | None = None,
    tol: float = 0.0,
    rel_tol: float = 0.0,
    relocate: bool = False,
) -> Answer:
    """Algorithm 2 from the given means.

    The rules for an early stop, and for points for empty clusters, are ours and off by default.
    """
    x = np.asarray(X, dtype=np.float64)
    w = np.ones(len(x)) if weights is None else weights
    mass = exact_squares(np.ones((len(x), 1)), w, np.zeros((1, 1)), np.zeros(len(x), dtype=np.intp))
    m = np.array(means, dtype=np.float64)
    threshold = tol * exact_mean_variance(x, w) if tol > 0 else 0.0
    errors: list[float] = []
    previous: Labels | None = None
    # 1: repeat
    while True:
        # 2: update cluster assignments, the lowest index among equals
        y = nearest(x, m)
        # 3: update activity indicators
        b = np.bincount(y, minlength=len(m)) > 0
        # 4: update the means of active clusters
        new = updated_means(x, w, y, b, m)
        if relocate and not b.all():
            # Other assignments, and their means, are taken if they have a smaller error.
            other = relocated(x, y, m)
            active = np.bincount(other, minlength=len(m)) > 0
            others = updated_means(x, w, other, active, m)
            if exact_squares(x, w, others, other) < exact_squares(x, w, new, y):
                y, b, new = other, active, others
        errors.append(float(exact_squares(x, w, new, y) / mass))
        # 5: until cluster assignments do not change (and so step 4 changed no mean)
        if previous is not None and np.array_equal(y, previous):
            break
        move = float(np.cumsum((new - m).ravel() ** 2)[-1])  # in order: last bits may decide
        m, previous = new, y
        if (
            (tol > 0 and move <= threshold)
            or (rel_tol > 0 and len(errors) > 1 and errors[-2] - errors[-1] < rel_tol * errors[-2])
            or (max_iter is not None and len(errors) >= max_iter)
        ):
            # Stopped early: the assignments of the means that are returned.
            y = nearest(x, m)
            b = np.bincount(y, minlength=len(m)) > 0
            break
    squares = exact_squares(x, w, m, y)
    return Answer(m, y, b, float(squares), float(squares / mass), len(errors), tuple(errors))
