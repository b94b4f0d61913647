"""What DBSCAN for every eps asks of one block: nearest rows, a spanning tree, and cuts of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coterie.kernels import _native
from coterie.kernels.block import Block

Floats = NDArray[np.float64]
Rows = NDArray[np.int32]
Labels = NDArray[np.int64]
METRICS = ("euclidean", "manhattan", "chebyshev")


@dataclass(frozen=True)
class Nearest:
    """The rows nearest to each row, itself not counted. Distances as the definition compares
    them: squared for euclidean, and in units of the kernel."""

    core: Floats  # (n,) from here on a row is core
    member: Floats  # (n,) from here on a row is in a cluster, as core or border
    sums: Floats  # (n, k) increasing
    neighbours: Rows  # (n, k); -1 where the distance is infinite


@dataclass(frozen=True)
class Chain:
    """The spanning tree as a chain: rows that ever belong together lie side by side."""

    order: Rows  # (n,)
    height: Floats  # (n,) from here on order[i] and order[i + 1] belong together; the last: inf


class Reachability:
    """The tree over one block, and what is found with it, step by step."""

    def __init__(self, block: Block, metric: str, unit: float, min_samples: int) -> None:
        self._work = _native.Reachability(block.rows, metric, unit, min_samples)

    def nearest(self) -> Nearest:
        """The ``min_samples - 1`` nearest rows of each row."""
        return Nearest(*self._work.nearest())

    def span(self) -> Chain:
        """Boruvka's rounds: each component takes its shortest edge, until there is one."""
        return Chain(*self._work.span())


def cut(near: Nearest, chain: Chain, reach: float, team: _native.Team) -> tuple[Labels, int]:
    """Labels and number of clusters where distances of at most `reach` are nearby."""
    return _native.cut(
        team, near.core, near.member, near.sums, near.neighbours, chain.order, chain.height, reach
    )
