"""Memory that runs out while a file is read: one error for the many signs of it."""

from __future__ import annotations

import errno
import mmap
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from coterie.data.memory_limits import readable

P = ParamSpec("P")
R = TypeVar("R")

ROOM = 1 << 25  # bytes at the start; without any, libraries end the process
THREAD_BYTES = 1 << 25  # of addresses: the stack of a thread, and room for its first objects
_WORDS = (  # of Python, pyarrow, LZ4, C++ and the loader of shared libraries
    "can't start new thread",
    "Failed to launch worker thread",
    "alloc of size",
    "allocation_failed",
    "bad_alloc",
    "Cannot allocate memory",
    "failed to map segment",
)


class OutOfMemory(MemoryError):
    """Memory ran out; the message gives the file, the need and the remedy."""


def reports_shortage(read: Callable[P, R]) -> Callable[P, R]:
    """Wrap a reader, whose first argument is its source, so that a lack of memory is said."""

    @wraps(read)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            _need(ROOM)
            return read(*args, **kwargs)
        except OutOfMemory:
            raise
        except Exception as error:
            said = shortage(error)
            if said is None:
                raise
            source: Any = args[0] if args else kwargs.get("path", kwargs.get("picture"))
            named = os.fspath(source) if isinstance(source, str | os.PathLike) else "an array"
            raise OutOfMemory(
                f"{named}: expected memory for its rows, got too little ({said}); close other "
                "programs, or read less: fewer columns, a smaller picture, a shorter recording"
            ) from error

    return wrapped


def shortage(error: BaseException) -> str | None:
    """Return the words of an error, or of its cause, about a lack of memory; None for others."""
    behind: BaseException | None = error
    while behind is not None:
        if isinstance(behind, MemoryError):
            return str(behind) or "memory is used up"
        said = str(behind)
        system = isinstance(behind, OSError) and behind.errno == errno.ENOMEM
        foreign = not isinstance(behind, ValueError) or type(behind).__module__.startswith(
            "pyarrow"
        )
        if system or (foreign and any(word in said for word in _WORDS)):
            return said.splitlines()[0][:200]
        behind = behind.__cause__
    return None


def reading_threads(n: int) -> ThreadPoolExecutor:
    """Return a pool of n threads, if there is memory for them.

    Python waits without end for a thread that has no memory for its first object.
    """
    _need(n * THREAD_BYTES)
    return ThreadPoolExecutor(n, "coterie-read")


def _need(n_bytes: int) -> None:
    """Raise if there is no room for so many bytes; they are reserved for a moment, not touched."""
    try:
        mmap.mmap(-1, n_bytes).close()
    except OSError as error:
        raise MemoryError(f"less than {readable(n_bytes)} are left") from error
