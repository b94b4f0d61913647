"""DBSCAN for every eps at once, over one block: nearest, span, then cut.

The structure is that of HDBSCAN* (Campello, Moulavi, Zimek, Sander 2015). The *core distance* of a
point is the distance to its ``min_samples``-th nearest point, itself the first: from this eps on it
is a core point. The *mutual reachability distance* of two points is the largest of their distance
and their core distances: from this eps on they are core points and nearby each other. A minimum
spanning tree under it holds the core points of every eps: without the edges above eps, each
connected part is a cluster. A point that is not core at eps has fewer than ``min_samples`` points
nearby, all of them among its nearest: it is a border point if one of these is core.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coterie.algorithms.dbscan.dbscan import Clock
from coterie.arrays import Floats
from coterie.kernels import _native
from coterie.kernels.block import Block
from coterie.kernels.dbscan_path_steps import Chain, Labels, Nearest, Reachability, cut

Counts = NDArray[np.int64]
LARGEST = float(np.finfo(np.float64).max)  # infinite distances are never nearby
LEAST_REACH = 2.0**-440  # times the unit: squares of smaller distances may vanish


@dataclass(frozen=True)
class Path:
    """The structure that gives the clusters of every eps.

    Its distances are in the form that the definition compares: squared for euclidean.
    """

    near: Nearest
    chain: Chain
    metric: str
    unit: float  # a power of two: distances of this record are in units of 1 / unit
    seconds: dict[str, float]  # of the steps: index, nearest, span

    def reach(self, eps: float | Floats) -> Floats:
        """eps in the form that the kernels compare. Shape as eps."""
        with np.errstate(over="ignore"):
            reach = np.asarray(eps, dtype=np.float64) * self.unit
            return reach * reach if self.metric == "euclidean" else reach

    def labels(self, eps: float, team: _native.Team) -> tuple[Labels, int]:
        """Labels and number of clusters, as DBSCAN gives them for this eps."""
        return cut(self.near, self.chain, float(self.reach(eps)), team)

    def core(self, eps: float) -> NDArray[np.bool_]:
        """(n,) true for the points that are core points of DBSCAN with this eps."""
        return self.near.core <= np.minimum(self.reach(eps), LARGEST)

    def distances(self, sums: Floats) -> Floats:
        """The smallest eps at which `sums` are nearby: the next smaller float64 is too small."""
        # Distances may be beyond float64, or so small that 1 / unit has fewer digits.
        with np.errstate(over="ignore", under="ignore"):
            eps = (np.sqrt(sums) if self.metric == "euclidean" else sums) / self.unit
            eps = np.where(self.reach(eps) < sums, np.nextafter(eps, np.inf), eps)
            before = np.nextafter(eps, 0.0)
            return np.where((self.reach(before) >= sums) & (sums < np.inf), before, eps)

    def changes(self) -> Floats:
        """Every eps at which a point becomes core or joins a cluster, or clusters merge."""
        sums = np.unique(np.concatenate([self.near.core, self.near.member, self.chain.height]))
        # Sums that differ in the last digit may need the same eps.
        eps = np.unique(self.distances(sums))
        return eps[np.isfinite(eps)]

    def counts(self, eps: Floats) -> tuple[Counts, Counts, Counts]:
        """(clusters, core points, points in clusters) at each eps, without a cut of the tree.

        Each edge of at most eps joins two clusters, and without edges every core point would be a
        cluster. So the number of clusters is that of core points less that of such edges.
        """
        reach = np.minimum(self.reach(eps), LARGEST)
        core, member, joined = (
            np.searchsorted(np.sort(sums), reach, side="right")
            for sums in (self.near.core, self.near.member, self.chain.height)
        )
        return core - joined, core, member


def build_path(
    block: Block,
    metric: str,
    unit: float,
    min_samples: int,
    step: Callable[[str], object] | None = None,
) -> Path:
    """The structure of the rows of a block. step : called with the name of each ended step."""
    clock = Clock(step)
    work = Reachability(block, metric, unit, min_samples)
    clock.lap("index")
    # 1. Find the nearest points of each point, and with them its core distance.
    near = work.nearest()
    clock.lap("nearest")
    # 2. Build the minimum spanning tree under mutual reachability.
    chain = work.span()
    clock.lap("span")
    return Path(near, chain, metric, unit, clock.seconds)
