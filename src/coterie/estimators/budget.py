"""Memory, asked for before work begins: better a clear word now than a killed process later."""

from __future__ import annotations

from pathlib import Path

SMALL = 1 << 26  # bytes: less is not worth a question
MEMINFO = Path("/proc/meminfo")
CGROUP = Path("/sys/fs/cgroup")


def available_memory() -> float | None:
    """Bytes that this process could still take, None where the system does not tell."""
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
    """The budget, or what is available; infinite where neither is known."""
    if memory_budget is not None:
        return float(memory_budget)
    free = available_memory()
    return float("inf") if free is None else free


def refuse_beyond(allowed: float, needed: float, memory_budget: float | None, remedy: str) -> None:
    """A MemoryError if `needed` bytes are more than `allowed`."""
    if needed <= max(allowed, SMALL if memory_budget is None else 0):
        return
    whose = "available" if memory_budget is None else "allowed by memory_budget"
    raise MemoryError(
        f"DBSCAN would need about {size(needed)} of memory beyond X, and {size(allowed)} are "
        f"{whose}. {remedy}"
    )


def size(n_bytes: float) -> str:
    """As people say it."""
    for unit in ("bytes", "kB", "MB"):
        if n_bytes < 999.5:
            return f"{n_bytes:.3g} {unit}"
        n_bytes /= 1000
    return f"{n_bytes:.3g} GB"
