"""Steps that k-means asks of one block: each is a pure function of (block, model).

The answers of two blocks can be added, in any order, to the same bits.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.kernels import _native, exact
from coterie.kernels.block import Block
from coterie.kernels.exact import COUNTING, ClusterSums, Floats, Grid, Integers
from coterie.kernels.tree_sum import TreeSum


@dataclass(frozen=True)
class Extent:
    """Column by column: smallest, largest, and smallest nonzero magnitude; the same of weights."""

    n_rows: int
    low: Floats
    high: Floats
    tiny: Floats
    bad: tuple[int, int] | None  # first row and column with a value that is not finite
    weight_high: float
    weight_tiny: float
    whole_weights: bool  # every weight is a whole number

    def __add__(self, other: Extent) -> Extent:
        return Extent(
            self.n_rows + other.n_rows,
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
            np.minimum(self.tiny, other.tiny),
            min((b for b in (self.bad, other.bad) if b is not None), default=None),
            max(self.weight_high, other.weight_high),
            min(self.weight_tiny, other.weight_tiny),
            self.whole_weights and other.whole_weights,
        )


def extent(block: Block) -> Extent:
    low, high, tiny, row, column = block.rows.scan()
    return Extent(
        block.n_rows,
        low,
        high,
        tiny,
        (block.first + row, column) if row >= 0 else None,
        **weight_extent(block.weights),
    )


def weight_extent(weights: Floats | None) -> dict[str, Any]:
    """What `Extent` says of the weights."""
    if weights is None:
        return {"weight_high": 1.0, "weight_tiny": 1.0, "whole_weights": True}
    return {
        "weight_high": float(weights.max()),
        "weight_tiny": float(weights.min()),
        "whole_weights": bool(np.all(weights == np.floor(weights))),
    }


@dataclass(frozen=True)
class Moments:
    """Exact totals over the rows: weight, weighted sums by column, weighted sum of squares."""

    mass: Fraction
    sums: Integers  # (levels, columns) limbs
    grid: Grid  # of the limbs
    squares: Fraction

    def __add__(self, other: Moments) -> Moments:
        return Moments(
            self.mass + other.mass, self.sums + other.sums, self.grid, self.squares + other.squares
        )

    @property
    def mean_variance(self) -> float:
        """The mean over columns of the variance, rounded once."""
        total = self.squares - self.grid.sum_of_squares(self.sums) / self.mass
        return exact.to_float(total / self.mass / self.sums.shape[1])


def moments(block: Block, grid: Grid, mass_grid: Grid | None, square_grid: Grid | None) -> Moments:
    """`square_grid` is that of w x^2; None where float64 products could vanish."""
    squares_at = (None, 0) if square_grid is None else (square_grid.top, square_grid.levels)
    sums, squares = block.rows.moments(grid.top, grid.levels, *squares_at)
    mass = Fraction(block.n_rows)
    if mass_grid is not None and block.weights is not None:
        weights = _native.Block(block.weights[:, None], None, block.team)
        limbs, _ = weights.moments(mass_grid.top, mass_grid.levels, None, 0)
        mass = mass_grid.value(limbs[:, 0])
    return Moments(mass, sums, grid, exact.from_bytes(squares))


@dataclass(frozen=True)
class Survey:
    """What is known of the whole data before the first step."""

    extent: Extent
    moments: Moments
    grid: Grid  # of w x
    mass_grid: Grid | None  # of w; None: rows are counted

    @property
    def n_features(self) -> int:
        return len(self.extent.low)

    @property
    def weight_grid(self) -> Grid:
        """The grid of exact sums of weights, or of counts of rows."""
        return self.mass_grid or COUNTING

    @property
    def copies_per_weight(self) -> float:
        """Seeding counts whole copies of a row. Whole weights are copies as they are; others are
        rounded to 2^-20 of the largest."""
        if self.extent.whole_weights and self.extent.weight_high < 2.0**31:
            return 1.0
        return 2.0**20 / self.extent.weight_high


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

    `moved` counts the rows that `previous` means sent elsewhere; without these, all rows. Labels
    and bounds are remembered from call to call of the same run (None: of no run). Where they are
    lost, or are not those of `previous`, they are made again.
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
    """Labels for any means, nothing remembered. `extent` spares a pass where it is known."""
    low, high, *_ = (extent.low, extent.high) if extent is not None else block.rows.scan()
    found = np.empty(block.n_rows, dtype=np.int32)
    _native.Lloyd(block.rows, found, low, high, None, 0, None, 1, "brute").step(means)
    return found


def nearest_of(values: Floats, means: Floats) -> NDArray[np.int32]:
    """The same for a few rows that are no block. values : (rows, d)"""
    return nearest(Block.over(values, None, _native.Team(1)), means)


def squared_distances(block: Block, means: Floats) -> Floats:
    found: Floats = block.rows.distances(means)
    return found


def hashes(block: Block) -> NDArray[np.uint64]:
    """A number for the values of each row; equal rows have equal ones."""
    found: NDArray[np.uint64] = block.rows.hashes()
    return found


@dataclass(frozen=True)
class Range:
    """Smallest and largest value of a projection."""

    low: float
    high: float

    def __add__(self, other: Range) -> Range:
        return Range(min(self.low, other.low), max(self.high, other.high))


def projection_range(block: Block, direction: Floats) -> Range:
    return Range(*block.rows.projection_range(direction))


def second_moments(block: Block) -> TreeSum:
    """Sum of w x x', up to rounding."""
    return TreeSum.of_leaves(
        (leaf, block.part(rows).rows.second_moments()) for leaf, rows in block.leaves()
    )


@dataclass(frozen=True)
class FarPoint:
    distance: float  # squared, to its own mean
    row: int
    label: int
    weight: float
    value: Floats


@dataclass(frozen=True)
class Farthest:
    """Points far from their means, farthest first, the lower row among equals."""

    points: tuple[FarPoint, ...]
    count: int

    def __add__(self, other: Farthest) -> Farthest:
        points = sorted(self.points + other.points, key=lambda p: (-p.distance, p.row))
        return Farthest(tuple(points[: self.count]), self.count)


def farthest(block: Block, survey: Survey, means: Floats, run: int | None, count: int) -> Farthest:
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
