"""Files written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

SYNCED = 1 << 25  # bytes that wait for the disk together


def write_whole(path: Path, parts: Iterable[bytes | memoryview]) -> None:
    """Write a file beside its place, make sure that it is on the disk, then rename it.

    A crash, a full disk or a kill at any moment leaves the old file or the new one. A kill can also
    leave the unfinished file, whose name begins with a dot and ends in ".part".

    A pipe or a device, such as /dev/null, is written to directly and never replaced by a file.
    """
    place = Path(os.path.realpath(path))  # a link stays a link
    if place.exists() and not place.is_file():
        with place.open("wb") as device:
            for part in parts:
                device.write(part)
        return
    handle, name = tempfile.mkstemp(prefix=f".{place.name}.", suffix=".part", dir=place.parent)
    unfinished = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            waiting = 0
            for part in parts:
                file.write(part)
                waiting += len(part)
                if waiting > SYNCED:  # in small parts: Ctrl-C cannot interrupt a sync
                    file.flush()
                    os.fsync(file.fileno())
                    waiting = 0
            file.flush()
            os.fsync(file.fileno())
        unfinished.chmod(_mode(place))
        os.replace(unfinished, place)
    except BaseException:
        with suppress(OSError):
            unfinished.unlink()
        raise
    _sync_folder(place.parent)


def _mode(place: Path) -> int:
    """Return the permissions of the file that is replaced, or those a new file would get."""
    with suppress(OSError):
        return place.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _sync_folder(folder: Path) -> None:
    """Make the new name durable; systems that cannot sync folders do it by themselves."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
