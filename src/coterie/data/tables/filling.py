"""Columns become rows: one C-ordered array, written block by block while it is in the cache."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

BLOCK_BYTES = 1 << 17  # of X; columns are written into it while it stays near the processor


def write_columns(X: NDArray[Any], first: int, columns: Sequence[NDArray[Any]]) -> None:
    """Write columns, (m,) each, into the rows of X that begin at `first`."""
    m, d = len(columns[0]), X.shape[1]
    step = max(64, BLOCK_BYTES // (d * X.itemsize))
    for start in range(0, m, step):
        stop = min(start + step, m)
        block = X[first + start : first + stop]
        for j, column in enumerate(columns):
            block[:, j] = column[start:stop]


def write_batches(X: NDArray[Any], batches: Iterable[Sequence[NDArray[Any]]]) -> int:
    """Write batches of columns one below the other; return the number of rows written."""
    row = 0
    for columns in batches:
        m = len(columns[0])
        if row + m > len(X):
            return row + m
        write_columns(X, row, columns)
        row += m
    return row


def as_numpy(column: Any) -> NDArray[Any]:
    """Return an Arrow array of numbers as NumPy, without a copy where it has no gaps (NaN)."""
    return np.asarray(column.to_numpy(zero_copy_only=False))
