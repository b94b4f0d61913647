"""Whole fits to convergence, from the same initial means: ours beside every peer."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.answers import Comparison, check_own, compare, error, fingerprint
from benchmarks.kmeans_page import OURS, draw, page, summary
from benchmarks.options import Options
from benchmarks.peers import Contender, Fit, contenders
from benchmarks.report import Results, Row
from benchmarks.timing import Series, limited, take_turns
from benchmarks.workloads import Problem, Workload, load, select


def run(options: Options) -> bool:
    """Fill the table; True if every answer of ours held."""
    running = contenders(options.peers)
    results = Results(options, "kmeans", key=("workload", "dtype", "threads"))
    rows = (
        measure(workload, dtype, threads, running, options)
        for threads in options.threads
        for dtype in options.dtypes
        for workload in select(options.only)
    )
    passed = results.take(rows, summary)
    results.publish("k-means: whole fits", page, draw)
    return passed


def measure(
    workload: Workload, dtype: str, threads: int, running: list[Contender], options: Options
) -> Row:
    """One row: all contenders on one workload, in one precision, with one number of threads."""
    problem = load(workload, dtype, options.quick, options.cache)
    able = [one for one in running if dtype in one.dtypes]
    with limited(threads):
        for one in able:
            one.warm_up(problem.x, problem.means, threads)
        calls = _calls(able, problem, workload.max_iter, threads)
        rounds = Rounds(problem)
        series = take_turns(calls, options.repeat, options.patience, after=rounds.check)
    return _row(workload, dtype, threads, problem, series, rounds.iterations)


class Rounds:
    """Checks that every round solves the given problem, and not one that is solved already."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.intact = fingerprint(problem.x, problem.means)
        self.iterations: dict[str, list[int]] = {}

    def check(self, name: str, fit: Fit) -> None:
        """Note the iterations; stop everything if the shared input was written to."""
        self.iterations.setdefault(name, []).append(fit.iterations)
        if fingerprint(self.problem.x, self.problem.means) != self.intact:
            raise RuntimeError(f"{name} changed the data or the initial means in place")


def _calls(
    able: list[Contender], problem: Problem, max_iter: int, threads: int
) -> dict[str, Callable[[], Fit]]:
    """A closure per contender; those without a stopping rule repeat the iterations of the first."""
    made: list[int] = []

    def call(one: Contender) -> Callable[[], Fit]:
        def fit() -> Fit:
            cap = made[0] if one.stops == "count" and made else max_iter
            answer = one.fit(problem.x, problem.means, cap, threads)
            if not made and answer.iterations:
                made.append(answer.iterations)
            return answer

        return fit

    return {one.name: call(one) for one in able}


def _row(
    workload: Workload,
    dtype: str,
    threads: int,
    problem: Problem,
    series: dict[str, Series[Fit]],
    iterations: dict[str, list[int]],
) -> Row:
    ours = series[OURS].answer if OURS in series else None
    reference = ours or next(one.answer for one in series.values() if one.answer)
    entries: dict[str, Row] = {}
    for name, one in series.items():
        entries[name] = one.record()
        if one.answer is None:
            continue
        entries[name]["iterations"] = iterations[name]
        entries[name]["error"] = error(problem.x, one.answer)
        if one.answer is not reference:
            entries[name] |= _compared(compare(problem.x, reference, one.answer))
    faults = check_own(problem.x, ours, workload.max_iter) if ours else []
    if OURS in series and series[OURS].failure:
        faults.append(series[OURS].failure)
    exact = [e for name, e in entries.items() if name != OURS and "verdict" in e]
    if ours and dtype == "float64" and exact and not any(_agrees(entry) for entry in exact):
        faults.append("no peer gives the same labels or the same error")
    target = workload.target(dtype)
    n, d = problem.x.shape
    return {
        "workload": workload.name,
        "n": n,
        "d": d,
        "k": workload.k,
        "dtype": dtype,
        "threads": threads,
        "max_iter": workload.max_iter,
        "iterations": reference.iterations,
        "contenders": entries,
        **ratios(entries),
        "floor": target.floor,
        "stretch": target.stretch,
        "faults": faults,
    }


def _agrees(entry: Row) -> bool:
    return entry["verdict"] in ("same labels", "same error")


def _compared(comparison: Comparison) -> Row:
    return {
        "verdict": comparison.verdict,
        "counts": comparison.counts,
        "rows_differing": comparison.rows_differing,
        "ties": comparison.ties,
        "error_gap": comparison.error_gap,
    }


def ratios(entries: dict[str, Row]) -> Row:
    """Best peer over ours, by best, median and CPU times; None where one of the two is missing."""
    counted = {name: e for name, e in entries.items() if e.get("counts") and "best" in e}
    ours = entries.get(OURS, {})
    if not counted or "best" not in ours:
        return {"best_peer": None, "ratio": None, "ratio_of_medians": None, "ratio_of_cpu": None}
    best_peer = min(counted, key=lambda name: counted[name]["best"])
    return {
        "best_peer": best_peer,
        "ratio": counted[best_peer]["best"] / ours["best"],
        "ratio_of_medians": min(e["median"] for e in counted.values()) / ours["median"],
        "ratio_of_cpu": min(min(e["cpu"]) for e in counted.values()) / min(ours["cpu"]),
    }
