"""Who is nearby, where no native kernel knows: any metric of scikit-learn, callables, matrices,
graphs, wide sparse rows. Worked out for some rows at a time, so that memory stays linear."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.exceptions import DataConversionWarning
from sklearn.metrics import pairwise_distances
from sklearn.metrics.pairwise import PAIRWISE_BOOLEAN_FUNCTIONS

from coterie.algorithms.growth import Lists, Rows
from coterie.algorithms.results import Floats

PAIRS_AT_ONCE = 1 << 21  # distances in one portion: a few hundredths of a second, 60 MB at most
Flags = NDArray[np.bool_]


def rows_at_once(n: int) -> int:
    return max(1, PAIRS_AT_ONCE // max(n, 1))


@dataclass(frozen=True)
class Compared:
    """Points whose neighbourhoods a function works out: near(rows) -> (len(rows), n)."""

    n: int
    near: Callable[[Rows], Flags]

    @property
    def at_once(self) -> int:
        return rows_at_once(self.n)

    def lists(self, rows: Rows) -> Lists:
        flags = self.near(rows)
        flags[np.arange(len(rows)), rows] = True
        return Lists(np.nonzero(flags)[1], np.cumsum(np.count_nonzero(flags, axis=1)))


@dataclass(frozen=True)
class Graph:
    """Points whose distances are the stored entries of a CSR matrix; what is not stored is far."""

    indices: NDArray[np.integer]
    indptr: NDArray[np.integer]

    @classmethod
    def within(cls, X: Any, eps: float) -> Graph:
        """The entries up to eps, and every point's distance from itself, which is zero."""
        near = X.data <= eps
        row_of = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))[near]
        columns = X.indices[near]
        itself = np.arange(X.shape[0])
        other = row_of != columns
        pattern = sparse.csr_array(
            (
                np.ones(int(other.sum()) + len(itself), dtype=bool),
                (np.r_[row_of[other], itself], np.r_[columns[other], itself]),
            ),
            shape=X.shape,
        )
        return cls(pattern.indices, pattern.indptr)

    @property
    def n(self) -> int:
        return len(self.indptr) - 1

    @property
    def at_once(self) -> int:
        return PAIRS_AT_ONCE

    def lists(self, rows: Rows) -> Lists:
        begin = self.indptr[rows].astype(np.intp)
        lengths = self.indptr[rows + 1] - begin
        ends = np.cumsum(lengths)
        places = np.arange(ends[-1]) + np.repeat(begin - (ends - lengths), lengths)
        return Lists(self.indices[places], ends)


def by_matrix(D: NDArray[Any], eps: float) -> Compared:
    """Distances given as a square matrix."""
    return Compared(len(D), lambda rows: D[rows] <= eps)


def by_function(X: Any, eps: float, metric: Any, parameters: dict[str, Any]) -> Compared:
    """Distances by scikit-learn's `pairwise_distances`."""
    near = pairwise(X, eps, metric, parameters)
    return Compared(X.shape[0], lambda rows: near(X[rows]))


def pairwise(Y: Any, eps: float, metric: Any, parameters: dict[str, Any]) -> Callable[[Any], Flags]:
    """near(X) -> (n, m): whether rows of X are at most eps from rows of Y, by scikit-learn."""

    def near(X: Any) -> Flags:
        with warnings.catch_warnings():
            # Numbers that are not zero are true, for metrics that compare sets.
            if metric in PAIRWISE_BOOLEAN_FUNCTIONS:
                warnings.simplefilter("ignore", DataConversionWarning)
            flags: Flags = pairwise_distances(X, Y, metric=metric, **parameters) <= eps
        return flags

    return near


def completed(metric: Any, parameters: dict[str, Any], X: Any) -> dict[str, Any]:
    """Variances or an inverse covariance of X, where the metric needs them and none are given."""
    if metric == "seuclidean" and "V" not in parameters:
        return {**parameters, "V": np.var(X, axis=0, ddof=1, dtype=np.float64)}
    if metric == "mahalanobis":
        if "VI" in parameters:
            return {"VI": np.asarray(parameters["VI"], dtype=np.float64)}
        V = parameters.get("V")
        covariance = np.atleast_2d(np.cov(X, rowvar=False) if V is None else np.asarray(V))
        return {"VI": np.linalg.inv(covariance).T}
    return parameters


def sparse_pairs(Y: Any, eps: float, metric: str) -> Callable[[Any], Flags]:
    """near(X) -> (n, m) for CSR rows, by the same definition as dense rows.

    Products of rows come from SciPy, which adds them in the order of the columns. They are the
    definition of cosine distance; for Euclidean distance they propose, and differences decide
    where rounding could matter.
    """
    if metric == "manhattan":
        return pairwise(Y, eps, metric, {})
    turned = Y.T.tocsr()
    if metric == "cosine":
        return lambda X: np.clip(1.0 - (X @ turned).toarray(), 0.0, 2.0) <= eps
    lengths = squared_lengths(Y)

    def near(X: Any) -> Flags:
        own = squared_lengths(X)[:, np.newaxis]
        s = own + lengths - 2.0 * (X @ turned).toarray()
        # Of the three sums, each of at most `width` terms, and of what follows.
        width = int(max(np.diff(X.indptr).max(), np.diff(Y.indptr).max())) + 8
        slack = 4.0 * width * np.finfo(np.float64).eps * (own + lengths + eps * eps)
        flags: Flags = s <= eps * eps
        for i, j in np.argwhere(np.abs(s - eps * eps) <= slack):
            flags[i, j] = _squared_difference(X, i, Y, j) <= eps * eps
        return flags

    return near


def squared_lengths(X: Any) -> Floats:
    row_of = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    values = X.data.astype(np.float64)
    lengths: Floats = np.bincount(row_of, values * values, minlength=X.shape[0]).astype(np.float64)
    return lengths


def _squared_difference(X: Any, i: int, Y: Any, j: int) -> float:
    """Sum of squared differences in the order of the columns; equal columns add nothing."""
    difference = (X[[i]] - Y[[j]]).toarray()[0]
    difference = difference[difference != 0]
    return float(np.cumsum(difference * difference)[-1]) if len(difference) else 0.0
