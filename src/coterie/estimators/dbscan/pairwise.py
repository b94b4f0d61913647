"""Neighbourhoods without a native kernel: metrics of scikit-learn, callables, matrices, graphs and
wide sparse rows. They are worked out for some rows at a time, so that memory stays linear."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import DataConversionWarning
from sklearn.metrics import pairwise_distances
from sklearn.metrics.pairwise import PAIRWISE_BOOLEAN_FUNCTIONS

from coterie.algorithms.dbscan.supplied_neighbours import NeighbourLists, Rows
from coterie.estimators.dbscan.callable_metric import asked_pairs
from coterie.estimators.dbscan.sparse_pairs import Cosine, Euclidean
from coterie.estimators.pieces import pieces

PAIRS_AT_ONCE = 1 << 21  # distances of one batch: 60 MB at most
WORK_AT_ONCE = 1 << 24  # operations of one batch, about: a few hundredths of a second
BYTES_OF_ENTRY = 48  # of the temporary numbers for one stored entry, about
PER_PRODUCT = 4  # operations for one product of stored values, which lie here and there
GIVEN = "the distances are given"
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Comparison:
    """Rows of any X compared with all rows of a Y."""

    near: Callable[[Any, Rows], Flags]  # (X, rows) -> (len(rows), m): true where at most eps apart
    m: int  # rows of Y
    work: float = 1.0  # operations for one pair, about

    @property
    def batch_rows(self) -> int:
        """The number of rows of X for one call, between which Python handles Ctrl-C."""
        pairs = min(PAIRS_AT_ONCE, WORK_AT_ONCE / max(self.work, 1.0))
        return max(1, int(pairs / max(self.m, 1)))


@dataclass(frozen=True)
class FunctionNeighbours:
    """Points with a function for their neighbourhoods: near(rows) -> (len(rows), n)."""

    n: int
    near: Callable[[Rows], Flags]
    batch_rows: int
    index: str
    why: str

    def lists(self, rows: Rows) -> NeighbourLists:
        flags = self.near(rows)
        flags[np.arange(len(rows)), rows] = True
        return NeighbourLists(np.nonzero(flags)[1], np.cumsum(np.count_nonzero(flags, axis=1)))


@dataclass(frozen=True)
class GraphNeighbours:
    """Points with distances in a CSR matrix; pairs without a stored distance are far apart."""

    indices: NDArray[np.integer]
    indptr: NDArray[np.integer]
    index = "graph"
    why = GIVEN

    @classmethod
    def within(cls, X: Any, eps: float) -> GraphNeighbours:
        """The entries up to eps, and every point's distance from itself, which is zero."""
        n = X.shape[0]
        indptr = np.zeros(n + 1, dtype=np.int64)
        indices = np.empty(X.nnz + n, dtype=X.indices.dtype)  # a large part stays empty
        for rows, row_of, near in near_entries(X, eps):
            columns = X.indices[X.indptr[rows.start] : X.indptr[rows.stop]]
            other = near & (columns != row_of)
            counts = np.bincount(row_of[other] - rows.start, minlength=rows.stop - rows.start)
            begins = np.cumsum(counts) - counts
            neighbours = np.insert(columns[other], begins, np.arange(rows.start, rows.stop))
            indptr[rows.start + 1 : rows.stop + 1] = indptr[rows.start] + np.cumsum(counts + 1)
            indices[indptr[rows.start] : indptr[rows.stop]] = neighbours
        return cls(indices[: indptr[n]], indptr)

    @property
    def n(self) -> int:
        return len(self.indptr) - 1

    @property
    def batch_rows(self) -> int:
        return PAIRS_AT_ONCE

    def lists(self, rows: Rows) -> NeighbourLists:
        begin = self.indptr[rows].astype(np.intp)
        lengths = self.indptr[rows + 1] - begin
        ends = np.cumsum(lengths)
        places = np.arange(ends[-1]) + np.repeat(begin - (ends - lengths), lengths)
        return NeighbourLists(self.indices[places], ends)


def near_entries(X: Any, eps: float) -> Iterator[tuple[slice, Rows, Flags]]:
    """Stored entries of a CSR matrix, some rows at a time, so that Ctrl-C is handled in between.

    Each part is a slice of rows, the row of each of its entries, and flags of those up to eps.
    """
    n = X.shape[0]
    for rows in pieces(n, X.nnz * BYTES_OF_ENTRY / max(n, 1)):
        ends = X.indptr[rows.start : rows.stop + 1]
        row_of = np.repeat(np.arange(rows.start, rows.stop), np.diff(ends))
        yield rows, row_of, X.data[ends[0] : ends[-1]] <= eps


def matrix_neighbours(D: NDArray[Any], eps: float) -> FunctionNeighbours:
    """Distances given as a square matrix."""
    return row_neighbours(D, Comparison(lambda D, rows: D[rows] <= eps, len(D)), "matrix", GIVEN)


def row_neighbours(X: Any, by: Comparison, index: str, why: str) -> FunctionNeighbours:
    """Rows of X that are compared with each other."""
    return FunctionNeighbours(X.shape[0], partial(by.near, X), by.batch_rows, index, why)


def pairwise(
    Y: Any, eps: float, metric: Any, parameters: dict[str, Any], other: str = "row"
) -> Comparison:
    """Comparison by scikit-learn's `pairwise_distances`, or by the user's function.

    other : the name of a row of Y in messages.
    """
    if callable(metric):
        return Comparison(asked_pairs(Y, eps, metric, parameters, other), len(Y))

    told = False

    def near(X: Any, rows: Rows) -> Flags:
        nonlocal told
        with warnings.catch_warnings():
            # Numbers that are not zero are true, for metrics that compare sets.
            if metric in PAIRWISE_BOOLEAN_FUNCTIONS:
                warnings.simplefilter("ignore", DataConversionWarning)
            distances = pairwise_distances(X[rows], Y, metric=metric, **parameters)
        undefined = np.isnan(distances)
        if X is Y:  # a row is near itself, also a row of zeros by "braycurtis"
            undefined[np.arange(len(rows)), rows] = False
        if undefined.any() and not told:
            place, j = np.argwhere(undefined)[0]
            told = True
            warn_of_undefined(metric, f"row {rows[place]} of X and {other} {j}")
        flags: Flags = distances <= eps
        return flags

    return Comparison(near, Y.shape[0], work_of_pair(metric, Y.shape[1]))


def work_of_pair(metric: str, d: int) -> float:
    """Operations for the distance of two dense rows, about."""
    if metric == "nan_euclidean":  # a product of matrices, which is much faster
        return 1.0
    return float(d * d if metric == "mahalanobis" else d)


def warn_of_undefined(metric: str, pair: str) -> None:
    warnings.warn(
        f"metric={metric!r} gives nan, for example for {pair}: expected a distance between any two "
        "rows. Such rows count as far apart, as in scikit-learn. Drop rows of zeros and rows whose "
        "values are all equal, which some metrics cannot compare; rescale X if its values are "
        "extreme.",
        RuntimeWarning,
        stacklevel=2,
    )


def sparse_pairs(Y: Any, eps: float, metric: str) -> Comparison:
    """Comparison of CSR rows, by the same definition as dense rows."""
    n, d = Y.shape
    if metric == "manhattan":
        return replace(pairwise(Y, eps, metric, {}), work=2.0 * PER_PRODUCT * Y.nnz / max(n, 1))
    by: Cosine | Euclidean = Cosine(Y, eps) if metric == "cosine" else Euclidean(Y, eps)
    products = (Y.nnz / max(n, 1)) * (Y.nnz / max(d, 1)) / max(n, 1)  # of a row with all, by row
    return Comparison(by.near, n, PER_PRODUCT * products)
