"""Assignment updates of k-means on a block: each step is a pure function of (block, model).

The answers of two blocks can be added, in any order, to the same bits.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coterie.arrays import Floats
from coterie.kernels import _native
from coterie.kernels.block import Block
from coterie.kernels.exact import ClusterSums
from coterie.kernels.scan_steps import Extent, Survey


@dataclass(frozen=True)
class Assignment:
    """The result of an assignment update: the sums of its clusters, and counts of rows."""

    sums: ClusterSums
    moved: int
    settled: int  # rows that the float64 definition had to decide

    def __add__(self, other: Assignment) -> Assignment:
        return Assignment(
            self.sums + other.sums, self.moved + other.moved, self.settled + other.settled
        )


def assign(
    block: Block,
    survey: Survey,
    means: Floats,
    run: int | None,
    algorithm: str,
    previous: Floats | None = None,
) -> Assignment:
    """Assignment update: every row to its nearest mean, the lowest index among equals.

    previous : the means of the assignment before. `moved` counts the rows with another label under
        these; None: all rows.
    run : labels and bounds are kept from call to call of a run; None: not at all. Where they are
        lost, or belong to other means than `previous`, they are made again.
    """
    cache = block.cache(run)
    if "lloyd" not in cache or previous is None:
        found = np.empty(block.n_rows, dtype=np.int32)
        cache.clear()
        cache.update(labels=found, lloyd=_lloyd(block, survey, found, algorithm))
    lloyd = cache["lloyd"]
    known = cache.pop("means", None)  # an interrupted step leaves nothing of use
    if previous is not None and not _same(known, previous):
        lloyd.step(previous)
    moved, _, settled = lloyd.step(means)
    cache["means"] = means
    sums, mass = lloyd.totals()
    totals = ClusterSums(sums, mass, survey.grid, survey.weight_grid)
    return Assignment(totals, moved, settled)


def _lloyd(
    block: Block, survey: Survey, labels: NDArray[np.int32], algorithm: str
) -> _native.Lloyd:
    mass = survey.mass_grid
    return _native.Lloyd(
        block.rows,
        labels,
        survey.extent.low,
        survey.extent.high,
        survey.grid.top,
        survey.grid.levels,
        None if mass is None else int(mass.top[0]),
        1 if mass is None else mass.levels,
        algorithm,
    )


def labels(block: Block, survey: Survey, means: Floats, run: int | None) -> NDArray[np.int32]:
    """Labels of an assignment update by these means, remembered or made again."""
    cache = block.cache(run)
    if _same(cache.get("means"), means):
        found: NDArray[np.int32] = cache["labels"]
        return found
    return nearest(block, means, survey.extent)


def _same(known: Floats | None, means: Floats) -> bool:
    return known is means or (known is not None and np.array_equal(known, means))


def nearest(block: Block, means: Floats, extent: Extent | None = None) -> NDArray[np.int32]:
    """Labels for any means, without a cache. A known `extent` spares a pass over the rows."""
    low, high, *_ = (extent.low, extent.high) if extent is not None else block.rows.scan()
    found = np.empty(block.n_rows, dtype=np.int32)
    _native.Lloyd(block.rows, found, low, high, None, 0, None, 1, "brute").step(means)
    return found


def nearest_to(values: Floats, means: Floats) -> NDArray[np.int32]:
    """(rows,) labels of a few rows that are no block. values : (rows, d)"""
    return nearest(Block.over(values, None, _native.Team(1)), means)


def squared_distances(block: Block, means: Floats) -> Floats:
    """(n, k) squared distances in float64, added column by column: the order decides the bits."""
    found: Floats = block.rows.distances(means)
    return found


@dataclass(frozen=True)
class FarPoint:
    """A row that is far from the mean of its cluster."""

    distance: float  # squared, to its own mean
    row: int  # of the whole data
    label: int
    weight: float
    value: Floats  # (d,)


@dataclass(frozen=True)
class Farthest:
    """Points far from their means, farthest first, the lower row among equals."""

    points: tuple[FarPoint, ...]
    count: int

    def __add__(self, other: Farthest) -> Farthest:
        points = sorted(self.points + other.points, key=lambda p: (-p.distance, p.row))
        return Farthest(tuple(points[: self.count]), self.count)


def farthest(block: Block, survey: Survey, means: Floats, run: int | None, count: int) -> Farthest:
    """The `count` rows of the block that are farthest from their means."""
    own = labels(block, survey, means, run)
    found = block.rows.farthest(means, own, count)
    values = block.rows.values_at(np.array([row for _, row in found], dtype=np.int64))
    return Farthest(
        tuple(
            FarPoint(
                distance,
                block.first + row,
                int(own[row]),
                1.0 if block.weights is None else float(block.weights[row]),
                value,
            )
            for (distance, row), value in zip(found, values, strict=True)
        ),
        count,
    )


def single_row(survey: Survey, value: Floats, weight: float) -> ClusterSums:
    """The sums of a cluster with one point."""
    weights = None if survey.mass_grid is None else np.array([weight])
    block = Block.over(value[np.newaxis, :].copy(), weights, _native.Team(1))
    return assign(block, survey, value[np.newaxis, :].copy(), None, "brute").sums
