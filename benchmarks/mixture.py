"""Gaussian mixtures: the time of an EM iteration, whole default fits, peak memory."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks import mixture_memory
from benchmarks.apart import run_apart
from benchmarks.mixture_page import draw, page, summary
from benchmarks.mixture_peers import OURS, PEERS, Found, able, default_fit
from benchmarks.mixture_workloads import Workload, load, select
from benchmarks.options import Options
from benchmarks.report import Results, Row
from benchmarks.timing import limited, take_turns

# Iterations of the two fits timed: far apart, since the cost of new memory to scikit-learn varies
# by more than an iteration. One and three gave from -415 to 1053 ms for one that takes 650.
FEW = {OURS: (2, 22), "oneDAL": (1, 8), "scikit-learn": (2, 8)}
DEFAULT_ROWS = 200_000  # rows of whole fits, at most: larger ones of scikit-learn take minutes,
DEFAULT_WORK = 4_000_000_000  # and at most this many products of an M step
LEAST = 1.0  # seconds that each contender has in a round
SAME = 1e-6  # relative difference of answers after the same iterations


def run(options: Options) -> bool:
    """Fill the table; True if every answer of ours held."""
    results = Results(options, "mixture", key=("workload", "threads"))
    rows = (
        measure(workload, threads, options)
        for threads in options.threads
        for workload in select(options.only)
    )
    passed = results.take(rows, summary)
    results.publish("Gaussian mixtures", page, draw)
    return passed


def measure(workload: Workload, threads: int, options: Options) -> Row:
    X, start = load(workload, options.quick)
    names = [n for n in PEERS if able(n, workload) and (not options.peers or n in options.peers)]
    entries: dict[str, Row] = {}
    faults: list[str] = []
    with limited(threads):
        answers = {name: PEERS[name](workload, X, start, 2, threads) for name in names}
        calls = {
            (name, n): lambda name=name, n=n: PEERS[name](workload, X, start, n, threads)
            for name in names
            for n in FEW[name]
        }
        labelled = {f"{name} {n}": call for (name, n), call in calls.items()}
        # All of them in every round: a long fit timed once beside a short one timed often would
        # make iterations longer than they are.
        series = take_turns(labelled, options.repeat, least=LEAST)
        for name in names:
            few, more = (series[f"{name} {n}"] for n in FEW[name])
            failure = few.failure or more.failure
            if failure or few.answer is None or more.answer is None:
                entries[name] = {"failure": failure}
                continue
            # oneDAL ends before its number of iterations if the likelihood no longer grows.
            made = more.answer.iterations - few.answer.iterations
            entries[name] = {
                "iteration": (more.best - few.best) / made,
                "few": few.record(),
                "more": more.record(),
            }
            if name != OURS:
                gap = difference(answers[OURS], answers[name])
                entries[name]["gap"] = gap
                if name == "scikit-learn" and gap > SAME:
                    faults.append(f"differs from scikit-learn by {gap:.1e}")
    for name in names:
        entries[name] |= {"memory": memory_of(name, workload, threads, options.quick)}
    n = min(len(X), DEFAULT_ROWS, DEFAULT_WORK // (workload.d**2 * workload.k))
    whole = whole_fits(replace(workload, n=n), X[:n], threads, options)
    return {
        "workload": workload.name,
        "label": workload.label,
        "n": len(X),
        "d": workload.d,
        "k": workload.k,
        "family": workload.family,
        "data": X.nbytes,
        "threads": threads,
        "floor": workload.floor,
        "contenders": entries,
        "whole": whole,
        "faults": faults,
    }


def whole_fits(workload: Workload, X: Any, threads: int, options: Options) -> Row:
    """Default fits, start included. Starts are drawn differently, so scores are shown too."""
    names = (OURS, "scikit-learn")
    with limited(threads):
        series = take_turns(
            {name: lambda name=name: default_fit(name, workload, X, threads) for name in names}, 1
        )
    entries: Row = {"n": len(X)}
    for name in names:
        answer = series[name].answer
        entries[name] = series[name].record()
        if answer is not None:
            entries[name] |= {"iterations": answer.iterations, "score": answer.score}
    return entries


def difference(a: Found, b: Found) -> float:
    """The largest relative difference of means and covariances."""
    parts = ((a.means, b.means), (a.covariances, b.covariances))
    return max(float(np.abs(x - y).max() / np.abs(x).max()) for x, y in parts)


def memory_of(name: str, workload: Workload, threads: int, quick: bool) -> Any:
    """Bytes beyond the data at the peak of a fit, measured in a process of its own."""
    done = run_apart(mixture_memory.__name__, name, workload.name, threads, int(quick))
    return None if done.returncode else json.loads(done.stdout.splitlines()[-1])["beyond"]
