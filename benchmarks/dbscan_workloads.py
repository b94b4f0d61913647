"""The DBSCAN workloads: data, eps, and the ratios aimed at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks import generators as make
from benchmarks.workloads import save_array

FORMAT = 1  # raise it when a generator changes, so that cached data is made anew
MIN_SAMPLES = 10


@dataclass(frozen=True)
class Workload:
    """One row of the table."""

    name: str
    generate: Callable[[int], make.Array]
    n: int
    d: int
    eps: float
    floors: dict[str, float]  # by peer
    too_much: tuple[str, ...] = ()  # peers that get a process with limits of its own

    def rows(self, quick: bool) -> int:
        """Number of rows: a tenth in a smoke run."""
        return self.n // 10 if quick else self.n


def blobs(d: int) -> Callable[[int], make.Array]:
    """Twenty round clusters of standard deviation one."""
    return lambda n: make.blobs(n, d, 20, 1.0, seed=d)


def low_rank(n: int) -> make.Array:
    """Blobs in eight directions of fifty, and a little noise in all."""
    rng = np.random.default_rng(8)
    turn = np.linalg.qr(rng.normal(size=(50, 8)))[0]
    return make.blobs(n, 8, 20, 1.0, seed=9) @ turn.T + 0.1 * rng.normal(size=(n, 50))


def moons(n: int) -> make.Array:
    """Two crescents."""
    from sklearn.datasets import make_moons

    x: make.Array = make_moons(n, noise=0.05, random_state=0)[0]
    return x


def crowds(n: int) -> make.Array:
    """Twelve clusters in which nearly every point is nearby every other."""
    rng = np.random.default_rng(26)
    centres = rng.uniform(0, 1000, size=(12, 2))
    return centres[np.arange(n) % 12] + rng.normal(0, 15, size=(n, 2))


def crowds_9d(n: int) -> make.Array:
    """The same in nine dimensions: twenty tight clusters in the unit cube."""
    return 0.05 * (make.blobs(n, 9, 20, 1.0, seed=22) + 10)


def same(n: int) -> make.Array:
    """One point, many times."""
    return np.ones((n, 2))


SKLEARN, WANG = "scikit-learn", "dbscan"

WORKLOADS = (
    Workload("blobs-2d-100k", blobs(2), 100_000, 2, 0.1, {WANG: 10}),
    Workload("blobs-2d-1m", blobs(2), 1_000_000, 2, 0.05, {SKLEARN: 100, WANG: 10}),
    Workload("blobs-2d-10m", blobs(2), 10_000_000, 2, 0.015, {WANG: 10}, (SKLEARN,)),
    Workload("moons-1m", moons, 1_000_000, 2, 0.005, {WANG: 10}),
    Workload("blobs-3d-1m", blobs(3), 1_000_000, 3, 0.2, {SKLEARN: 70}),
    Workload("blobs-5d-200k", blobs(5), 200_000, 5, 0.8, {SKLEARN: 80}),
    Workload("blobs-10d-100k", blobs(10), 100_000, 10, 2.5, {SKLEARN: 150}),
    Workload("blobs-50d-50k", blobs(50), 50_000, 50, 8.0, {SKLEARN: 20}),
    Workload("low-rank-50d-50k", low_rank, 50_000, 50, 3.0, {SKLEARN: 8}),
    Workload("blobs-784d-20k", blobs(784), 20_000, 784, 38.0, {SKLEARN: 20}),
    Workload("crowds-2d-180k", crowds, 180_000, 2, 40.0, {WANG: 1.8}, (SKLEARN,)),
    Workload("crowds-9d-180k", crowds_9d, 180_000, 9, 0.28, {}, (SKLEARN,)),
    Workload("same-2d-1m", same, 1_000_000, 2, 0.5, {}, (SKLEARN,)),
)


def select(patterns: Sequence[str]) -> list[Workload]:
    """Workloads whose name matches any pattern; all of them where no pattern is given."""
    chosen = [w for w in WORKLOADS if any(fnmatch(w.name, p) for p in patterns or ["*"])]
    if not chosen:
        names = ", ".join(w.name for w in WORKLOADS)
        raise ValueError(f"--only {' '.join(patterns)} names no workload; choose from: {names}")
    return chosen


def load(workload: Workload, quick: bool, cache: Path) -> make.Array:
    """The data from the cache, made there on first use."""
    n = workload.rows(quick)
    path = cache / f"dbscan-{workload.name}-{n}-v{FORMAT}.npy"
    if not path.exists():
        with threadpool_limits(1):
            save_array(path, np.ascontiguousarray(workload.generate(n)))
    x: make.Array = np.load(path)
    return x
