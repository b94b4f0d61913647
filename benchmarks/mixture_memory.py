"""Peak memory of one mixture fit, in a process of its own, printed as JSON.

python -m benchmarks.mixture_memory CONTENDER WORKLOAD THREADS QUICK
"""

from __future__ import annotations

import json
import sys

from benchmarks.memory_probe import give_back, peak, resident_after_reset
from benchmarks.mixture_peers import PEERS
from benchmarks.mixture_workloads import load, select
from benchmarks.timing import limited


def probe(name: str, workload: str, threads: int, quick: bool) -> dict[str, int]:
    """Bytes at the peak beyond the resident memory before the fit."""
    chosen = select((workload,))[0]
    X, start = load(chosen, quick)
    with limited(threads):
        PEERS[name](chosen, X[: 10 * chosen.k], start, 1, threads)  # loads its libraries
        give_back()  # making the rows left more in the heap than a fit needs
        before = resident_after_reset()
        PEERS[name](chosen, X, start, 2, threads)
    return {"beyond": peak() - before}


if __name__ == "__main__":
    who, what, team, smoke = sys.argv[1:]
    print(json.dumps(probe(who, what, int(team), smoke == "1")))
