"""DBSCAN (Ester et al. 1996) over one block: count, connect, label.

Every point counts the points nearby, itself included. A point with at least `min_samples` of them
is a core point. Core points nearby each other are of one cluster: a union-find over these pairs
connects them. Another point nearby a core point is a border point, and all others are noise.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from coterie.kernels.block import Block
from coterie.kernels.dbscan_steps import Labels, Measure, Neighbourhoods

NOISE = -1  # the label of points in no cluster


class PointKind(IntEnum):
    """The part of a point in the clusters."""

    NOISE = 0  # in no cluster
    BORDER = 1  # in the cluster of a core point nearby
    CORE = 2


def kinds_of(labels: NDArray[np.signedinteger], core: NDArray[np.bool_]) -> NDArray[np.uint8]:
    """(n,) the `PointKind` of each point."""
    kinds = np.full(len(labels), PointKind.NOISE, dtype=np.uint8)
    kinds[labels != NOISE] = PointKind.BORDER
    kinds[core] = PointKind.CORE
    return kinds


@dataclass(frozen=True)
class DbscanResult:
    """One run of DBSCAN, with native kernels or with supplied neighbourhoods."""

    labels: Labels  # (n,) cluster of each point, `NOISE` for points in none
    core: NDArray[np.bool_]  # (n,)
    n_clusters: int
    counts: Labels | None  # (n,) points nearby each point, itself included; on request
    index: str  # the index that found the neighbours
    why: str  # the reason for this index
    seconds: dict[str, float]  # of the steps, such as index, count, connect, label
    depths: NDArray[np.intp] | None = None  # (n,) steps from the first core point; on request

    def __str__(self) -> str:
        noise = int(np.count_nonzero(self.labels == NOISE))
        return (
            f"{self.n_clusters} clusters, {int(self.core.sum())} core points, {noise} of "
            f"{len(self.labels)} points are noise, in {sum(self.seconds.values()):.3g} s "
            f"(index: {self.index}, {self.why})"
        )


def dbscan(
    block: Block,
    measure: Measure,
    min_samples: float,
    *,
    index: str = "auto",
    counts: bool = False,
    step: Callable[[str], object] | None = None,
) -> DbscanResult:
    """Cluster the rows of a block.

    With weights a point is core if the exact sum of the weights nearby, rounded once to float64,
    is at least `min_samples`. Clusters are numbered by their smallest core point; a border point
    joins the lowest-numbered cluster that reaches it. The answer does not depend on the index, the
    number of threads or the instruction set. step : called with the name of each step that ended.
    """
    clock = Clock(step)
    near = Neighbourhoods(block, measure, index, counts or block.weights is not None)
    clock.lap("index")
    # 1. Count the points nearby each point; find the core points.
    core, found = near.count(min_samples, counts)
    clock.lap("count")
    # 2. Connect core points that are nearby each other.
    near.connect()
    clock.lap("connect")
    # 3. Number the clusters, and give border points to them.
    labels, n_clusters = near.label()
    clock.lap("label")
    return DbscanResult(labels, core, n_clusters, found, near.index, near.why, clock.seconds)


class Clock:
    """Seconds of named steps, each of which is told to a listener."""

    def __init__(self, listener: Callable[[str], object] | None = None) -> None:
        self.seconds: dict[str, float] = {}
        self._listener = listener
        self._last = time.perf_counter()

    def lap(self, step: str) -> None:
        now = time.perf_counter()
        self.seconds[step] = now - self._last
        self._last = now
        if self._listener is not None:
            self._listener(step)
