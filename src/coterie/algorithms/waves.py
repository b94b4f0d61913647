"""How clusters grew: from their first core point, wave after wave, all clusters side by side."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coterie.algorithms.density import NOISE, DbscanResult
from coterie.kernels import _native
from coterie.kernels.block import Block
from coterie.kernels.neighbourhoods import Measure, reach

Rows = NDArray[np.intp]


@dataclass(frozen=True)
class Wave:
    """Points that were reached together, and the clusters that they joined."""

    rows: Rows
    labels: NDArray[np.int64]


def waves(labels: NDArray[np.int64], depths: Rows) -> tuple[Wave, ...]:
    """depths : (n,) in which wave a point was reached; -1 for noise."""
    order = np.argsort(depths, kind="stable")
    begin, end = np.searchsorted(depths[order], [0, depths.max(initial=-1) + 1])
    order = order[begin:end]
    cuts = np.flatnonzero(np.diff(depths[order])) + 1
    return tuple(Wave(rows, labels[rows]) for rows in np.split(order, cuts) if len(rows))


def depths_of(
    X: NDArray[np.floating], run: DbscanResult, measure: Measure, team: _native.Team
) -> Rows:
    """(n,) how many steps of at most eps, over core points, lead from the first core point of a
    cluster to each of its points; -1 for noise. X : the rows of the run."""
    depths = np.full(len(X), NOISE, dtype=np.intp)
    core = np.flatnonzero(run.core)
    _, first = np.unique(run.labels[core], return_index=True)
    front, rest, depth = core[first], np.flatnonzero(run.labels != NOISE), 0
    while len(front):
        depths[front] = depth
        rest = rest[depths[rest] == NOISE]
        front = front[run.core[front]]
        if not len(front) or not len(rest):
            break
        cores, queries = (Block.over(X[rows], None, team) for rows in (front, rest))
        # No cluster of a lower number reaches a border point, so a core point of its own is near
        # if and only if its own label comes back.
        came = reach(cores, run.labels[front], queries, measure)
        front, depth = rest[came == run.labels[rest]], depth + 1
    return depths
