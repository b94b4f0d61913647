"""DBSCAN for every eps: the time of a fit and of labels(eps), beside single fits of DBSCAN and
beside fast_hdbscan, which builds the same spanning tree in float32."""

from __future__ import annotations

import contextlib
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import generators, plots
from benchmarks.dbscan_peers import OURS, PEERS, Answer, verdict
from benchmarks.dbscan_workloads import MIN_SAMPLES, SKLEARN
from benchmarks.options import Options
from benchmarks.report import Results, Row, figures, in_threads, seconds_by_size, table
from benchmarks.timing import limited, take_turns

SIZES = (10_000, 100_000, 1_000_000)
TREE, LABELS, ONE, HDBSCAN = "fit", "labels(eps)", "one DBSCAN", "fast_hdbscan tree"
LARGEST = {  # rows, by number of columns: beyond that it takes minutes
    TREE: {2: 1_000_000, 4: 1_000_000, 8: 1_000_000, 16: 100_000},
    HDBSCAN: {2: 1_000_000, 4: 100_000, 8: 100_000, 16: 10_000},
    SKLEARN: {2: 100_000, 4: 100_000, 8: 100_000, 16: 10_000},
}
PACKAGES = ("coterie", "numpy", "scipy", "scikit-learn", "fast_hdbscan", "threadpoolctl")
SINGLE = 2e-3  # how far float32 may be off, relative to the largest edge
NOTES = f"""\
Milliseconds, best round; min_samples = {MIN_SAMPLES}. Twenty round blobs. *{TREE}*:
`DBSCANPath.fit`, which answers for every eps. *{LABELS}*: one answer from it, at the eps that makes
four fifths of the points core. *{ONE}*: `DBSCAN.fit` of Coterie at that eps. *{SKLEARN}*: the same
by scikit-learn. *{HDBSCAN}*: nearest points and spanning tree of fast_hdbscan in float32, without
labels. Labels are checked against both DBSCANs, and the edges of the trees against each other."""


def run(options: Options) -> bool:
    """`--only` takes names such as 2d or 16d."""
    results = Results(options, "path", key=("d", "n", "threads"), packages=PACKAGES)
    sizes = options.sizes(SIZES, LARGEST[TREE])
    rows = (measure(n, d, threads, options) for n, d, threads in sizes)
    passed = results.take(rows, seconds_by_size)
    results.publish("DBSCAN for every eps", page, draw)
    return passed


def measure(n: int, d: int, threads: int, options: Options) -> Row:
    """One size: the structure, an answer from it, and the peers."""
    from coterie import DBSCANPath

    x = generators.blobs(n, d, 20, 1.0, seed=d)
    path = DBSCANPath(MIN_SAMPLES, n_jobs=threads).fit(x)
    eps = float(np.quantile(path.core_distances_, 0.8))
    calls: dict[str, Any] = {
        TREE: partial(DBSCANPath(MIN_SAMPLES, n_jobs=threads).fit, x),
        LABELS: partial(path.labels, eps),
        ONE: partial(PEERS[OURS], x, eps, threads),
        SKLEARN: partial(PEERS[SKLEARN], x, eps, threads),
        HDBSCAN: partial(hdbscan_edges, x, threads),
    }
    calls = {
        name: call
        for name, call in calls.items()
        if n <= LARGEST.get(name, LARGEST[TREE])[d]
        and (name in (TREE, LABELS, ONE) or name in (options.peers or calls))
    }
    with limited(threads):
        if HDBSCAN in calls:  # compiled when first called
            try_hdbscan(x[:2000], threads)
        series = take_turns(calls, options.repeat, options.patience, always=TREE)
    ours = Answer(path.labels(eps), path.core(eps))
    faults = []
    for name in (ONE, SKLEARN):
        if name in series and series[name].answer is not None:
            word = verdict(ours, series[name].answer)
            faults += [f"{name}: {word}"] if word.startswith("wrong") else []
    if HDBSCAN in series and series[HDBSCAN].answer is not None:
        edges = np.sort(path.merge_distances_)
        off = float(np.abs(edges - series[HDBSCAN].answer).max() / edges[-1])
        faults += [f"{HDBSCAN}: edges differ by {off:.2g}"] if off > SINGLE else []
    return {
        "n": n,
        "d": d,
        "eps": eps,
        "threads": threads,
        "seconds": {name: round(one.best, 6) for name, one in series.items() if one.wall},
        "failures": {name: one.failure for name, one in series.items() if one.failure},
        "faults": faults,
    }


def hdbscan_edges(x: NDArray[np.float64], threads: int) -> NDArray[np.float64]:
    """The sorted lengths of its edges. It does not count a point itself."""
    import numba
    from fast_hdbscan.hdbscan import compute_minimum_spanning_tree

    numba.set_num_threads(threads)
    edges, _, _ = compute_minimum_spanning_tree(x, min_samples=MIN_SAMPLES - 1)
    return np.sort(np.asarray(edges, dtype=np.float64)[:, 2])


def try_hdbscan(x: NDArray[np.float64], threads: int) -> None:
    """Import fast_hdbscan if it is installed; the timed call reports if it is not."""
    with contextlib.suppress(ImportError):
        hdbscan_edges(x, threads)


def page(rows: list[Row]) -> str:
    """A table per number of threads."""
    parts = [NOTES]
    names = [TREE, LABELS, ONE, SKLEARN, HDBSCAN]
    for threads in sorted({row["threads"] for row in rows}):
        chosen = [row for row in rows if row["threads"] == threads]
        cells = [
            [f"{row['n']:,} x {row['d']}", *(_milliseconds(row, name) for name in names)]
            for row in sorted(chosen, key=lambda row: (row["d"], row["n"]))
        ]
        heading = f"## {in_threads(threads)}"
        parts.append(f"{heading}\n\n{table(['rows x columns', *names], cells)}")
    return "\n\n".join(parts)


def _milliseconds(row: Row, name: str) -> str:
    seconds = row["seconds"].get(name)
    return "-" if seconds is None else figures(1e3 * seconds)


def draw(rows: list[Row], path: Path) -> None:
    """A panel per number of columns, logarithmic on both axes."""
    shown = sorted({(row["threads"], row["d"]) for row in rows})
    chart, axes = plots.figure(1, len(shown), 3.6 * len(shown) + 0.6, 4.2)
    looks = {
        TREE: plots.look("coterie"),
        LABELS: plots.look("lloyd"),
        ONE: plots.look("elkan"),
        SKLEARN: plots.look("sklearnex"),
        HDBSCAN: plots.look("faiss"),
    }
    for panel, (threads, d) in zip(axes[0], shown, strict=True):
        chosen = [row for row in rows if (row["threads"], row["d"]) == (threads, d)]
        chosen.sort(key=lambda row: int(row["n"]))
        for name, look in looks.items():
            curve = [(r["n"], 1e3 * r["seconds"][name]) for r in chosen if name in r["seconds"]]
            if curve:
                panel.plot(*zip(*curve, strict=True), **{**look, "label": name})
        plots.logarithmic(panel, "x", "y")
        plots.tidy(panel)
        panel.set_xticks(SIZES, labels=[f"{n:,}" for n in SIZES])
        panel.set_xticks([], minor=True)
        panel.set_xlabel("rows")
        panel.set_title(f"{d} columns, {in_threads(threads)}", fontsize=10)
    axes[0][0].set_ylabel("milliseconds")
    plots.legend_below(chart, axes)
    plots.save(chart, path)
