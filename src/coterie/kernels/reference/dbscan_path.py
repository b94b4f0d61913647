"""DBSCAN for every eps by its definition: the eps at which points become core, join and merge.

The *core distance* of a point is the smallest eps at which it is a core point. The *mutual
reachability distance* of two points is the smallest eps at which they are core points nearby each
other: the largest of their distance and their core distances (Campello et al. 2015). Clusters merge
along a minimum spanning tree under it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.kernels.reference.arithmetic import Floats


@dataclass(frozen=True)
class Thresholds:
    """Distances in the form that DBSCAN compares: squared for euclidean."""

    core: Floats  # (n,) from here on a point is core
    member: Floats  # (n,) from here on a point is in a cluster, as core or border
    merge: Floats  # (n - 1,) from here on two clusters are one, increasing


def thresholds(X: NDArray[Any], m_near: int, *, metric: str = "euclidean") -> Thresholds:
    """The values of eps at which something changes.

    m_near : the least number of nearby points, itself among them, of a core point.
    """
    d = distances(X, metric)
    n = len(d)
    # The m_near-th smallest distance of a row: its own, which is zero, counts.
    core = np.sort(d, axis=1)[:, m_near - 1] if m_near <= n else np.full(n, np.inf)
    # A border point needs a core point nearby.
    member = np.minimum(core, np.maximum(d, core).min(axis=1))
    reachability = np.maximum(np.maximum(d, core), core[:, np.newaxis])
    return Thresholds(core, member, spanning_tree(reachability))


def distances(X: NDArray[Any], metric: str) -> Floats:
    """(n, n) in float64, column after column."""
    x = np.asarray(X, dtype=np.float64)
    d = np.zeros((len(x), len(x)))
    for column in x.T:
        apart = np.abs(column[:, np.newaxis] - column)
        match metric:
            case "euclidean":
                d += apart * apart
            case "manhattan":
                d += apart
            case "chebyshev":
                d = np.maximum(d, apart)
            case _:
                raise ValueError(f"no reference for metric {metric!r}")
    return d


def spanning_tree(weights: Floats) -> Floats:
    """Edges of a minimum spanning tree, increasing: Prim's algorithm. weights : (n, n)"""
    n = len(weights)
    outside = np.ones(n, dtype=bool)
    outside[0] = False
    shortest = weights[0].copy()  # from the tree to each point outside
    edges = np.empty(n - 1)
    for step in range(n - 1):
        nearest = int(np.where(outside, shortest, np.inf).argmin())
        if not outside[nearest]:  # all remaining points are infinitely far
            nearest = int(outside.argmax())
        edges[step] = shortest[nearest]
        outside[nearest] = False
        shortest = np.minimum(shortest, weights[nearest])
    return np.sort(edges)
