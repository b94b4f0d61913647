"""The first looks at a block: ranges, exact totals, hashes and projections of its rows.

Each step is a pure function of (block, model). The answers of two blocks can be added, in any
order, to the same bits.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.arrays import Floats, Integers
from coterie.kernels import _native, exact
from coterie.kernels.block import Block
from coterie.kernels.exact import COUNTING, Grid
from coterie.kernels.tree_sum import TreeSum


@dataclass(frozen=True)
class Extent:
    """Ranges of the values, column by column, and of the weights."""

    n_rows: int
    low: Floats  # (d,)
    high: Floats  # (d,)
    tiny: Floats  # (d,) smallest magnitude but zero
    not_finite: tuple[int, int] | None  # first row and column with a value that is not finite
    weight_high: float
    weight_tiny: float
    whole_weights: bool  # every weight is a whole number

    def __add__(self, other: Extent) -> Extent:
        return Extent(
            self.n_rows + other.n_rows,
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
            np.minimum(self.tiny, other.tiny),
            min(
                (at for at in (self.not_finite, other.not_finite) if at is not None),
                default=None,
            ),
            max(self.weight_high, other.weight_high),
            min(self.weight_tiny, other.weight_tiny),
            self.whole_weights and other.whole_weights,
        )


def extent(block: Block) -> Extent:
    """Ranges of the rows of the block."""
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
    """The fields of `Extent` that describe the weights."""
    if weights is None:
        return {"weight_high": 1.0, "weight_tiny": 1.0, "whole_weights": True}
    return {
        "weight_high": float(weights.max()),
        "weight_tiny": float(weights.min()),
        "whole_weights": bool(np.all(weights == np.floor(weights))),
    }


@dataclass(frozen=True)
class Totals:
    """Exact totals over the rows: weight, weighted sums by column, weighted sum of squares."""

    mass: Fraction
    sums: Integers  # (levels, columns) limbs
    grid: Grid  # of the limbs
    squares: Fraction

    def __add__(self, other: Totals) -> Totals:
        return Totals(
            self.mass + other.mass, self.sums + other.sums, self.grid, self.squares + other.squares
        )

    @property
    def mean_variance(self) -> float:
        """The mean over columns of the variance, rounded once."""
        total = self.squares - self.grid.sum_of_squares(self.sums) / self.mass
        return exact.to_float(total / self.mass / self.sums.shape[1])


def totals(block: Block, grid: Grid, mass_grid: Grid | None, square_grid: Grid | None) -> Totals:
    """Exact totals of the block.

    grid : of w x; mass_grid : of w, None where rows are counted
    square_grid : of w x^2; None where float64 products could underflow or overflow
    """
    squares_at = (None, 0) if square_grid is None else (square_grid.top, square_grid.levels)
    sums, squares = block.rows.moments(grid.top, grid.levels, *squares_at)
    mass = Fraction(block.n_rows)
    if mass_grid is not None and block.weights is not None:
        weights = _native.Block(block.weights[:, None], None, block.team)
        limbs, _ = weights.moments(mass_grid.top, mass_grid.levels, None, 0)
        mass = mass_grid.value(limbs[:, 0])
    return Totals(mass, sums, grid, exact.from_bytes(squares))


@dataclass(frozen=True)
class Survey:
    """Facts about the whole data, found before the first step."""

    extent: Extent
    totals: Totals
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
        """Copies of a row that one unit of weight stands for, as seedings count them.

        Whole weights are numbers of copies; others are rounded to 2^-20 of the largest.
        """
        if self.extent.whole_weights and self.extent.weight_high < 2.0**31:
            return 1.0
        return 2.0**20 / self.extent.weight_high


def hashes(block: Block) -> NDArray[np.uint64]:
    """(n,) a hash of the values of each row; equal rows have equal hashes."""
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
    """The range of x'v over the rows. direction : v, (d,)"""
    return Range(*block.rows.projection_range(direction))


def second_moments(block: Block) -> TreeSum:
    """(d, d) sum of w x x', rounded; a fixed tree over leaves keeps its bits."""
    return TreeSum.of_leaves(
        (leaf, block.part(rows).rows.second_moments()) for leaf, rows in block.leaves()
    )
