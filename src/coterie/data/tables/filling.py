"""Columns become rows: one C-ordered array, written block by block while it is in the cache.

Parts of a file are decoded and written by several threads at once, each into its own rows. Nothing
is copied twice, and what is not a finite number is noticed while a block is still in the cache.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.data.errors import DataError, required

# Of X. Smaller blocks stay nearer to the processor, but then threads wait for one another: between
# any two of the copies that make a block, Python has a word to say.
BLOCK_BYTES = 1 << 20
LEAST_ROWS, MOST_ROWS = 1 << 10, 1 << 16
BLOCKS_DECODED = 8
ALL = slice(None)

Columns = Sequence[NDArray[Any]]


@dataclass(frozen=True)
class Part:
    """What lies together in a file: the first row, how many, which columns, how to decode them."""

    first: int
    n: int
    batches: Callable[[], Iterable[Columns]]
    place: slice = field(default_factory=lambda: ALL)  # of the columns in X


def block_rows(d: int) -> int:
    """How many rows of d columns are written together."""
    return min(max(BLOCK_BYTES // (8 * max(d, 1)), LEAST_ROWS), MOST_ROWS)


def batch_rows(d: int) -> int:
    """How many rows of d columns are decoded together: some blocks, as decoders begin slowly."""
    return BLOCKS_DECODED * block_rows(d)


def write_columns(X: NDArray[Any], first: int, columns: Columns, place: slice = ALL) -> bool:
    """Write columns, (m,) each, into rows of X from `first` on; say whether all are finite."""
    m, step, finite = len(columns[0]), block_rows(X.shape[1]), True
    with np.errstate(over="ignore", invalid="ignore"):
        for start in range(0, m, step):
            stop = min(start + step, m)
            block = X[first + start : first + stop, place]
            for j, column in enumerate(columns):
                block[:, j] = column[start:stop]
            # The sum is finite if all numbers are, unless it overflows: then we look again.
            finite = finite and bool(np.isfinite(block.sum()))
    return finite


def write_parts(X: NDArray[Any], parts: Sequence[Part]) -> bool:
    """Write all parts into X, by as many threads as pyarrow uses; say whether all are finite.

    Every row of X is written, or an error raised. Threads end with this call; after an error or
    Ctrl-C each ends with the batch it was at.
    """
    n_threads = min(len(parts), threads())
    stop, remaining = threading.Event(), iter(parts)

    def work() -> bool:
        finite = True
        for part in remaining:  # each thread takes the next part that nobody has
            finite &= _write_part(X, part, stop)
            if stop.is_set():
                break
        return finite

    if n_threads < 2:
        return work()
    with ThreadPoolExecutor(n_threads, "coterie-read") as pool:
        try:
            workers = [pool.submit(work) for _ in range(n_threads)]
            finite = [worker.result() for worker in as_completed(workers)]  # or the first error
        except BaseException:
            stop.set()
            raise
    return all(finite)


def threads() -> int:
    """As many as pyarrow would use, and no more than the CPU affinity has."""
    pa = required("pyarrow", "reading tables", "tables")
    here = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(int(pa.cpu_count()), here)


def _write_part(X: NDArray[Any], part: Part, stop: threading.Event) -> bool:
    row, end, finite = part.first, part.first + part.n, True
    for columns in part.batches():
        m = len(columns[0])
        if row + m > end:
            raise _other_size(part.n, "more")
        finite &= write_columns(X, row, columns, part.place)
        row += m
        if stop.is_set():
            return False
    if row != end:
        raise _other_size(part.n, f"{row - part.first:,}")
    return finite


def _other_size(expected: int, got: str) -> DataError:
    return DataError(
        f"expected {expected:,} rows, as the file declares, got {got}; "
        "the file is damaged: write it again"
    )


def as_numpy(column: Any) -> NDArray[Any]:
    """Return an Arrow array of numbers as NumPy, without a copy where it has no gaps (NaN)."""
    return np.asarray(column.to_numpy(zero_copy_only=False))
