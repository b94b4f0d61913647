"""One measurement of peak memory, in a process of its own, printed as JSON.

    python -m benchmarks.memory_probe CONTENDER WORKLOAD DTYPE THREADS ITERATIONS QUICK CACHE

A peak can only be read once per process: memory that a first fit returned to the allocator would
make a second one look frugal.
"""

from __future__ import annotations

import ctypes
import gc
import json
import resource
import sys
from pathlib import Path

from benchmarks.peers import by_name
from benchmarks.timing import limited
from benchmarks.workloads import load, select

STATUS = Path("/proc/self/status")


def probe(
    name: str, workload: str, dtype: str, threads: int, max_iter: int, quick: bool, cache: Path
) -> dict[str, int]:
    """Bytes of the data, and the peak beyond the resident memory before the fit."""
    contender = by_name(name)
    problem = load(select([workload])[0], dtype, quick, cache)
    with limited(threads):
        contender.warm_up(problem.x, problem.means, threads)
        before = resident_after_reset()
        fit = contender.fit(problem.x, problem.means, max_iter, threads)
    return {
        "data": problem.x.nbytes,
        "beyond": peak() - before,
        "iterations": fit.iterations,
    }


def resident_after_reset() -> int:
    """Bytes resident now; Linux also lets a process forget its old peak."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return peak()
    return _status("VmRSS")


def give_back() -> None:
    """Return freed memory to the system, or the fit would seem to need less."""
    gc.collect()
    if sys.platform == "linux":
        ctypes.CDLL(None).malloc_trim(0)


def peak() -> int:
    if STATUS.exists():
        return _status("VmHWM")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


def _status(name: str) -> int:
    """A field of the process status that the kernel gives in kB, in bytes."""
    lines = (line.split() for line in STATUS.read_text().splitlines())
    return next(1024 * int(words[1]) for words in lines if words and words[0] == f"{name}:")


if __name__ == "__main__":
    who, what, precision, team, cap, smoke, folder = sys.argv[1:]
    answer = probe(who, what, precision, int(team), int(cap), smoke == "1", Path(folder))
    print(json.dumps(answer))
