"""Peak memory beyond the data: one process per contender, workload and precision."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks import plots
from benchmarks.apart import run_apart
from benchmarks.options import Options
from benchmarks.peers import PEERS, Contender, contenders
from benchmarks.report import Results, Row, cell, in_threads, table
from benchmarks.workloads import Workload, load, select

OURS = "coterie"
PROMISE = 0.25  # of the data
DEFAULT = ("blobs-2d", "photo-256", "blobs-16d", "blobs-32d", "mnist-100")
PEER_ITERATIONS = 3
NOTES = f"""\
MB of resident memory at the peak of a fit, beyond what was resident before it (the data, the
libraries), and in parentheses its share of the data; labels and means are part of it. Ours runs to
convergence, because it may take up bounds on the way; peers, which allocate all they need at the
start, run {PEER_ITERATIONS} iterations. *Promise*: at most {PROMISE:g} x the data."""


def run(options: Options) -> bool:
    """Fill the table; memory has no wrong answers, so this always passes."""
    running = contenders(options.peers)
    results = Results(options, "memory", key=("workload", "dtype", "threads"))
    rows = (
        measure(workload, dtype, threads, running, options)
        for threads in options.threads
        for dtype in options.dtypes
        for workload in select(options.only or DEFAULT)
    )
    passed = results.take(rows, summary)
    results.publish("Peak memory of k-means beyond the data", page, draw)
    return passed


def summary(row: Row) -> str:
    """One line per row, while the run goes on."""
    shares = ", ".join(f"{n} {cell(e, _share)}" for n, e in row["contenders"].items())
    return f"{row['workload']} {row['dtype']} x{row['threads']}: {shares}"


def measure(
    workload: Workload, dtype: str, threads: int, running: list[Contender], options: Options
) -> Row:
    """One probe per contender, one after the other."""
    data = load(workload, dtype, options.quick, options.cache).x.nbytes  # also fills the cache
    able = [one for one in running if dtype in one.dtypes]
    return {
        "workload": workload.name,
        "n": workload.rows(options.quick),
        "d": workload.d,
        "k": workload.k,
        "dtype": dtype,
        "threads": threads,
        "data": data,
        "contenders": {
            one.name: _probe(one.name, workload, dtype, threads, options) for one in able
        },
    }


def _probe(name: str, workload: Workload, dtype: str, threads: int, options: Options) -> Row:
    iterations = workload.max_iter if name == OURS else PEER_ITERATIONS
    arguments = [name, workload.name, dtype, threads, iterations, int(options.quick), options.cache]
    done = run_apart("benchmarks.memory_probe", *arguments)
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:] or [f"exit code {done.returncode}"]
        return {"failure": last[0]}
    found: Row = json.loads(done.stdout.splitlines()[-1])
    return {**found, "share": found["beyond"] / found["data"]}


def page(rows: list[Row]) -> str:
    """One line per workload, precision and number of threads."""
    names = [OURS, *(one.name for one in PEERS)]
    names = [name for name in names if any(name in row["contenders"] for row in rows)]
    header = ["workload (n, d, k)", "dtype", "threads", "data MB", *names, "promise kept"]
    cells = []
    for row in rows:
        ours = row["contenders"].get(OURS, {})
        kept = "-" if "share" not in ours else ("yes" if ours["share"] <= PROMISE else "**no**")
        cells.append(
            [
                f"{row['workload']} ({row['n']:,}, {row['d']}, {row['k']})",
                row["dtype"],
                str(row["threads"]),
                f"{row['data'] / 1e6:.1f}",
                *(cell(row["contenders"].get(name), _share) for name in names),
                kept,
            ]
        )
    return f"{NOTES}\n\n{table(header, cells)}"


def _share(entry: Row) -> str:
    return f"{entry['beyond'] / 1e6:.1f} ({entry['share']:.2f})"


def draw(rows: list[Row], path: Path) -> None:
    """Share of the data on a log axis, a marker per contender, the promise as a line."""
    chart, axes = plots.figure(1, 1, 8.5, 1.6 + 0.42 * len(rows))
    panel = axes[0, 0]
    for height, row in enumerate(rows):
        for name, entry in row["contenders"].items():
            if "share" in entry:
                size = 90 if name == OURS else 42
                panel.scatter([max(entry["share"], 1e-3)], [height], s=size, **plots.look(name))
    panel.axvline(PROMISE, color="#555555", linestyle="--", linewidth=1, label="our promise")
    labels = [f"{r['workload']}, {r['dtype']}, {in_threads(r['threads'])}" for r in rows]
    panel.set_yticks(range(len(rows)), labels)
    panel.set_ylim(len(rows) - 0.5, -0.5)
    plots.logarithmic(panel, "x")
    panel.set_xlabel("peak memory beyond the data, as a share of the data")
    plots.tidy(panel)
    plots.legend_below(chart, axes)
    plots.save(chart, path)
