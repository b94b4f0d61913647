"""From a Parquet file to clusters: `coterie kmeans` as a whole, its parts, and pyarrow alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import generators, plots
from benchmarks.options import Options
from benchmarks.report import Results, Row, figures, in_threads, seconds_by_size, table
from benchmarks.timing import take_turns

N, D, K = 10_000_000, 8, 8
READ, TABLE, MATRIX, WHOLE = "coterie.read", "pyarrow table", "pyarrow matrix", "coterie kmeans"
FRESH = "pyarrow table, new process"
PARTS = ("starting", "reading", "fitting", "looking for faults", "writing")
PACKAGES = ("coterie", "numpy", "pyarrow", "scikit-learn")
NOTES = f"""\
Seconds, best round. A Parquet file of float64 columns, as pyarrow writes it, in the page cache.
*{READ}*: `coterie.read(path).X`, one C-ordered matrix, looked through for gaps. *{TABLE}*:
`pyarrow.parquet.read_table`, columns as they are. *{MATRIX}*: the same, and the columns copied into
one C-ordered float64 matrix. *{FRESH}*: the first read of a process, beside which the
command's own *reading* is to be seen: memory that a process has not touched yet is slow to come,
whoever reads. *{WHOLE}*: the process from start to end, with `-k {K} --runs 1` and the labels
written as NPY; its parts are *starting* (imports, most of it scikit-learn), *reading*, *fitting*,
*faults* (a look at what may be wrong), *writing* labels, and *the rest* (Python itself, the
summary). The matrices are compared bit for bit, and the labels with those of `KMeans`."""


def run(options: Options) -> bool:
    """One row for each number of threads."""
    results = Results(options, "reading", key=("n", "d", "threads"), packages=PACKAGES)
    n = N // 10 if options.quick else N
    path = parquet(options.cache, n)
    rows = (measure(path, n, threads, options) for threads in options.threads)
    passed = results.take(rows, seconds_by_size)
    results.publish("Reading", page, draw)
    return passed


def parquet(cache: Path, n: int) -> Path:
    """The file, made once."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = cache / f"reading-{n}x{D}-v1.parquet"
    if not path.exists():
        cache.mkdir(parents=True, exist_ok=True)
        x = generators.blobs(n, D, K, 1.0, seed=1)
        unfinished = path.with_suffix(".part")
        pq.write_table(pa.table({f"c{j}": x[:, j] for j in range(D)}), unfinished)
        unfinished.replace(path)
    return path


def measure(path: Path, n: int, threads: int, options: Options) -> Row:
    """All contenders on one file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    pa.set_cpu_count(threads)
    pa.set_io_thread_count(threads)
    with tempfile.TemporaryDirectory() as folder:
        labels = Path(folder) / "labels.npy"
        splits: list[dict[str, float]] = []  # of each round
        first_reads: list[float] = []  # the same
        calls: dict[str, Any] = {
            READ: partial(read, path),
            TABLE: partial(pq.read_table, path),
            MATRIX: partial(matrix, path),
            FRESH: lambda: first_reads.append(first_read(path, threads)),
            WHOLE: lambda: splits.append(whole(path, labels, threads)),
        }
        series = take_turns(calls, options.repeat, always=READ)
        faults = [f"{name}: {one.failure}" for name, one in series.items() if one.failure]
        if not faults:
            faults = wrong(series[READ].answer, series[MATRIX].answer, np.load(labels), threads)
    split = splits[int(np.argmin(series[WHOLE].wall))] if splits else {}
    seconds = {name: one.best for name, one in series.items() if one.wall}
    if first_reads:
        seconds[FRESH] = min(first_reads)
    return {
        "n": n,
        "d": D,
        "threads": threads,
        "bytes": path.stat().st_size,
        "seconds": {name: round(value, 4) for name, value in seconds.items()},
        "split": {name: round(value, 4) for name, value in split.items()},
        "faults": faults,
    }


def read(path: Path) -> NDArray[Any]:
    from coterie import read as read_any

    found: NDArray[Any] = read_any(path, max_memory="8 GB").X
    return found


def matrix(path: Path) -> NDArray[np.float64]:
    import pyarrow.parquet as pq

    columns = pq.read_table(path).columns
    found = np.empty((len(columns[0]), len(columns)))
    for j, column in enumerate(columns):
        found[:, j] = column.to_numpy()
    return found


def first_read(path: Path, threads: int) -> float:
    """pyarrow alone in a new process; returns the seconds that it read."""
    script = (
        "import sys, time, pyarrow.parquet as pq\n"
        "start = time.perf_counter()\n"
        "table = pq.read_table(sys.argv[1])\n"
        "print(time.perf_counter() - start)"
    )
    return float(told_by([sys.executable, "-c", script, str(path)], threads))


def whole(path: Path, labels: Path, threads: int) -> dict[str, float]:
    """The command as a user runs it; returns the seconds of its parts."""
    words = f"-k {K} --runs 1 --threads {threads} --max-memory 8GB --json -q -o".split()
    command = [sys.executable, "-m", "coterie", "kmeans", str(path), *words, str(labels)]
    found: dict[str, float] = json.loads(told_by(command, threads))["seconds"]
    return found


def told_by(command: list[str], threads: int) -> str:
    """The output of a process."""
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads)}  # pyarrow listens to it too
    return subprocess.run(
        command, env=environment, check=True, capture_output=True, text=True
    ).stdout


def wrong(
    ours: NDArray[Any] | None, theirs: NDArray[Any] | None, labels: NDArray[Any], threads: int
) -> list[str]:
    """Faults of our answers."""
    from coterie import KMeans

    assert ours is not None
    faults = [] if np.array_equal(ours, theirs) else [f"{READ}: another matrix"]
    model = KMeans(K, n_init=1, random_state=0, n_jobs=threads).fit(ours)
    return faults if np.array_equal(model.labels_, labels) else [*faults, f"{WHOLE}: other labels"]


def page(rows: list[Row]) -> str:
    """Reading alone, and the command in parts."""
    names = (READ, TABLE, MATRIX, FRESH, WHOLE)
    head = ["rows x columns", "threads", *names, "of it starting", "reading", "fitting", "faults",
            "writing", "the rest"]  # fmt: skip
    return f"{NOTES}\n\n{table(head, [cells(row, names) for row in rows])}"


def cells(row: Row, names: tuple[str, ...]) -> list[str]:
    seconds = [row["seconds"].get(name) for name in names]
    parts = [row["split"].get(name) for name in PARTS]
    rest = None if None in (seconds[-1], *parts) else seconds[-1] - sum(parts)
    return [
        f"{row['n']:,} x {row['d']}", str(row["threads"]),
        *(figures(value) for value in (*seconds, *parts, rest)),
    ]  # fmt: skip


def draw(rows: list[Row], path: Path) -> None:
    """A bar for each contender, one panel per number of threads."""
    chart, axes = plots.figure(1, len(rows), 4.6 * len(rows) + 0.6, 3.4)
    for panel, row in zip(axes[0], rows, strict=True):
        names = [name for name in (WHOLE, FRESH, MATRIX, TABLE, READ) if name in row["seconds"]]
        colours = ["#0072B2" if name.startswith("coterie") else "#999999" for name in names]
        panel.barh(names, [row["seconds"][name] for name in names], color=colours, height=0.6)
        plots.tidy(panel)
        panel.set_xlabel("seconds")
        panel.set_title(f"{row['n']:,} x {row['d']}, {in_threads(row['threads'])}", fontsize=10)
    plots.save(chart, path)
