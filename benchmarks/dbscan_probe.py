"""One fit of DBSCAN in a process of its own, with limits: seconds and peak memory, as JSON.

    python -m benchmarks.dbscan_probe PEER WORKLOAD THREADS GIGABYTES QUICK CACHE

A peak can only be read once per process, and some peers do not survive some workloads.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.apart import run_apart
from benchmarks.dbscan_peers import PEERS
from benchmarks.dbscan_workloads import Workload, load, select
from benchmarks.memory_probe import peak, resident_after_reset

GIGABYTES = 8  # of address space for a peer
SECONDS = 60  # of patience with it


def probe(name: str, workload: Workload, threads: int, quick: bool, cache: Path) -> dict[str, Any]:
    """Seconds and memory of the fit, or the way in which it failed."""
    arguments = [name, workload.name, threads, GIGABYTES, int(quick), cache]
    try:
        done = run_apart("benchmarks.dbscan_probe", *arguments, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return {"failure": f"more than {SECONDS} s"}
    if done.returncode == 0:
        answer: dict[str, Any] = json.loads(done.stdout)
        return answer
    memory = done.returncode == -9 or "MemoryError" in done.stderr or "bad_alloc" in done.stderr
    last = (done.stderr.strip().splitlines() or ["no word"])[-1]
    died = f"ended by signal {-done.returncode}" if done.returncode < 0 else last
    return {"failure": f"more than {GIGABYTES} GB" if memory else died}


def _fit(name: str, workload: Workload, threads: int, quick: bool, cache: Path) -> dict[str, Any]:
    x = load(workload, quick, cache)
    PEERS[name](x[:2000], workload.eps, threads)  # libraries and pools
    before = resident_after_reset()
    began = time.perf_counter()
    answer = PEERS[name](x, workload.eps, threads)
    seconds = time.perf_counter() - began
    return {
        "seconds": seconds,
        "data": x.nbytes,
        "beyond": peak() - before,
        "clusters": int(answer.labels.max()) + 1,
    }


if __name__ == "__main__":
    who, what, team, gigabytes, smoke, folder = sys.argv[1:]
    limit = int(gigabytes) << 30
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    print(json.dumps(_fit(who, select([what])[0], int(team), smoke == "1", Path(folder))))
