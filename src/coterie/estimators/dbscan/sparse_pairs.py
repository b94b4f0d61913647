"""Neighbours among sparse rows that would be too large as dense ones.

The definition is the same: products of rows propose, and differences of rows decide.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from coterie.algorithms.dbscan.supplied_neighbours import Rows
from coterie.arrays import Floats
from coterie.estimators.units import scaled_rows

Flags = NDArray[np.bool_]
ENTRIES_AT_ONCE = 1 << 20  # stored values of the rows whose differences are taken together
DIGITS = 53  # of a float64 number, as exponents of two
FARTHEST = 1020  # an exponent: the scale itself stays an ordinary float64 number
LEAST_GRID = -500  # an exponent: squares of smaller numbers lose digits


class Cosine:
    """near : one minus the product of rows of length one, which SciPy adds in the order of the
    columns, as the definition does."""

    def __init__(self, Y: sparse.csr_array, eps: float) -> None:
        self.transposed, self.eps = Y.T.tocsr(), eps

    def near(self, X: sparse.csr_array, rows: Rows) -> Flags:
        products = (X[rows] @ self.transposed).toarray()
        flags: Flags = np.clip(1.0 - products, 0.0, 2.0) <= self.eps
        return flags


class Euclidean:
    """near : products of rows propose, and differences decide where rounding could matter.

    All of it in units in which eps is about one: squares of eps neither overflow nor vanish.
    """

    def __init__(self, Y: sparse.csr_array, eps: float) -> None:
        exponent = min(max(-int(np.frexp(eps)[1]), -FARTHEST), FARTHEST)
        self.Y, self.exponent = Y, exponent
        self.unit = float(np.ldexp(1.0, exponent))
        self.limit = (eps * self.unit) * (eps * self.unit)
        scaled = scaled_rows(Y, exponent)
        self.transposed = scaled.T.tocsr()
        self.lengths = squared_lengths(scaled)
        self.width = int(np.diff(Y.indptr).max(initial=0))
        self.grid = grid_of(scaled.data)

    def near(self, X: sparse.csr_array, rows: Rows) -> Flags:
        some = X[rows]
        scaled = scaled_rows(some, self.exponent)
        with np.errstate(over="ignore", invalid="ignore"):  # differences decide such pairs
            sizes = squared_lengths(scaled)[:, np.newaxis] + self.lengths
            s = sizes - 2.0 * (scaled @ self.transposed).toarray()
            flags: Flags = s <= self.limit
            if self.sums_are_exact(scaled, sizes):
                return flags
            # Rounding of the three sums, each of at most `width` terms, and of their combination.
            width = max(self.width, int(np.diff(some.indptr).max(initial=0))) + 8
            slack = 4.0 * width * np.finfo(np.float64).eps * (sizes + self.limit)
            i, j = np.nonzero(~(np.abs(s - self.limit) > slack))
        for pairs in self.parts(some, i, j):
            flags[i[pairs], j[pairs]] = self.decided(some[i[pairs]], self.Y[j[pairs]])
        return flags

    def sums_are_exact(self, scaled: sparse.csr_array, sizes: Floats) -> bool:
        """True if no sum is rounded: values are whole multiples of a common unit, such as counts,
        and float64 has digits enough for sums of their squares."""
        grid = min(self.grid, grid_of(scaled.data))
        largest = 2.0 * float(sizes.max(initial=0.0))
        return grid >= LEAST_GRID and largest < np.ldexp(1.0, DIGITS + 2 * grid)

    def parts(self, some: sparse.csr_array, i: Rows, j: Rows) -> Iterator[slice]:
        """Pairs of rows, in parts of limited memory."""
        entries = np.cumsum(np.diff(some.indptr)[i] + np.diff(self.Y.indptr)[j], dtype=np.int64)
        begin = 0
        while begin < len(i):
            before = entries[begin - 1] if begin else 0
            end = int(np.searchsorted(entries, before + ENTRIES_AT_ONCE, side="right"))
            end = max(end, begin + 1)
            yield slice(begin, end)
            begin = end

    def decided(self, A: sparse.csr_array, B: sparse.csr_array) -> Flags:
        """The definition for each row of A and the same row of B: squares of differences, added in
        the order of the columns; equal columns add nothing."""
        difference = A - B
        with np.errstate(over="ignore", under="ignore"):
            difference.data *= self.unit
            flags: Flags = squared_lengths(difference) <= self.limit
        return flags


def squared_lengths(X: sparse.csr_array) -> Floats:
    """(n,) sums of squares; bincount adds in the order of the entries."""
    row_of = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    with np.errstate(over="ignore", under="ignore"):
        squares = X.data * X.data
    lengths: Floats = np.bincount(row_of, squares, minlength=X.shape[0]).astype(np.float64)
    return lengths


def grid_of(values: Floats) -> int:
    """The largest e with all values multiples of 2**e; very small if a value is not finite."""
    if not np.isfinite(values).all():
        return -(1 << 20)
    fractions, exponents = np.frexp(values[values != 0])
    digits = np.ldexp(fractions, DIGITS).astype(np.int64)
    lowest = np.frexp((digits & -digits).astype(np.float64))[1] - 1
    return int((exponents - DIGITS + lowest).min(initial=FARTHEST))
