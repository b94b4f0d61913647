"""Large copies, some rows at a time: between two pieces Python handles Ctrl-C."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

BYTES_AT_ONCE = 1 << 24  # of one piece: NumPy copies them within a few hundredths of a second


def pieces(n_rows: int, row_bytes: float) -> Iterator[slice]:
    """Rows 0 .. n_rows, some at a time. row_bytes : the memory of one row, about."""
    step = max(1, int(BYTES_AT_ONCE // max(row_bytes, 1)))
    for first in range(0, n_rows, step):
        yield slice(first, min(first + step, n_rows))


def picked(X: Any, rows: NDArray[np.signedinteger]) -> Any:
    """``X[rows]``, a copy. X : an array of any dimension, or a CSR matrix; rows : numbers from
    zero on, of rows that X has."""
    if sparse.issparse(X):
        return _picked_sparse(X, rows)
    copy = np.empty((len(rows), *X.shape[1:]), dtype=X.dtype)
    for some in pieces(len(rows), X.nbytes / max(len(X), 1)):
        # take: NumPy is several times slower with X[rows]. "clip" writes without a buffer.
        X.take(rows[some], axis=0, out=copy[some], mode="clip")
    return copy


def gaps_filled(X: NDArray[Any], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """A copy of X (n, d) with values (d,) in place of NaN."""
    whole = np.empty(X.shape)
    for some in pieces(len(X), whole.nbytes / len(X)):
        whole[some] = np.where(np.isnan(X[some]), values, X[some])
    return whole


def repeated(counts: NDArray[np.integer]) -> NDArray[np.int64]:
    """``counts[0]`` zeros, ``counts[1]`` ones, and so on."""
    ends = np.cumsum(counts)
    numbers = np.empty(ends[-1], dtype=np.int64)
    for some in pieces(len(numbers), 8):
        places = np.arange(some.start, some.stop)
        numbers[some] = np.searchsorted(ends, places, side="right")
    return numbers


def _picked_sparse(X: Any, rows: NDArray[np.signedinteger]) -> Any:
    ends = np.zeros(len(rows) + 1, dtype=X.indptr.dtype)
    np.cumsum(np.diff(X.indptr)[rows], out=ends[1:])
    data = np.empty(ends[-1], dtype=X.data.dtype)
    indices = np.empty(ends[-1], dtype=X.indices.dtype)
    row_bytes = ends[-1] * (data.itemsize + indices.itemsize) / max(len(rows), 1)
    for some in pieces(len(rows), row_bytes):
        piece = X[rows[some]]
        stored = slice(ends[some.start], ends[some.stop])
        data[stored], indices[stored] = piece.data, piece.indices
    return sparse.csr_array((data, indices, ends), shape=(len(rows), X.shape[1]))
