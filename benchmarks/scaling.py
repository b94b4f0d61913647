"""Cost of an iteration as n, d and k grow, one at a time, around one middle problem."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import generators, plots
from benchmarks.answers import check_own, error, relative
from benchmarks.options import Options
from benchmarks.peers import Contender, Fit, contenders
from benchmarks.report import Results, Row, figures, in_threads, progress, table
from benchmarks.timing import limited, take_turns
from benchmarks.workloads import Problem, distinct_rows

Points = list[tuple[int, float]]  # (size, seconds per iteration)

OURS = "coterie"
ITERATIONS = 10
NOTES = f"""\
Milliseconds per iteration, best round, over a fit of {ITERATIONS} iterations from the same initial
means on overlapping blobs; set-up costs are inside. One of n, d and k grows while the other two
stay. *Exponent*: slope of log time over log size in the upper half of the range; 1 is linear."""


@dataclass(frozen=True)
class Shape:
    """Rows, columns and clusters of one problem."""

    n: int = 50_000
    d: int = 16
    k: int = 32

    def problem(self, dtype: str) -> Problem:
        """Blobs that overlap enough not to converge within the few iterations timed here."""
        x = generators.blobs(self.n, self.d, 2 * self.k, 6.0, seed=21).astype(dtype)
        return Problem(x, distinct_rows(x, self.k, seed=99))


GRIDS: dict[str, tuple[int, ...]] = {
    "n": (3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000),
    "d": (2, 4, 8, 16, 32, 64, 128, 256),
    "k": (2, 8, 32, 128, 512),
}


def run(options: Options) -> bool:
    """Measure the three grids; `--only` takes n, d or k."""
    unknown = set(options.only) - set(GRIDS)
    if unknown and set(options.only) == unknown:
        progress(f"scaling: --only takes n, d or k, not {', '.join(sorted(unknown))}; skipped")
        return True
    running = contenders(options.peers)
    results = Results(options, "scaling", key=("axis", "value", "dtype", "threads"))
    rows = (
        measure(axis, value, dtype, threads, running, options)
        for threads in options.threads
        for dtype in options.dtypes
        for axis in GRIDS
        if not options.only or axis in options.only
        for value in GRIDS[axis]
    )
    passed = results.take(rows, summary)
    results.publish("Cost of a k-means iteration as the problem grows", page, draw)
    return passed


def summary(row: Row) -> str:
    """One line per shape, while the run goes on."""
    costs = [(n, e.get("per_iteration")) for n, e in row["contenders"].items()]
    told = ", ".join(f"{name} {_milliseconds(cost)} ms" for name, cost in costs)
    where = f"{row['axis']}={row['value']} {row['dtype']} x{row['threads']}"
    return " ".join([f"{where}: {told}", *row["faults"]])


def measure(
    axis: str, value: int, dtype: str, threads: int, running: list[Contender], options: Options
) -> Row:
    """All contenders that report their iterations, on one shape."""
    shape = replace(Shape(), **{axis: value})
    if options.quick:
        shape = replace(shape, n=max(4 * shape.k, shape.n // 10))
    problem = shape.problem(dtype)
    able = [one for one in running if dtype in one.dtypes]

    def call(one: Contender) -> Callable[[], Fit]:
        return lambda: one.fit(problem.x, problem.means, ITERATIONS, threads)

    with limited(threads):
        for one in able:
            one.warm_up(problem.x, problem.means, threads)
        series = take_turns({one.name: call(one) for one in able}, options.repeat, options.patience)
    ours = series[OURS].answer if OURS in series else None
    entries: dict[str, Row] = {}
    for name, runs in series.items():
        fit = runs.answer
        if fit is None or fit.iterations:  # mlpack does not say how many it made
            entries[name] = runs.record()
        if fit is not None and fit.iterations:
            entries[name]["per_iteration"] = runs.best / fit.iterations
            if ours:
                gap = relative(error(problem.x, fit), error(problem.x, ours))
                entries[name]["error_gap"] = gap
    faults = check_own(problem.x, ours, ITERATIONS) if ours else []
    if OURS in series and series[OURS].failure:
        faults.append(series[OURS].failure)
    return {
        "axis": axis,
        "value": value,
        "n": shape.n,
        "d": shape.d,
        "k": shape.k,
        "dtype": dtype,
        "threads": threads,
        "contenders": entries,
        "faults": faults,
    }


def curves(rows: list[Row], axis: str, dtype: str, threads: int) -> dict[str, Points]:
    """Per contender the points (size, seconds per iteration), in order of size."""
    found: dict[str, Points] = {}
    for row in sorted(rows, key=lambda row: int(row["value"])):
        if (row["axis"], row["dtype"], row["threads"]) == (axis, dtype, threads):
            for name, entry in row["contenders"].items():
                if "per_iteration" in entry:
                    found.setdefault(name, []).append((row[axis], entry["per_iteration"]))
    return found


def exponent(points: Points) -> float | None:
    """Slope of log time over log size in the upper half; None for fewer than two points."""
    upper = np.log(np.array(points[len(points) // 2 :], dtype=float))
    if len(upper) < 2:
        return None
    return float(np.polyfit(upper[:, 0], upper[:, 1], 1)[0])


def page(rows: list[Row]) -> str:
    """A table per grid, precision and number of threads, with the exponents below."""
    parts = [NOTES]
    for threads, dtype in sorted({(row["threads"], row["dtype"]) for row in rows}):
        for axis in GRIDS:
            lines = curves(rows, axis, dtype, threads)
            sizes = sorted({size for points in lines.values() for size, _ in points})
            if not sizes:
                continue
            cells = [
                [f"{size:,}", *(_milliseconds(dict(points).get(size)) for points in lines.values())]
                for size in sizes
            ]
            cells.append(["exponent", *(figures(exponent(points)) for points in lines.values())])
            heading = f"## {axis} grows, {dtype}, {in_threads(threads)}"
            parts.append(f"{heading}\n\n{table([axis, *lines], cells)}")
    return "\n\n".join(parts)


def _milliseconds(seconds: float | None) -> str:
    return "-" if seconds is None else figures(1e3 * seconds)


def draw(rows: list[Row], path: Path) -> None:
    """A panel per grid, precision and number of threads, logarithmic on both axes."""
    shown = sorted({(row["threads"], row["dtype"]) for row in rows})
    measured = [axis for axis in GRIDS if any(row["axis"] == axis for row in rows)]
    wide, high = 4.4 * len(measured) + 1.0, 3.6 * len(shown) + 0.5
    chart, axes = plots.figure(len(shown), len(measured), wide, high)
    for line, (threads, dtype) in zip(axes, shown, strict=True):
        for panel, axis in zip(line, measured, strict=True):
            _draw_curves(panel, curves(rows, axis, dtype, threads))
            panel.set_xlabel(axis)
            panel.set_title(f"{axis} grows: {dtype}, {in_threads(threads)}", fontsize=10)
        line[0].set_ylabel("milliseconds per iteration")
    plots.legend_below(chart, axes)
    plots.save(chart, path)


def _draw_curves(panel: Any, lines: dict[str, Points]) -> None:
    for name, points in lines.items():
        sizes, seconds = zip(*points, strict=True)
        width = 2.4 if name == OURS else 1.2
        panel.plot(sizes, [1e3 * s for s in seconds], linewidth=width, **plots.look(name))
    plots.logarithmic(panel, "x", "y")
    plots.tidy(panel)
