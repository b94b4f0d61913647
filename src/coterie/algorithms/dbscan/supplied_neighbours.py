"""DBSCAN from supplied neighbourhoods: count, then grow.

This driver serves metrics without a native kernel, and distances given as a matrix or a graph.
Clusters grow from their smallest core point by breadth-first search. So the neighbourhood of a core
point is needed twice, once to count it and once to grow from it, and a few at a time suffice.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from coterie.algorithms.dbscan.dbscan import NOISE, Clock, DbscanResult
from coterie.arrays import Floats

Rows = NDArray[np.intp]


@dataclass(frozen=True)
class NeighbourLists:
    """The neighbourhoods of some rows, one after the other: the i-th ends before ``ends[i]``."""

    columns: NDArray[np.integer]
    ends: Rows  # (number of rows,)

    def __len__(self) -> int:
        return len(self.ends)

    def __iter__(self) -> Iterator[NDArray[np.integer]]:
        begin = 0
        for end in self.ends:
            yield self.columns[begin:end]
            begin = end

    def lengths(self) -> Rows:
        return np.diff(self.ends, prepend=0)


class Neighbours(Protocol):
    """The neighbourhoods of points, found on demand. A point is always nearby to itself."""

    @property
    def index(self) -> str:
        """A name for the way in which neighbours are found."""
        ...

    @property
    def why(self) -> str:
        """The reason for this way."""
        ...

    @property
    def n(self) -> int:
        """The number of points."""
        ...

    @property
    def batch_rows(self) -> int:
        """The largest number of rows for one call."""
        ...

    def lists(self, rows: Rows) -> NeighbourLists:
        """The neighbourhoods of these points."""
        ...


def grow_clusters(
    nearby: Neighbours,
    min_samples: float,
    weights: Floats | None = None,
    *,
    cache_bytes: float = 0.0,
    step: Callable[[str], object] | None = None,
) -> DbscanResult:
    """Clusters of all points, with counts and depths.

    cache_bytes : for neighbourhoods that are kept, so that they are not worked out twice.
    step : called with the name of each step that ended.
    """
    clock = Clock(step)
    cache = NeighbourCache(nearby, cache_bytes)
    counts = np.empty(nearby.n, dtype=np.intp)
    core = np.empty(nearby.n, dtype=bool)
    for rows, lists in cache.fill():
        counts[rows] = lists.lengths()
        core[rows] = core_flags(lists, min_samples, weights)
    clock.lap("count")
    labels = np.full(nearby.n, NOISE, dtype=np.intp)
    depths = np.full(nearby.n, NOISE, dtype=np.intp)
    n_clusters = 0
    for start in np.flatnonzero(core):
        if labels[start] != NOISE:
            continue
        frontier, depth = np.array([start]), 0
        while len(frontier):
            labels[frontier], depths[frontier] = n_clusters, depth
            frontier, depth = reached(frontier[core[frontier]], cache, labels), depth + 1
        n_clusters += 1
    clock.lap("connect")
    return DbscanResult(
        labels, core, n_clusters, counts, nearby.index, nearby.why, clock.seconds, depths
    )


def reached(frontier: Rows, cache: NeighbourCache, labels: Rows) -> Rows:
    """Points in no cluster yet that are nearby to one of the frontier, in order."""
    new = frontier[:0]
    for rows in batches(frontier, cache.nearby.batch_rows):
        columns = cache.get(rows)
        new = np.union1d(new, columns[labels[columns] == NOISE])
    return new


def core_flags(
    lists: NeighbourLists, min_samples: float, weights: Floats | None
) -> NDArray[np.bool_]:
    """True for each neighbourhood of at least `min_samples` points, or of as much weight.

    The weight is the exact sum, rounded once: the order of the points must not matter.
    """
    if weights is None:
        return lists.lengths() >= min_samples
    return np.array([math.fsum(weights[c]) >= min_samples for c in lists], dtype=bool)


def batches(rows: Rows, size: int) -> Iterator[Rows]:
    for first in range(0, len(rows), size):
        yield rows[first : first + size]


class NeighbourCache:
    """Neighbourhoods that are kept if all of them fit into `bytes_left`, or worked out again."""

    def __init__(self, nearby: Neighbours, bytes_left: float) -> None:
        self.nearby = nearby
        self.bytes_left = bytes_left
        self.kept: list[NeighbourLists] = []  # of `batch_rows` rows each, from the first row on

    def fill(self) -> Iterator[tuple[Rows, NeighbourLists]]:
        """All neighbourhoods, in order, for the first time."""
        small = np.int32 if self.nearby.n < 2**31 else np.int64
        for rows in batches(np.arange(self.nearby.n), self.nearby.batch_rows):
            lists = self.nearby.lists(rows)
            yield rows, lists
            self.bytes_left -= len(lists.columns) * np.dtype(small).itemsize + lists.ends.nbytes
            if self.bytes_left < 0:
                self.kept.clear()
            else:
                columns: NDArray[np.integer] = lists.columns.astype(small, copy=False)
                self.kept.append(NeighbourLists(columns, lists.ends))

    def get(self, rows: Rows) -> NDArray[np.integer]:
        """The neighbourhoods of these rows, one after the other."""
        if self.bytes_left < 0:
            return self.nearby.lists(rows).columns
        parts = []
        for place, i in zip(*np.divmod(rows, self.nearby.batch_rows), strict=True):
            lists = self.kept[place]
            parts.append(lists.columns[lists.ends[i - 1] if i else 0 : lists.ends[i]])
        return np.concatenate(parts)
