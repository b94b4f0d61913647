"""Columns become rows: one C-ordered array, written part by part.

Parts of a file are decoded and written by several threads at once, each into its own rows. Nothing
is copied twice, and numbers that are not finite are noticed while they are still in the cache.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import as_completed
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from coterie.data.errors import DataError, required
from coterie.data.memory_limits import readable
from coterie.data.memory_shortage import reading_threads
from coterie.kernels.columns import interleave

# Bytes of X decoded together: decoders start slowly, and each batch passes through Python.
BATCH_BYTES = 1 << 23
LEAST_ROWS, MOST_ROWS = 1 << 13, 1 << 19

Columns = Sequence[NDArray[Any]]
T = TypeVar("T")


@dataclass(frozen=True)
class Part:
    """Rows that lie together in a file: the first, their number, and their batches."""

    first: int
    n: int
    batches: Callable[[], Iterable[Columns]]


def new_rows(n: int, d: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return X, (n, d), without values yet, in pyarrow's memory.

    Memory that is new to a process can take longer to come than the numbers that go there, and
    pyarrow keeps some of its freed memory for the next table.
    """
    pa = required("pyarrow", "reading tables", "tables")
    if not n * d:
        return np.empty((n, d), dtype=dtype)
    needed = n * d * dtype.itemsize
    try:
        return np.frombuffer(pa.allocate_buffer(needed), dtype).reshape(n, d)
    except MemoryError as error:
        raise MemoryError(f"{n:,} rows of {d} columns need {readable(needed)}") from error


def batch_rows(d: int) -> int:
    """Return the number of rows of d columns that are decoded together."""
    return min(max(BATCH_BYTES // (8 * max(d, 1)), LEAST_ROWS), MOST_ROWS)


def write_parts(X: NDArray[Any], parts: Sequence[Part]) -> bool:
    """Write all parts into X, by as many threads as pyarrow uses; return True if all are finite.

    Every row of X is written, or an error raised. Threads end with this call; after an error or
    Ctrl-C each ends with the batch it was at.
    """
    n_threads = min(len(parts), threads())
    stop, remaining = threading.Event(), iter(parts)

    def work() -> bool:
        finite = True
        for part in remaining:  # each thread takes the next free part
            finite &= _write_part(X, part, stop)
            if stop.is_set():
                break
        return finite

    if n_threads < 2:
        return work()
    with reading_threads(n_threads) as pool:
        try:
            workers = [pool.submit(work) for _ in range(n_threads)]
            finite = [worker.result() for worker in as_completed(workers)]  # or the first error
        except BaseException:
            stop.set()
            raise
    return all(finite)


def one_ahead(batches: Iterator[T]) -> Iterator[T]:
    """Yield the batches, while another thread decodes the next one."""
    with reading_threads(1) as pool:
        following = pool.submit(next, batches, None)
        while (batch := following.result()) is not None:
            following = pool.submit(next, batches, None)
            yield batch


def threads() -> int:
    """Return the number of threads of pyarrow, at most the CPUs of the affinity."""
    pa = required("pyarrow", "reading tables", "tables")
    here = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(int(pa.cpu_count()), here)


def _write_part(X: NDArray[Any], part: Part, stop: threading.Event) -> bool:
    row, end, finite = part.first, part.first + part.n, True
    for columns in part.batches():
        m = len(columns[0])
        if row + m > end:
            raise _other_size(part.n, "more")
        finite &= interleave(columns, X[row : row + m])
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
    """Return an Arrow array of numbers as NumPy, without a copy if it has no gaps (NaN)."""
    return np.asarray(column.to_numpy(zero_copy_only=False))
