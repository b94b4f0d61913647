"""Cost of DBSCAN as n grows from 1e4 to 1e7, eps shrinking so that neighbourhoods stay alike."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from benchmarks import generators, plots
from benchmarks.dbscan_peers import OURS, PACKAGES, PEERS, contenders, verdict
from benchmarks.dbscan_workloads import SKLEARN, WANG
from benchmarks.options import Options
from benchmarks.report import Results, Row, figures, in_threads, seconds_by_size, table
from benchmarks.scaling import exponent
from benchmarks.timing import limited, take_turns

SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000)
EPS_AT_A_MILLION = {2: 0.05, 3: 0.2, 8: 1.3}
LARGEST = {  # rows, by number of columns: more take minutes or too much memory
    OURS: {2: 10_000_000, 3: 10_000_000, 8: 1_000_000},
    SKLEARN: {2: 1_000_000, 3: 300_000, 8: 30_000},
    WANG: {2: 10_000_000},  # wrong above two columns
}
NOTES = """\
Milliseconds, best round. Twenty round blobs; eps shrinks with n so that a point keeps about the
same number of neighbours. *Exponent*: slope of log time over log n in the upper half of the range;
1 is linear."""


def run(options: Options) -> bool:
    """`--only` takes names such as 2d or 3d."""
    chosen = contenders(options.peers)
    results = Results(options, "dbscan-scaling", key=("d", "n", "threads"), packages=PACKAGES)
    sizes = options.sizes(SIZES, LARGEST[OURS])
    rows = (measure(n, d, threads, chosen, options) for n, d, threads in sizes)
    passed = results.take(rows, seconds_by_size)
    results.publish("DBSCAN as n grows", page, draw)
    return passed


def measure(n: int, d: int, threads: int, chosen: list[str], options: Options) -> Row:
    """All contenders that can take one size."""
    x = generators.blobs(n, d, 20, 1.0, seed=d)
    eps = EPS_AT_A_MILLION[d] * (1e6 / n) ** (1 / d)
    able = [name for name in chosen if n <= LARGEST[name].get(d, 0)]
    with limited(threads):
        for name in able:
            PEERS[name](x[:2000], eps, threads)
        calls = {name: partial(PEERS[name], x, eps, threads) for name in able}
        series = take_turns(calls, options.repeat, options.patience)
    ours = series[OURS].answer
    told = {
        name: verdict(ours, one.answer)
        for name, one in series.items()
        if name != OURS and one.answer is not None and ours is not None
    }
    return {
        "n": n,
        "d": d,
        "eps": eps,
        "threads": threads,
        "seconds": {name: round(one.best, 5) for name, one in series.items() if one.wall},
        "verdicts": told,
        "faults": [f"{name}: {word}" for name, word in told.items() if word.startswith("wrong")],
    }


def _curve(rows: list[Row], name: str) -> list[tuple[int, float]]:
    found = [(row["n"], row["seconds"][name]) for row in rows if name in row["seconds"]]
    return sorted(found)


def page(rows: list[Row]) -> str:
    """A table per number of columns and of threads."""
    parts = [NOTES]
    for threads, d in sorted({(row["threads"], row["d"]) for row in rows}):
        chosen = [row for row in rows if (row["threads"], row["d"]) == (threads, d)]
        names = [name for name in PEERS if _curve(chosen, name)]
        curves = {name: dict(_curve(chosen, name)) for name in names}
        cells = [
            [f"{n:,}", *(figures(1e3 * c[n]) if n in c else "-" for c in curves.values())]
            for n in sorted(curves[OURS])
        ]
        cells.append(["exponent", *(figures(exponent(_curve(chosen, name))) for name in names)])
        heading = f"## {d} columns, {in_threads(threads)}"
        parts.append(f"{heading}\n\n{table(['n', *names], cells)}")
    return "\n\n".join(parts)


def draw(rows: list[Row], path: Path) -> None:
    """A panel per number of columns, logarithmic on both axes."""
    shown = sorted({(row["threads"], row["d"]) for row in rows})
    chart, axes = plots.figure(1, len(shown), 4.6 * len(shown) + 0.6, 4.2)
    for panel, (threads, d) in zip(axes[0], shown, strict=True):
        chosen = [row for row in rows if (row["threads"], row["d"]) == (threads, d)]
        for name in PEERS:
            if curve := _curve(chosen, name):
                sizes, seconds = zip(*curve, strict=True)
                width = 2.4 if name == OURS else 1.2
                panel.plot(sizes, [1e3 * s for s in seconds], linewidth=width, **plots.look(name))
        plots.logarithmic(panel, "x", "y")
        plots.tidy(panel)
        panel.set_xlabel("rows")
        panel.set_title(f"{d} columns, {in_threads(threads)}", fontsize=10)
    axes[0][0].set_ylabel("milliseconds")
    plots.legend_below(chart, axes)
    plots.save(chart, path)
