"""The speed of the brute kernel beside the peak of this machine.

The peak is the practical one: a large float32 matrix product by the BLAS that NumPy uses, which is
near the FMA peak but not it. The bandwidth is that of a NumPy copy of arrays far beyond the cache.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from benchmarks import generators, plots
from benchmarks.options import Options
from benchmarks.peers import Contender, Coterie, Faiss, ScikitLearn
from benchmarks.report import Results, Row, in_threads, table
from benchmarks.timing import Series, limited, take_turns
from benchmarks.workloads import Problem, distinct_rows

OURS = "coterie"
SHAPES = (  # (n, d, k)
    (1_000_000, 2, 8),
    (1_000_000, 3, 64),
    (200_000, 16, 100),
    (100_000, 32, 1000),
    (50_000, 128, 256),
    (20_000, 784, 10),
    (20_000, 784, 100),
)
SHORT, LONG = 2, 12  # iterations of the two fits whose difference leaves the set-up out
NOTES = """\
float32, `algorithm="brute"`: every iteration evaluates all n k pairs, 2 n k d floating-point
operations. Time per iteration is the difference of a long and a short fit, so that set-up is left
out. *Intensity*: operations per byte if the data is read once per iteration, k / 2. *Roof*: the
lower of the practical peak and bandwidth x intensity. Shares are of the roof. Peers run their own
float32 algorithm on the same data. A dash: the fit converged too early to tell. A question mark:
above the roof, which means that the machine was busy while one of the two was measured."""


def run(options: Options) -> bool:
    """Measure the machine, then every shape; a share is no answer, so this always passes."""
    asked: tuple[Contender, ...] = (Coterie("brute"), ScikitLearn("lloyd"), Faiss())
    running = [one for one in asked if not one.why_missing()]
    results = Results(options, "roofline", key=("n", "d", "k", "threads"))
    rows = (
        measure(max(4 * k, n // 10) if options.quick else n, d, k, threads, running, options)
        for threads in options.threads
        for n, d, k in SHAPES
    )
    passed = results.take(rows, summary)
    results.publish("k-means brute kernel against the roofline", page, draw)
    return passed


def summary(row: Row) -> str:
    """One line per shape, while the run goes on."""
    told = ", ".join(f"{name} {reached:.1f}" for name, reached in row["gflops"].items())
    limits = f"peak {row['peak']:.0f} GFLOP/s, copy {row['bandwidth']:.1f} GB/s"
    shape = f"({row['n']:,}, {row['d']}, {row['k']}) x{row['threads']}"
    return f"{shape}: {told} GFLOP/s; {limits}"


def matmul_peak(size: int = 2048) -> float:
    """GFLOP/s of a square float32 product, the best of five."""
    a = np.random.default_rng(0).random((size, size), dtype=np.float32)
    out = np.empty_like(a)
    seconds = min(_seconds(lambda: np.matmul(a, a, out=out)) for _ in range(5))
    return 2.0 * size**3 / seconds / 1e9


def copy_bandwidth(threads: int) -> float:
    """GB/s read plus written by a copy of 256 MB, shared among the threads, the best of five."""
    source = np.ones(64_000_000, dtype=np.float32)
    target = np.zeros_like(source)
    parts = list(zip(np.array_split(target, threads), np.array_split(source, threads), strict=True))
    with ThreadPoolExecutor(threads) as pool:  # NumPy releases the GIL while it copies

        def copy() -> None:
            list(pool.map(lambda pair: np.copyto(*pair), parts))

        seconds = min(_seconds(copy) for _ in range(5))
    return 2.0 * source.nbytes / seconds / 1e9


def _seconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def measure(
    n: int, d: int, k: int, threads: int, running: list[Contender], options: Options
) -> Row:
    """GFLOP/s of each contender on structureless data, which keeps every fit busy to the end."""
    x = generators.noise(n, d, seed=31).astype(np.float32)
    problem = Problem(x, distinct_rows(x, k, seed=99))

    def call(one: Contender, iterations: int) -> Callable[[], int]:
        return lambda: one.fit(problem.x, problem.means, iterations, threads).iterations

    with limited(threads):
        peak, bandwidth = matmul_peak(), copy_bandwidth(threads)
        for one in running:
            one.warm_up(problem.x, problem.means, threads)
        calls = {(one.name, i): call(one, i) for one in running for i in (SHORT, LONG)}
        named = {f"{name} {i}": one for (name, i), one in calls.items()}
        series = take_turns(named, options.repeat)
    gflops = {}
    for one in running:
        seconds = _per_iteration(series[f"{one.name} {SHORT}"], series[f"{one.name} {LONG}"])
        if seconds:
            gflops[one.name] = 2.0 * n * k * d / seconds / 1e9
    runs = {name: one.record() for name, one in series.items()}
    return {
        "n": n,
        "d": d,
        "k": k,
        "threads": threads,
        "peak": peak,
        "bandwidth": bandwidth,
        "gflops": gflops,
        "runs": runs,
    }


def limits(rows: list[Row], threads: int) -> tuple[float, float]:
    """(peak, bandwidth): the highest seen beside any shape, since a busy moment lowers them."""
    chosen = [row for row in rows if row["threads"] == threads]
    return max(row["peak"] for row in chosen), max(row["bandwidth"] for row in chosen)


def _per_iteration(short: Series[int], long: Series[int]) -> float | None:
    """Seconds per iteration; None where a fit failed, converged early, or noise won.

    A fit that converged makes one pass less at its end than one that was cut off, so the two no
    longer differ by whole iterations.
    """
    if (short.answer, long.answer) != (SHORT, LONG):
        return None
    seconds = (long.best - short.best) / (LONG - SHORT)
    return seconds if seconds > 0 else None


def page(rows: list[Row]) -> str:
    """The machine's two limits, then one line per shape."""
    names = [n for n in (OURS, "lloyd", "faiss") if any(n in row["gflops"] for row in rows)]
    header = ["n, d, k", "threads", "intensity", "peak", "GB/s", "roof"]
    header += [f"{name} GFLOP/s (share)" for name in names]
    cells = []
    for row in rows:
        peak, bandwidth = limits(rows, row["threads"])
        intensity = row["k"] / 2
        roof = min(peak, bandwidth * intensity)
        cells.append(
            [
                f"{row['n']:,}, {row['d']}, {row['k']}",
                str(row["threads"]),
                f"{intensity:g}",
                f"{peak:.0f}",
                f"{bandwidth:.1f}",
                f"{roof:.0f}",
                *(_share(row["gflops"].get(name), roof) for name in names),
            ]
        )
    return f"{NOTES}\n\n{table(header, cells)}"


def _share(reached: float | None, roof: float) -> str:
    if reached is None:
        return "-"
    return f"{reached:.1f} ({reached / roof:.0%})" + " ?" * (reached > roof)


def draw(rows: list[Row], path: Path) -> None:
    """The classic picture: GFLOP/s over intensity, under the roof; one panel per thread count."""
    counts = sorted({row["threads"] for row in rows})
    chart, axes = plots.figure(1, len(counts), 6.4 * len(counts) + 0.4, 4.8)
    for panel, threads in zip(axes.ravel(), counts, strict=True):
        chosen = [row for row in rows if row["threads"] == threads]
        peak, bandwidth = limits(rows, threads)
        intensity = np.geomspace(2, 1000, 50)
        roof = np.minimum(peak, bandwidth * intensity)
        panel.plot(intensity, roof, color="#555555", linewidth=1.5, label="roof")
        for row in chosen:
            for name, reached in row["gflops"].items():
                size = 80 if name == OURS else 36
                panel.scatter([row["k"] / 2], [reached], s=size, **plots.look(name))
            top = max(row["gflops"].values(), default=None)
            if top:
                where = {"xytext": (0, 7), "textcoords": "offset points", "ha": "center"}
                panel.annotate(f"d={row['d']}", (row["k"] / 2, top), fontsize=8, **where)
        plots.logarithmic(panel, "x", "y")
        panel.set_xlabel("operations per byte of data (k / 2)")
        panel.set_ylabel("GFLOP/s, float32")
        panel.set_title(f"{in_threads(threads)}: peak {peak:.0f} GFLOP/s, {bandwidth:.1f} GB/s")
        plots.tidy(panel)
    plots.legend_below(chart, axes)
    plots.save(chart, path)
