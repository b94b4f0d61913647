"""Neighbourhoods without a native kernel: metrics of scikit-learn, callables, matrices, graphs and
wide sparse rows. They are worked out for some rows at a time, so that memory stays linear."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
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

PAIRS_AT_ONCE = 1 << 21  # distances of one batch: a few hundredths of a second, 60 MB at most
BYTES_OF_ENTRY = 48  # of the temporary numbers for one stored entry, about
GIVEN = "the distances are given"
Flags = NDArray[np.bool_]
# near(X, rows) -> (len(rows), m): true where these rows of X are at most eps from rows of a Y.
Near = Callable[[Any, Rows], Flags]


def rows_at_once(n: int) -> int:
    return max(1, PAIRS_AT_ONCE // max(n, 1))


@dataclass(frozen=True)
class FunctionNeighbours:
    """Points with a function for their neighbourhoods: near(rows) -> (len(rows), n)."""

    n: int
    near: Callable[[Rows], Flags]
    index: str
    why: str

    @property
    def batch_rows(self) -> int:
        return rows_at_once(self.n)

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
    return FunctionNeighbours(len(D), lambda rows: D[rows] <= eps, "matrix", GIVEN)


def row_neighbours(X: Any, near: Near, index: str, why: str) -> FunctionNeighbours:
    """Rows of X that are compared with each other."""
    return FunctionNeighbours(X.shape[0], partial(near, X), index, why)


def pairwise(
    Y: Any, eps: float, metric: Any, parameters: dict[str, Any], other: str = "row"
) -> Near:
    """near : by scikit-learn's `pairwise_distances`, or by the user's function.

    other : the name of a row of Y in messages.
    """
    if callable(metric):
        return asked_pairs(Y, eps, metric, parameters, other)

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

    return near


def warn_of_undefined(metric: str, pair: str) -> None:
    warnings.warn(
        f"metric={metric!r} gives nan, for example for {pair}: expected a distance between any two "
        "rows. Such rows count as far apart, as in scikit-learn. Drop rows of zeros and rows whose "
        "values are all equal, which some metrics cannot compare; rescale X if its values are "
        "extreme.",
        RuntimeWarning,
        stacklevel=2,
    )


def sparse_pairs(Y: Any, eps: float, metric: str) -> Near:
    """near : for CSR rows, by the same definition as dense rows."""
    if metric == "manhattan":
        return pairwise(Y, eps, metric, {})
    return (Cosine(Y, eps) if metric == "cosine" else Euclidean(Y, eps)).near
