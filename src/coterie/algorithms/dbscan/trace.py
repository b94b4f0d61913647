"""The growth of clusters in waves, for ``trace=True``.

A wave is a level of breadth-first search from the first core points of all clusters together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coterie.algorithms.dbscan.dbscan import NOISE, DbscanResult
from coterie.kernels import _native
from coterie.kernels.block import Block
from coterie.kernels.dbscan_steps import Measure, reach

Rows = NDArray[np.intp]


@dataclass(frozen=True)
class Wave:
    """Points that were reached together, and the clusters that they joined."""

    rows: Rows
    labels: NDArray[np.int64]


def waves(labels: NDArray[np.int64], depths: Rows) -> tuple[Wave, ...]:
    """The points of each wave, in order. depths : (n,) the wave of each point, -1 for noise."""
    order = np.argsort(depths, kind="stable")
    begin, end = np.searchsorted(depths[order], [0, depths.max(initial=-1) + 1])
    order = order[begin:end]
    cuts = np.flatnonzero(np.diff(depths[order])) + 1
    return tuple(Wave(rows, labels[rows]) for rows in np.split(order, cuts) if len(rows))


def depths_of(
    X: NDArray[np.floating], run: DbscanResult, measure: Measure, team: _native.Team
) -> Rows:
    """(n,) the number of steps of at most eps, over core points, from the first core point of a
    cluster to each of its points; -1 for noise. X : the rows of the run."""
    depths = np.full(len(X), NOISE, dtype=np.intp)
    core = np.flatnonzero(run.core)
    _, first = np.unique(run.labels[core], return_index=True)
    frontier, rest, depth = core[first], np.flatnonzero(run.labels != NOISE), 0
    while len(frontier):
        depths[frontier] = depth
        rest = rest[depths[rest] == NOISE]
        frontier = frontier[run.core[frontier]]
        if not len(frontier) or not len(rest):
            break
        cores, queries = (Block.over(X[rows], None, team) for rows in (frontier, rest))
        # No cluster of a lower number reaches a border point, so a core point of its own is near
        # if and only if its own label comes back.
        came = reach(cores, run.labels[frontier], queries, measure)
        frontier, depth = rest[came == run.labels[rest]], depth + 1
    return depths
