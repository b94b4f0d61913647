"""What density-based clustering asks of one block: who is nearby, and what that connects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.kernels import _native
from coterie.kernels.block import Block

Labels = NDArray[np.int64]
METRICS = ("euclidean", "manhattan", "chebyshev", "minkowski", "cosine", "haversine")
INDEXES = ("auto", "grid", "tree", "tree64", "brute")


@dataclass(frozen=True)
class Measure:
    """Rows are nearby if their distance is at most eps.

    euclidean, squared in the order of the columns, is compared with eps * eps; the others are as
    scikit-learn's ``DistanceMetric`` defines them. minkowski needs p; haversine takes (latitude,
    longitude) in radians; cosine is one minus the product of the rows scaled to length one.
    """

    eps: float
    metric: str = "euclidean"
    p: float = 2.0

    @property
    def native(self) -> tuple[str, float, float]:
        """(metric, p, eps), minkowski under its own name where it has one."""
        named = {1.0: "manhattan", 2.0: "euclidean", np.inf: "chebyshev"}
        metric = named.get(self.p, "minkowski") if self.metric == "minkowski" else self.metric
        return metric, float(self.p), float(self.eps)


class Neighbourhoods:
    """The index over one block, and the three steps of DBSCAN on it.

    every : whether all neighbours of every point will be counted or weighed, which decides the
    index where it is free.
    """

    def __init__(
        self, block: Block, measure: Measure, index: str = "auto", every: bool = False
    ) -> None:
        self._work = _native.Density(block.rows, *measure.native, index, every)

    @property
    def index(self) -> str:
        """The index in use: "tree", "grid", ..."""
        return self._work.index

    @property
    def why(self) -> str:
        """Why this index and no other."""
        return self._work.why

    def count(
        self, min_samples: float, counts: bool = False
    ) -> tuple[NDArray[np.bool_], Labels | None]:
        """Which rows are core points: (n,) bool, and on request how many rows are nearby each."""
        core, found = self._work.count(min_samples, counts)
        return core.view(np.bool_), found

    def connect(self) -> None:
        """Unite core points that are nearby each other."""
        self._work.connect()

    def label(self) -> tuple[Labels, int]:
        """(n,) the cluster of each row, -1 for outliers; and the number of clusters."""
        return self._work.label()


@dataclass(frozen=True)
class CorePoints:
    """The core points of a result, and what they make of the other points."""

    kind: NDArray[np.uint8]  # (n,) 0 for noise, 1 for border, 2 for core points
    indices: NDArray[np.intp]  # (c,) the rows that are core points
    rows: Any  # (c, d) a copy of them


def core_points(block: Block, core: NDArray[np.bool_], labels: Labels) -> CorePoints:
    """``(labels >= 0) + core``, ``flatnonzero(core)`` and ``X[core]``, by the block's team."""
    kind, indices, copied = _native.core_rows(block.rows, core.view(np.uint8), labels)
    return CorePoints(kind, indices, np.asarray(copied))


def reach(
    cores: Block, labels: Labels, queries: Block, measure: Measure, index: str = "auto"
) -> Labels:
    """For each query the lowest-numbered cluster that has a core point nearby, or -1."""
    return _native.reach(cores.rows, labels, queries.rows, *measure.native, index)
