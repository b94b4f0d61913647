"""The steps of DBSCAN for every eps on one block: nearest rows, a spanning tree, cuts of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coterie.arrays import Floats
from coterie.kernels import _native
from coterie.kernels.block import Block

Rows = NDArray[np.int32]
Labels = NDArray[np.int64]
METRICS = ("euclidean", "manhattan", "chebyshev")


@dataclass(frozen=True)
class Nearest:
    """The rows nearest to each row, itself not counted.

    Distances are in the form that the definition compares, squared for euclidean, and in units of
    the kernel.
    """

    core: Floats  # (n,) core distance: from here on a row is a core point
    member: Floats  # (n,) from here on a row is in a cluster, as a core or border point
    sums: Floats  # (n, k) increasing
    neighbours: Rows  # (n, k); -1 where the distance is infinite


@dataclass(frozen=True)
class Chain:
    """The minimum spanning tree as a single-linkage order: each cluster of any eps is a stretch."""

    order: Rows  # (n,)
    height: Floats  # (n,) from here on order[i] and order[i + 1] are of one cluster; the last: inf


class Reachability:
    """A k-d tree over one block, and the two steps that ask it."""

    def __init__(self, block: Block, metric: str, unit: float, min_samples: int) -> None:
        self._work = _native.Reachability(block.rows, metric, unit, min_samples)

    def nearest(self) -> Nearest:
        """The ``min_samples - 1`` nearest rows of each row."""
        return Nearest(*self._work.nearest())

    def span(self) -> Chain:
        """A minimum spanning tree under mutual reachability, by Boruvka's algorithm.

        In each round every component takes its shortest edge to another (March, Ram, Gray 2010).
        """
        return Chain(*self._work.span())


def cut(near: Nearest, chain: Chain, reach: float, team: _native.Team) -> tuple[Labels, int]:
    """Labels and number of clusters where distances of at most `reach` are nearby."""
    return _native.cut(
        team, near.core, near.member, near.sums, near.neighbours, chain.order, chain.height, reach
    )
