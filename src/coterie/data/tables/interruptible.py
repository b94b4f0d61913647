"""Ctrl-C while pyarrow reads a text.

On the main thread pyarrow has a signal handler of its own while it reads CSV, which loses about one
Ctrl-C in fifty. While it reads JSON, Ctrl-C waits for the end of the file. On other threads it
leaves signals alone. So it reads on another thread, and an early end of the text ends it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import IO, Any, TypeVar

from coterie.data.memory_shortage import reading_threads

T = TypeVar("T")


def read_interruptibly(read: Callable[[Any], T], file: IO[bytes]) -> T:
    """Return read(file), called on another thread; Ctrl-C ends the file there, and the call."""
    stop = threading.Event()
    with reading_threads(1) as pool:
        try:
            return pool.submit(read, _StoppableFile(file, stop)).result()
        except BaseException:
            stop.set()
            raise


class _StoppableFile:
    """A file for pyarrow that ends once it is stopped."""

    def __init__(self, file: IO[bytes], stop: threading.Event) -> None:
        self._file, self._stop = file, stop

    def read(self, size: int = -1) -> bytes:
        return b"" if self._stop.is_set() else self._file.read(size)

    @property
    def closed(self) -> bool:
        return self._file.closed

    def close(self) -> None:
        self._file.close()
