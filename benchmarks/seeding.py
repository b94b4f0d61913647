"""Greedy k-means++: time, and the potential (error before any iteration) that it reaches."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import plots
from benchmarks.options import DTYPES, Options
from benchmarks.report import Results, Row, cell, figures, in_threads, progress, table
from benchmarks.timing import limited, take_turns
from benchmarks.workloads import Target, Workload, load, select

OURS = "coterie"
TARGET = Target(20, 40)
WORSE = 1.05  # our mean potential may exceed the best greedy peer's by this: seeds are random
NOTES = """\
Wall seconds to choose k seeds, best (median), and below it the mean potential of the seeds over all
rounds, each with its own random state. All greedy methods try 2 + int(log k) candidates per seed.
faiss draws one candidate: faster, worse, and not counted in the ratio."""


@dataclass(frozen=True)
class Seeder:
    """One implementation: seeds (k, d) from x (n, d), k, trials, random state and threads."""

    name: str
    module: str
    seeds: Callable[[NDArray[Any], int, int, int, int], NDArray[Any]]
    greedy: bool = True
    dtypes: Sequence[str] = DTYPES

    def missing(self) -> bool:
        """True if its package cannot be imported."""
        try:
            import_module(self.module)
        except Exception:  # not installed or broken: either way not here
            return True
        return False


def _coterie(x: NDArray[Any], k: int, trials: int, seed: int, threads: int) -> NDArray[Any]:
    """The public function where there is one, else a fit of one iteration: an upper bound."""
    package = import_module("coterie")
    if _seeds_alone():
        seeds, _ = package.kmeans_plusplus(
            x, k, random_state=seed, n_local_trials=trials, n_jobs=threads
        )
        return np.asarray(seeds)
    model = package.KMeans(k, n_init=1, max_iter=1, random_state=seed, n_jobs=threads)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # one iteration does not converge, and need not
        return np.asarray(model.fit(x).cluster_centers_)


def _seeds_alone() -> bool:
    """True if Coterie gives seeds without a fit."""
    return hasattr(import_module("coterie"), "kmeans_plusplus")


def _scikit_learn(x: NDArray[Any], k: int, trials: int, seed: int, threads: int) -> NDArray[Any]:
    seeds, _ = import_module("sklearn.cluster").kmeans_plusplus(
        x, k, random_state=seed, n_local_trials=trials
    )
    return np.asarray(seeds)


def _sklearnex(x: NDArray[Any], k: int, trials: int, seed: int, threads: int) -> NDArray[Any]:
    import_module("daal4py").daalinit(threads)
    onedal = import_module("onedal.cluster.kmeans_init")
    seeds, _ = onedal.kmeans_plusplus(x, k, random_state=seed, n_local_trials=trials)
    return np.asarray(seeds)


def _fastkmeanspp(x: NDArray[Any], k: int, trials: int, seed: int, threads: int) -> NDArray[Any]:
    package = import_module("fastkmeanspp")
    model = package.KMeans(k, n_local_trials=trials, random_state=seed, n_jobs=threads)
    return np.asarray(model._init_centroids(x))


def _faiss(x: NDArray[Any], k: int, trials: int, seed: int, threads: int) -> NDArray[Any]:
    faiss = import_module("faiss")
    faiss.omp_set_num_threads(threads)
    model = faiss.Kmeans(
        x.shape[1],
        k,
        niter=0,
        seed=seed,
        max_points_per_centroid=len(x),
        init_method=faiss.ClusteringInitMethod_KMEANS_PLUS_PLUS,
    )
    model.train(x)
    return np.asarray(model.centroids)


SEEDERS = (
    Seeder(OURS, "coterie", _coterie),
    Seeder("scikit-learn", "sklearn.cluster", _scikit_learn),
    Seeder("sklearnex", "onedal.cluster.kmeans_init", _sklearnex),
    Seeder("fastkmeanspp", "fastkmeanspp", _fastkmeanspp, dtypes=("float32",)),
    Seeder("faiss", "faiss", _faiss, greedy=False, dtypes=("float32",)),
)


def run(options: Options) -> bool:
    """Seed the chosen workloads (photo-64 by default); True if our potential is as good."""
    running = [one for one in SEEDERS if not one.missing()]
    for one in SEEDERS:
        if one not in running:
            progress(f"{one.name}: not installed")
    results = Results(options, "seeding", key=("workload", "dtype", "threads"))
    rows = (
        measure(workload, dtype, threads, running, options)
        for threads in options.threads
        for dtype in options.dtypes
        for workload in select(options.only or ("photo-64",))
    )
    passed = results.take(rows, summary)
    results.publish("Greedy k-means++", page, draw)
    return passed


def summary(row: Row) -> str:
    """One line per row, while the run goes on."""
    where = f"{row['workload']} {row['dtype']} x{row['threads']}"
    return " ".join([f"{where}: ratio {figures(row['ratio'])}", *row["faults"]])


def measure(
    workload: Workload, dtype: str, threads: int, running: list[Seeder], options: Options
) -> Row:
    """Time every seeder, one random state per round, and compare the potentials of its seeds."""
    x = load(workload, dtype, options.quick, options.cache).x
    able = [one for one in running if dtype in one.dtypes]
    trials = 2 + int(np.log(workload.k))
    chosen: dict[str, list[NDArray[Any]]] = {one.name: [] for one in able}

    def call(one: Seeder) -> Callable[[], None]:
        states = itertools.count()

        def seed() -> None:
            chosen[one.name].append(one.seeds(x, workload.k, trials, next(states), threads))

        return seed

    with limited(threads):
        for one in able:
            one.seeds(x[:2000], 4, 2, 0, threads)  # load libraries, start pools
        series = take_turns({one.name: call(one) for one in able}, options.repeat, always=OURS)
    entries: dict[str, Row] = {}
    for one in able:
        entries[one.name] = {**series[one.name].record(), "greedy": one.greedy}
        if chosen[one.name]:
            values = [potential(x, seeds) for seeds in chosen[one.name]]
            entries[one.name] |= {"potentials": values, "potential": float(np.mean(values))}
    return {
        "workload": workload.name,
        "n": len(x),
        "d": workload.d,
        "k": workload.k,
        "trials": trials,
        "dtype": dtype,
        "threads": threads,
        "contenders": entries,
        **_judged(entries),
    }


def _judged(entries: dict[str, Row]) -> Row:
    """Ratio to the fastest greedy peer, and the faults of our seeds."""
    peers = {n: e for n, e in entries.items() if n != OURS and e["greedy"] and "best" in e}
    ours = entries.get(OURS)
    if ours is None or not peers:
        return {"best_peer": None, "ratio": None, "faults": [], "answer": "-"}
    if "failure" in ours:
        fault = ours["failure"]
        return {"best_peer": None, "ratio": None, "faults": [fault], "answer": fault}
    best_peer = min(peers, key=lambda name: peers[name]["best"])
    ratio = peers[best_peer]["best"] / ours["best"]
    judged: Row = {"best_peer": best_peer, "ratio": ratio, "faults": []}
    if not _seeds_alone():
        return {**judged, "answer": "ours includes one iteration"}
    best = min(entry["potential"] for entry in peers.values())
    if ours["potential"] > WORSE * best:
        fault = f"potential {ours['potential'] / best - 1:+.0%}"
        return {**judged, "faults": [fault], "answer": fault}
    return {**judged, "answer": "potential as good"}


def potential(x: NDArray[Any], seeds: NDArray[Any]) -> float:
    """Sum of squared distances to the nearest seed, by differences in float64."""
    nearest = np.full(len(x), np.inf)
    for seed in seeds.astype(np.float64):
        gap = x - seed
        np.minimum(nearest, np.einsum("ij,ij->i", gap, gap), out=nearest)
    return float(nearest.sum())


def page(rows: list[Row]) -> str:
    """One line per workload, precision and number of threads; two figures per contender."""
    names = [one.name for one in SEEDERS if any(one.name in row["contenders"] for row in rows)]
    header = ["workload (n, d, k)", "dtype", "threads", *names]
    header += ["ratio", "floor", "stretch", "answer"]
    cells = []
    for row in rows:
        shape = f"{row['workload']} ({row['n']:,}, {row['d']}, {row['k']})"
        told = f"{figures(row['ratio'])} ({row['best_peer']})" if row["ratio"] else "-"
        answer = f"**FAULT** {row['answer']}" if row["faults"] else row["answer"]
        cells.append(
            [
                shape,
                row["dtype"],
                str(row["threads"]),
                *(cell(row["contenders"].get(name), _seeded) for name in names),
                told,
                f"{TARGET.floor:g}",
                f"{TARGET.stretch:g}",
                answer,
            ]
        )
    return f"{NOTES}\n\n{table(header, cells)}"


def _seeded(entry: Row) -> str:
    return f"{figures(entry['best'])} ({figures(entry['median'])})<br>{entry['potential']:.4g}"


def draw(rows: list[Row], path: Path) -> None:
    """Time against potential: the lower left is best."""
    chart, axes = plots.figure(1, len(rows), 4.6 * len(rows) + 0.6, 4.2)
    for panel, row in zip(axes.ravel(), rows, strict=True):
        reached = {n: e for n, e in row["contenders"].items() if "best" in e}
        lowest = min(entry["potential"] for entry in reached.values())
        for name, entry in reached.items():
            height = [value / lowest for value in entry["potentials"]]
            seconds = [entry["best"]] * len(height)
            panel.scatter(seconds, height, s=60, alpha=0.8, **plots.look(name))
        plots.logarithmic(panel, "x")
        panel.set_xlabel("seconds (best round)")
        panel.set_ylabel("potential of each round, lowest mean = 1")
        where = f"{row['workload']}, {row['dtype']}, {in_threads(row['threads'])}"
        panel.set_title(where, fontsize=10)
        plots.tidy(panel)
    plots.legend_below(chart, axes)
    plots.save(chart, path)
