"""Standard deviations of columns, of any scale and with missing cells."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from coterie.arrays import Floats

BLOCK = 1 << 14  # rows that stay in the cache


def spreads(X: Any, n_threads: int = 1) -> tuple[Floats, int]:
    """Standard deviations (d,) in units of a power of two, and its exponent; 0 for a constant
    column. NaN is a missing cell, which does not count."""
    values = np.asarray(X, dtype=np.float64)
    with ThreadPoolExecutor(n_threads) as pool:  # NumPy works on blocks side by side

        def over_blocks(look: Callable[[Any], Any]) -> list[Any]:
            return list(pool.map(lambda block: look(_columns(block)), _blocks(values)))

        def ends(columns: Any) -> tuple[Any, Any]:
            return np.fmin.reduce(columns, axis=1), np.fmax.reduce(columns, axis=1)

        lows, highs = zip(*over_blocks(ends), strict=True)
        low, high = np.fmin.reduce(lows), np.fmax.reduce(highs)
        exponent = int(np.frexp(np.fmax.reduce(np.abs(high / 2 - low / 2)))[1]) + 1
        exponent = max(exponent, -1000)
        unit = 2.0**-exponent  # finite, so that a product is as good as ldexp
        middle = (low / 2 + high / 2)[:, np.newaxis]

        def sums(columns: Any) -> tuple[Any, Any, Any]:
            part = np.multiply(np.subtract(columns, middle, out=columns), unit, out=columns)
            gone = np.isnan(part)
            part[gone] = 0.0
            there = part.shape[1] - gone.sum(axis=1)
            return there, part.sum(axis=1), np.einsum("ij,ij->i", part, part)

        found = over_blocks(sums)
    there, total, squares = (np.sum(parts, axis=0) for parts in zip(*found, strict=True))
    count = np.maximum(there, 1)
    variance = np.maximum(squares / count - (total / count) ** 2, 0.0)
    return np.where(high > low, np.sqrt(variance), 0.0), exponent


def _blocks(values: Any) -> Iterator[Any]:
    for begin in range(0, len(values), BLOCK):
        yield values[begin : begin + BLOCK]


def _columns(block: Any) -> Any:
    """Copy a block column by column: NumPy adds up long columns much faster than short rows."""
    return np.array(block.T, order="C")
