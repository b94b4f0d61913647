"""The steps of DBSCAN on one block: count neighbours, connect core points, label."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.kernels import _native
from coterie.kernels.block import Block

Labels = NDArray[np.int64]
METRICS = ("euclidean", "manhattan", "chebyshev", "minkowski", "cosine", "haversine")
NAMED_POWERS = {1.0: "manhattan", 2.0: "euclidean", np.inf: "chebyshev"}  # of minkowski
INDEXES = ("auto", "grid", "tree", "tree64", "brute")


@dataclass(frozen=True)
class Measure:
    """A metric and eps: rows are nearby if their distance is at most eps.

    Squared euclidean distances, added in the order of the columns, are compared with eps * eps.
    The other metrics are as scikit-learn's ``DistanceMetric`` defines them. minkowski needs p;
    haversine takes (latitude, longitude) in radians; cosine is one minus the product of the rows
    scaled to length one.
    """

    eps: float
    metric: str = "euclidean"
    p: float = 2.0

    @property
    def native(self) -> tuple[str, float, float]:
        """(metric, p, eps), minkowski under its own name where it has one."""
        metric = (
            NAMED_POWERS.get(self.p, "minkowski") if self.metric == "minkowski" else self.metric
        )
        return metric, float(self.p), float(self.eps)


class Neighbourhoods:
    """The index over one block, and the three steps of DBSCAN on it.

    every : true if all neighbours of every point will be counted or weighed. This decides the index
    where "auto" leaves it open.
    """

    def __init__(
        self, block: Block, measure: Measure, index: str = "auto", every: bool = False
    ) -> None:
        self._work = _native.Density(block.rows, *measure.native, index, every)

    @property
    def index(self) -> str:
        """The index in use: "tree" (a k-d tree), "grid", ..."""
        return self._work.index

    @property
    def why(self) -> str:
        """The reason for this index."""
        return self._work.why

    def count(
        self, min_samples: float, counts: bool = False
    ) -> tuple[NDArray[np.bool_], Labels | None]:
        """The core points: (n,) bool, and on request the number of rows nearby each row."""
        core, found = self._work.count(min_samples, counts)
        return core.view(np.bool_), found

    def connect(self) -> None:
        """Unite core points that are nearby each other, in a union-find."""
        self._work.connect()

    def label(self) -> tuple[Labels, int]:
        """(n,) the cluster of each row, -1 for noise; and the number of clusters."""
        return self._work.label()


@dataclass(frozen=True)
class CorePoints:
    """The core points of a result, and the kinds of all points."""

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
