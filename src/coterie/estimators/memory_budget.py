"""Memory, asked for before work begins: better a clear word now than a killed process later."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

SMALL = 1 << 26  # bytes: less is not worth a question
MEMINFO = Path("/proc/meminfo")
CGROUP = Path("/sys/fs/cgroup")


def available_memory() -> float | None:
    """Bytes that this process could still use; None if the system does not tell."""
    try:
        lines = MEMINFO.read_text().splitlines()
        free = next(1024.0 * int(line.split()[1]) for line in lines if "MemAvailable" in line)
    except (OSError, StopIteration):
        return None
    try:  # a container may have less
        limit = (CGROUP / "memory.max").read_text().strip()
        used = int((CGROUP / "memory.current").read_text())
        cached = (CGROUP / "memory.stat").read_text().splitlines()
        back = next(int(line.split()[1]) for line in cached if line.startswith("inactive_file "))
    except (OSError, StopIteration, ValueError):
        return free
    return free if limit == "max" else min(free, float(int(limit) - used + back))


def allowed_memory(memory_budget: float | None) -> float:
    """The budget, or the available memory; infinite if neither is known."""
    if memory_budget is not None:
        return float(memory_budget)
    free = available_memory()
    return float("inf") if free is None else free


class Allowance:
    """Memory that a fit may use. The system is asked only if the answer matters."""

    def __init__(
        self, memory_budget: float | None, who: str = "DBSCAN", beyond: str = " beyond X"
    ) -> None:
        self.memory_budget, self.who, self.beyond = memory_budget, who, beyond

    @cached_property
    def bytes(self) -> float:
        return allowed_memory(self.memory_budget)

    def refuse_beyond(self, needed: float, remedy: str) -> None:
        """Raise a MemoryError if `needed` bytes are more than the allowance."""
        if (self.memory_budget is None and needed <= SMALL) or needed <= self.bytes:
            return
        whose = "available" if self.memory_budget is None else "allowed by memory_budget"
        raise MemoryError(
            f"{self.who} would need about {size(needed)} of memory{self.beyond}, and "
            f"{size(self.bytes)} are {whose}. {remedy}"
        )


def size(n_bytes: float) -> str:
    """Number of bytes in words, with three digits."""
    for unit in ("bytes", "kB", "MB"):
        if n_bytes < 999.5:
            return f"{n_bytes:.3g} {unit}"
        n_bytes /= 1000
    return f"{n_bytes:.3g} GB"
