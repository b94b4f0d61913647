"""Rows as directions, for metric="cosine": each row divided by its length."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from coterie.arrays import Floats
from coterie.estimators.pieces import pieces


def unit_rows(X: Any, name: str = "X", *, zeros: bool = False) -> Any:
    """A float64 copy of X with rows of length one; rows of zeros are refused, or stay as they are.

    The answer for a row depends on that row alone: squares are added column by column, so that a
    sparse row, its dense twin, and the same row in another batch get the same bits.
    """
    if sparse.issparse(X):
        return _unit_sparse(X, name, zeros)
    unit = np.empty(X.shape, dtype=np.float64)
    for some in pieces(len(X), 8 * X.shape[1]):
        rows = X[some].astype(np.float64)
        sizes = np.abs(rows).max(axis=1)
        if not zeros:
            _refuse_zeros(sizes, some.start, name)
        rows = _near_one(rows, sizes, np.arange(len(rows))[:, np.newaxis])
        lengths = np.sqrt(np.cumsum(rows * rows, axis=1)[:, -1])
        lengths[sizes == 0] = 1.0
        unit[some] = rows / lengths[:, np.newaxis]
    return unit


def rows_near_one(X: NDArray[Any]) -> Floats:
    """A float64 copy of dense rows, each times the power of two that brings its largest value near
    one: of the same directions, and with squares that neither overflow nor vanish."""
    near = np.empty(X.shape, dtype=np.float64)
    for some in pieces(len(X), 8 * X.shape[1]):
        rows = X[some].astype(np.float64)
        near[some] = _near_one(rows, np.abs(rows).max(axis=1), np.arange(len(rows))[:, np.newaxis])
    return near


def _unit_sparse(X: Any, name: str, zeros: bool) -> Any:
    row_of = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    values = X.data.astype(np.float64)
    sizes = np.zeros(X.shape[0])
    np.maximum.at(sizes, row_of, np.abs(values))
    if not zeros:
        _refuse_zeros(sizes, 0, name)
    values = _near_one(values, sizes, row_of)
    # bincount adds in the order of the entries, as cumsum does.
    lengths = np.sqrt(np.bincount(row_of, weights=values * values, minlength=X.shape[0]))
    lengths[sizes == 0] = 1.0
    return sparse.csr_array((values / lengths[row_of], X.indices, X.indptr), shape=X.shape)


def _near_one(values: Floats, sizes: Floats, row_of: NDArray[np.intp]) -> Floats:
    """Each row times the power of two that brings its largest value near one: lengths of rows
    like 1e200 or 1e-200 neither overflow nor vanish."""
    exponents = np.frexp(sizes)[1]
    with np.errstate(under="ignore"):
        near: Floats = np.ldexp(values, -exponents[row_of])
    return near


def _refuse_zeros(sizes: Floats, first: int, name: str) -> None:
    zero = np.flatnonzero(sizes == 0)
    if len(zero):
        raise ValueError(
            f"metric='cosine' needs rows that have a direction, and row {first + zero[0]} of "
            f"{name} is all zeros. Drop rows of length zero, or use metric='euclidean'."
        )
