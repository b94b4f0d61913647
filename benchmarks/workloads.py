"""The k-means workloads: data, initial means, iteration cap and the ratios aimed at."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from benchmarks import generators as make

FORMAT = 1  # raise it when a generator changes, so that cached data is made anew


@dataclass(frozen=True)
class Target:
    """Ratios to the best peer: the floor to keep, and the stretch to reach."""

    floor: float
    stretch: float


@dataclass(frozen=True)
class Workload:
    """One row of the table. Workloads with the same `data` share one array."""

    name: str
    data: str
    generate: Callable[[int], make.Array]
    n: int
    d: int
    k: int
    float64: Target
    float32: Target
    max_iter: int = 300

    @property
    def title(self) -> str:
        """Name and shape, as the tables print them."""
        return f"{self.name} ({self.n:,} x {self.d}, k={self.k})"

    def target(self, dtype: str) -> Target:
        """The ratios aimed at in this precision."""
        return self.float64 if dtype == "float64" else self.float32

    def rows(self, quick: bool) -> int:
        """Number of rows: a tenth in a smoke run."""
        return self.n // 10 if quick else self.n


@dataclass(frozen=True)
class Problem:
    """Data (n, d) and initial means (k, d), of one dtype and C order."""

    x: NDArray[Any]
    means: NDArray[Any]


LOW_D = Target(10, 15), Target(4, 7)
WIDE = Target(3, 5), Target(1.7, 2.5)

WORKLOADS = (
    Workload(
        "blobs-2d", "blobs-2d", lambda n: make.blobs(n, 2, 8, 1.5, 1), 1_000_000, 2, 8, *LOW_D,
    ),
    Workload(
        "uniform-2d", "uniform-2d", lambda n: make.uniform(n, 2, 2), 1_000_000, 2, 8, *LOW_D,
    ),
    Workload(
        "photo-64", "photo", lambda n: make.photo_like(n, 3), 1_000_000, 3, 64,
        Target(10, 20), Target(6, 12), max_iter=100,
    ),
    Workload(
        "photo-256", "photo", lambda n: make.photo_like(n, 3), 1_000_000, 3, 256,
        Target(25, 50), Target(6, 15), max_iter=100,
    ),
    Workload(
        "blobs-16d", "blobs-16d", lambda n: make.blobs(n, 16, 100, 3.0, 5), 200_000, 16, 100,
        Target(5, 8), Target(3.5, 5),
    ),
    Workload(
        "covertype", "covertype", lambda n: make.covertype_like(n, 16, 6), 200_000, 16, 100,
        Target(1.8, 2.5), Target(1.3, 1.8), max_iter=100,
    ),
    Workload("digits", "digits", lambda n: make.digits_like(n, 12), 100_000, 64, 100, *WIDE),
    Workload(
        "blobs-32d", "blobs-32d", lambda n: make.blobs(n, 32, 1000, 3.0, 7), 100_000, 32, 1000,
        Target(4, 6), Target(1.4, 2.2),
    ),
    Workload(
        "blobs-128d", "blobs-128d", lambda n: make.blobs(n, 128, 256, 6.0, 9), 50_000, 128, 256,
        *WIDE,
    ),
    Workload("noise-128d", "noise-128d", lambda n: make.noise(n, 128, 10), 50_000, 128, 256, *WIDE),
    Workload(
        "mnist-10", "mnist", lambda n: make.mnist_like(n, 11), 70_000, 784, 10,
        Target(4, 8), Target(4, 6),
    ),
    Workload(
        "mnist-100", "mnist", lambda n: make.mnist_like(n, 11), 70_000, 784, 100,
        Target(2.5, 5), Target(2.2, 4), max_iter=100,
    ),
)  # fmt: skip


def select(patterns: Sequence[str], among: Sequence[Workload] = WORKLOADS) -> list[Workload]:
    """Workloads whose name matches any pattern; all of them where no pattern is given."""
    if not patterns:
        return list(among)
    chosen = [w for w in among if any(fnmatch(w.name, pattern) for pattern in patterns)]
    if not chosen:
        names = ", ".join(w.name for w in among)
        raise ValueError(f"--only {' '.join(patterns)} names no workload; choose from: {names}")
    return chosen


def load(workload: Workload, dtype: str, quick: bool, cache: Path) -> Problem:
    """The data from the cache, made there on first use, and k distinct rows as initial means."""
    n = workload.rows(quick)
    path = data_path(workload, quick, cache)
    if not path.exists():
        # One thread: on a busy machine many small products crawl with two.
        with threadpool_limits(1):
            save_array(path, np.ascontiguousarray(workload.generate(n)))
    x = np.load(path).astype(dtype, copy=False)
    return Problem(x, distinct_rows(x, workload.k, seed=99))


def data_path(workload: Workload, quick: bool, cache: Path) -> Path:
    """The cache file of a workload's array; its name has the number of rows and the format."""
    return cache / f"{workload.data}-{workload.rows(quick)}-v{FORMAT}.npy"


def distinct_rows(x: NDArray[Any], k: int, seed: int) -> NDArray[Any]:
    """k rows of different values: equal initial means would make every implementation differ."""
    drawn = np.random.default_rng(seed).permutation(len(x))[: 20 * k]
    _, first = np.unique(x[drawn], axis=0, return_index=True)
    return np.ascontiguousarray(x[drawn[np.sort(first)[:k]]])


def save_array(path: Path, x: make.Array) -> None:
    """Write a file beside, then rename it: an interrupted run leaves no half file in the cache."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(f".{os.getpid()}.npy")
    np.save(partial, x)
    partial.replace(path)
