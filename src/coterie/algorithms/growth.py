"""DBSCAN from neighbourhoods that somebody supplies: count -> core -> grow.

For distances that have no native kernel, and for distances given as a matrix or a graph. Clusters
grow from their smallest core point, wave after wave, so every core point's neighbourhood is asked
for once to count it and once to grow from it, and never more than a few of them at a time.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from coterie.algorithms.density import NOISE, Clock, DbscanResult
from coterie.algorithms.results import Floats

Rows = NDArray[np.intp]


@dataclass(frozen=True)
class Lists:
    """Which points are nearby: those of the i-th row asked for end before ``ends[i]``."""

    columns: NDArray[np.integer]
    ends: Rows  # (number of rows asked for,)

    def __len__(self) -> int:
        return len(self.ends)

    def __iter__(self) -> Iterator[NDArray[np.integer]]:
        begin = 0
        for end in self.ends:
            yield self.columns[begin:end]
            begin = end

    def lengths(self) -> Rows:
        return np.diff(self.ends, prepend=0)


class Nearby(Protocol):
    """Neighbourhoods of points. A point is always nearby to itself."""

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
        """How many points there are."""
        ...

    @property
    def at_once(self) -> int:
        """How many rows may be asked for in one call."""
        ...

    def lists(self, rows: Rows) -> Lists:
        """The neighbourhoods of these points."""
        ...


def grow(
    nearby: Nearby,
    min_samples: float,
    weights: Floats | None = None,
    *,
    room: float = 0.0,
    step: Callable[[str], object] | None = None,
) -> DbscanResult:
    """Clusters of all points, with counts and depths.

    room : bytes in which neighbourhoods may be kept, so as not to work them out twice.
    step : is told the name of each step that ended.
    """
    clock = Clock(step)
    memory = Memory(nearby, room)
    counts = np.empty(nearby.n, dtype=np.intp)
    core = np.empty(nearby.n, dtype=bool)
    for rows, lists in memory.learn():
        counts[rows] = lists.lengths()
        core[rows] = enough(lists, min_samples, weights)
    clock.lap("count")
    labels = np.full(nearby.n, NOISE, dtype=np.intp)
    depths = np.full(nearby.n, NOISE, dtype=np.intp)
    n_clusters = 0
    for start in np.flatnonzero(core):
        if labels[start] != NOISE:
            continue
        front, depth = np.array([start]), 0
        while len(front):
            labels[front], depths[front] = n_clusters, depth
            front, depth = reached(front[core[front]], memory, labels), depth + 1
        n_clusters += 1
    clock.lap("connect")
    return DbscanResult(
        labels, core, n_clusters, counts, nearby.index, nearby.why, clock.seconds, depths
    )


def reached(front: Rows, memory: Memory, labels: Rows) -> Rows:
    """Points in no cluster yet that are nearby to one of the front, in order."""
    new = front[:0]
    for rows in portions(front, memory.nearby.at_once):
        columns = memory.recall(rows)
        new = np.union1d(new, columns[labels[columns] == NOISE])
    return new


def enough(lists: Lists, min_samples: float, weights: Floats | None) -> NDArray[np.bool_]:
    """Whether each neighbourhood holds min_samples points, or as much weight.

    The weight is the exact sum, rounded once: the order of the points must not matter.
    """
    if weights is None:
        return lists.lengths() >= min_samples
    return np.array([math.fsum(weights[c]) >= min_samples for c in lists], dtype=bool)


def portions(rows: Rows, size: int) -> Iterator[Rows]:
    for first in range(0, len(rows), size):
        yield rows[first : first + size]


class Memory:
    """Neighbourhoods are worked out once and kept, as long as there is room; or worked out again.

    room : bytes for what is kept.
    """

    def __init__(self, nearby: Nearby, room: float) -> None:
        self.nearby = nearby
        self.room = room
        self.kept: list[Lists] = []  # of `at_once` rows each, from the first row on

    def learn(self) -> Iterator[tuple[Rows, Lists]]:
        """All neighbourhoods, in order, for the first time."""
        small = np.int32 if self.nearby.n < 2**31 else np.int64
        for rows in portions(np.arange(self.nearby.n), self.nearby.at_once):
            lists = self.nearby.lists(rows)
            yield rows, lists
            self.room -= len(lists.columns) * np.dtype(small).itemsize + lists.ends.nbytes
            if self.room < 0:
                self.kept.clear()
            else:
                self.kept.append(Lists(lists.columns.astype(small, copy=False), lists.ends))

    def recall(self, rows: Rows) -> NDArray[np.integer]:
        """The neighbourhoods of these rows, one after the other."""
        if self.room < 0:
            return self.nearby.lists(rows).columns
        parts = []
        for place, i in zip(*np.divmod(rows, self.nearby.at_once), strict=True):
            lists = self.kept[place]
            parts.append(lists.columns[lists.ends[i - 1] if i else 0 : lists.ends[i]])
        return np.concatenate(parts)
