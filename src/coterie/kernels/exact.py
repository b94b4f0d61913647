"""Exact sums as integers in limbs: the exponents of the limbs, and the way back to numbers.

A sum is a fixed-point accumulator without rounding, as in Kulisch's superaccumulator, cut to the
exponents that a column has. A column with values below ``2**top`` has limbs of 32 bits; limb ``j``
counts units of ``2**(top - 30 - 32 j)``. Limbs of two blocks are added as integers, in any order.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from coterie.arrays import Floats, Integers
from coterie.kernels import _native

SMALLEST_EXPONENT = -1074  # of a float64
SMALLEST_TOP, LARGEST_TOP = -900, 972  # within, no rounding constant over- or underflows
FINITE_TOP = 1001  # the largest top of all: beyond, the constant of the first limb is infinite


@dataclass(frozen=True)
class Grid:
    """The exponents of the limbs of each column."""

    top: NDArray[np.int32]  # (columns,)
    levels: int

    @classmethod
    def covering(cls, top: Integers, lowest_bit: Integers) -> Grid:
        """The grid for columns with values below ``2**top`` that are multiples of ``2**lowest``."""
        top = np.maximum(top, SMALLEST_TOP)
        lowest_bit = np.maximum(lowest_bit, SMALLEST_EXPONENT)  # no float64 has a bit below
        levels = max(1, int(np.max((top - 30 - lowest_bit + 31) // 32, initial=0)) + 1)
        # Units below the smallest float64 would need a rounding constant that does not exist.
        floor = SMALLEST_EXPONENT + 30 + 32 * (levels - 1)
        raised = np.maximum(top, floor)
        if np.any(raised > FINITE_TOP):
            raise ValueError(
                "values are too large for exact sums: expected products of X and sample_weight "
                f"below 2**{FINITE_TOP} (2**{LARGEST_TOP} beside subnormal values), got up to "
                f"2**{int(top.max())}. Rescale X, for example with StandardScaler, or "
                "sample_weight."
            )
        return cls(raised.astype(np.int32), levels)

    def exponent(self, column: int, level: int) -> int:
        return int(self.top[column]) - 30 - 32 * level

    def value(self, limbs: Integers, column: int = 0) -> Fraction:
        """The number that ``limbs`` (levels,) of a column stand for."""
        total = 0
        for limb in limbs.tolist():
            total = (total << 32) + limb
        return scaled(total, self.exponent(column, self.levels - 1))

    def sum_of_squares(self, limbs: Integers) -> Fraction:
        """Sum over columns of the squared numbers that ``limbs`` (levels, columns) stand for."""
        lowest = int(self.top.min())
        total = 0  # an integer: thousands of columns as fractions take longer than a step
        for column, top in zip(limbs.T.tolist(), self.top.tolist(), strict=True):
            value = 0
            for limb in column:
                value = (value << 32) + limb
            total += (value * value) << 2 * (top - lowest)
        return scaled(total, 2 * (lowest - 30 - 32 * (self.levels - 1)))


COUNTING = Grid(np.array([30], dtype=np.int32), 1)  # of rows: one limb of whole units


def scaled(integer: int, exponent: int) -> Fraction:
    """``integer * 2**exponent``, exactly."""
    if integer == 0:
        return Fraction(0)
    zeros = (integer & -integer).bit_length() - 1  # shifted out: small numbers are fast numbers
    integer, exponent = integer >> zeros, exponent + zeros
    if exponent >= 0:
        return Fraction(integer << exponent)
    return Fraction(integer, 1 << -exponent)


def from_bytes(number: bytes) -> Fraction:
    """The number behind a native wide sum."""
    return scaled(int.from_bytes(number, "little", signed=True), _native.WIDE_LOWEST_EXPONENT)


def in_wide_units(value: Fraction) -> int:
    """The value of a wide sum as a whole number of its smallest units."""
    return (value.numerator << -_native.WIDE_LOWEST_EXPONENT) // value.denominator


def to_float(value: Fraction) -> float:
    """The nearest float64; infinite where the number is too large for one."""
    return ratio(value.numerator, value.denominator)


def ratio(numerator: int, denominator: int) -> float:
    """The float64 nearest to the ratio of two whole numbers, the second above zero.

    A Fraction would give the same, and would look for the greatest common divisor first.
    """
    try:
        return numerator / denominator
    except OverflowError:
        return float("inf") if numerator > 0 else float("-inf")


def wide_ratio(units: int, mass: Fraction) -> float:
    """Units of a wide sum, divided by a mass."""
    return ratio(units * mass.denominator, mass.numerator << -_native.WIDE_LOWEST_EXPONENT)


@dataclass(frozen=True)
class ClusterSums:
    """The sums of k-means: totals of w x and of w over the rows of each cluster, exactly."""

    sums: Integers  # (k, levels, d) limbs on `grid`
    mass: Integers  # (k, mass levels) limbs on `mass_grid`
    grid: Grid
    mass_grid: Grid

    def __add__(self, other: ClusterSums) -> ClusterSums:
        return replace(self, sums=self.sums + other.sums, mass=self.mass + other.mass)

    @property
    def active(self) -> NDArray[np.bool_]:
        """(k,) the clusters that have rows."""
        # Weights are positive, and so is the leading nonzero limb of a positive sum.
        return np.asarray(self.mass.any(axis=1))

    @property
    def weights(self) -> Floats:
        """(k,) the total of w, rounded once."""
        if self.mass_grid.levels == 1 and self.mass_grid.exponent(0, 0) == 0:  # whole numbers
            return self.mass[:, 0].astype(np.float64)
        return np.array([to_float(self.mass_grid.value(limbs)) for limbs in self.mass])

    def means(self, team: _native.Team, previous: Floats) -> Floats:
        """Mean of each cluster, the exact ratio rounded once; without mass, the previous mean.

        previous : (k, d)
        """
        means = np.array(previous, dtype=np.float64, order="C")
        top = int(self.mass_grid.top[0])
        if _native.means_from_sums(team, self.sums, self.grid.top, self.mass, top, means):
            return means
        for c in range(len(means)):
            weight = self.mass_grid.value(self.mass[c])
            if weight > 0:
                for column in range(means.shape[1]):
                    total = self.grid.value(self.sums[c, :, column], column)
                    means[c, column] = float(total / weight)
        return means

    def saved(self, team: _native.Team, means: Floats) -> int:
        """Sum of ``2 m S - W m**2`` over clusters and columns, in the smallest units of a wide sum.

        The sum of squares less this number is the sum of squared distances, for any means m, sums
        S and masses W.
        """
        means = np.ascontiguousarray(means)
        top = int(self.mass_grid.top[0])
        number: bytes = _native.saving(team, self.sums, self.grid.top, self.mass, top, means)
        return int.from_bytes(number, "little", signed=True)
