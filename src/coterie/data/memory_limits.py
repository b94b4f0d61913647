"""Limits on the memory that a file may ask for.

A few bytes can declare gigabytes. Every loader therefore computes its need of memory from the
header of a file, and checks it here before it allocates.
"""

from __future__ import annotations

import math
import os
import re
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from numbers import Real
from pathlib import Path

from coterie.data.errors import DataError
from coterie.data.options import check_number

MAX_EXPANSION = 100.0
ALWAYS_ALLOWED = 16 * 2**20  # bytes; never a danger, even from the smallest file
_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}


@dataclass(frozen=True)
class Limits:
    """The most that one file may become: bytes in memory, and bytes in memory per byte stored."""

    memory: int
    expansion: float = MAX_EXPANSION

    @classmethod
    def of(cls, max_memory: int | str | None, max_expansion: float = MAX_EXPANSION) -> Limits:
        """Return the limits that a caller asks for; None is the default for this machine."""
        memory = default_memory() if max_memory is None else as_bytes(max_memory)
        if max_expansion != math.inf:
            check_number("max_expansion", max_expansion, 1, "the default is 100")
        return cls(memory, float(max_expansion))

    def check(self, needed: int, stored: int, what: str, remedy: str = "") -> None:
        """Raise if `needed` bytes are too many, as such or for a file of `stored` bytes."""
        otherwise = f"{remedy}, or " if remedy else ""
        if needed > self.memory:
            raise DataError(
                f"expected data that need at most {readable(self.memory)} of memory, got {what}, "
                f"which need {readable(needed)}; {otherwise}pass max_memory={roomy(needed)!r} "
                "to allow it"
            )
        ratio = needed / max(stored, 1)
        if needed > ALWAYS_ALLOWED and ratio > self.expansion:
            raise DataError(
                f"expected at most {self.expansion:g} bytes in memory per byte of the file, got "
                f"{ratio:,.0f} ({what} from {readable(stored)}), as in a file made to exhaust "
                f"memory; if you trust it, pass max_expansion={int(ratio) + 1}"
            )


def as_bytes(size: int | str) -> int:
    """Return a number of bytes from an int, or from text such as "500 MB" or "4GB"."""
    if isinstance(size, str):
        found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)i?b?\s*", size.lower())
        if found:
            return int(float(found[1]) * _UNITS[found[2]])
    elif isinstance(size, Real) and not isinstance(size, bool) and 1 <= size < math.inf:
        return int(size)
    raise ValueError(
        f"expected a number of bytes, or text such as '4 GB', got {size!r}; "
        "the default is a quarter of the memory of this machine, at most 2 GB"
    )


def readable(size: float) -> str:
    """Return a number of bytes in a unit that suits it."""
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("KB", 1e3)):
        if size >= factor:
            return f"{size / factor:,.1f} {unit}"
    return f"{int(size)} bytes"


def roomy(size: int) -> str:
    """Return `size` bytes rounded up to megabytes."""
    return f"{int(size / 1e6) + 1} MB"


@lru_cache(maxsize=1)
def default_memory() -> int:
    """Return a quarter of this machine's memory, at most 2 GB."""
    return int(min(2e9, 0.25 * _machine_memory()))


def _machine_memory() -> int:
    """Return the bytes of memory of the machine, or of the container around the process."""
    try:
        total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError, AttributeError):  # a system without sysconf
        total = 8 * 10**9
    with suppress(OSError, ValueError):  # no container, or one without a limit
        total = min(total, int(Path("/sys/fs/cgroup/memory.max").read_text()))
    return total
