"""Data for mixtures: Gaussians that overlap, or stand apart, and a start for all contenders."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatch
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Workload:
    """One line of the table, and the ratio to scikit-learn's speed that it should reach."""

    name: str
    n: int
    d: int
    k: int
    family: str
    apart: float  # distance of the means, in standard deviations of a column
    floor: float

    @property
    def label(self) -> str:
        return f"{self.name} ({self.n:,}, {self.d}, {self.k} {self.family})"

    def rows(self, quick: bool) -> int:
        return self.n // 10 if quick else self.n


NEAR, FAR = 2.0, 12.0
WORKLOADS = (
    Workload("2d", 1_000_000, 2, 8, "full", NEAR, 150),
    Workload("3d", 1_000_000, 3, 16, "full", NEAR, 180),
    Workload("16d", 200_000, 16, 16, "full", NEAR / 4, 25),
    Workload("16d-apart", 200_000, 16, 16, "full", FAR / 4, 45),
    Workload("64d", 50_000, 64, 10, "full", NEAR / 8, 8),
    Workload("64d-apart", 50_000, 64, 10, "full", FAR / 8, 30),
    Workload("256d", 20_000, 256, 10, "full", NEAR / 16, 4.5),
    Workload("256d-apart", 20_000, 256, 10, "full", FAR / 16, 20),
    Workload("8d-diag", 1_000_000, 8, 10, "diag", NEAR / 3, 30),
    Workload("8d-spherical", 1_000_000, 8, 10, "spherical", NEAR / 3, 50),
    Workload("8d-tied", 1_000_000, 8, 10, "tied", NEAR / 3, 65),
)


def select(names: tuple[str, ...]) -> list[Workload]:
    """Workloads by name or pattern; all if none is named."""
    chosen = [w for w in WORKLOADS if not names or any(fnmatch(w.name, p) for p in names)]
    if not chosen:
        known = ", ".join(w.name for w in WORKLOADS)
        raise ValueError(f"no workload matches {' '.join(names)}; there are: {known}")
    return chosen


@dataclass(frozen=True)
class Start:
    """A first mixture; covariances and precisions in the family's shape."""

    weights: Any
    means: Any
    covariances: Any
    precisions: Any


def load(workload: Workload, quick: bool) -> tuple[Any, Start]:
    """Centred rows, and a start of EM near the truth."""
    rng = np.random.default_rng(7)
    n, d, k = workload.rows(quick), workload.d, workload.k
    means = workload.apart * rng.normal(size=(k, d))
    shapes = np.eye(d) + 0.3 * rng.normal(size=(k, d, d)) / np.sqrt(d)
    own = rng.integers(0, k, n)
    X = rng.normal(size=(n, d))
    for c in range(k):
        X[own == c] = X[own == c] @ shapes[c] + means[c]
    middle = X.mean(axis=0)
    X -= middle
    covariances = shapes.transpose(0, 2, 1) @ shapes
    near = means - middle + 0.1 * rng.normal(size=(k, d))
    whole = 1.2 * covariances
    if workload.family == "tied":
        whole = whole.mean(axis=0)
    elif workload.family != "full":
        whole = np.diagonal(whole, axis1=1, axis2=2)
        whole = whole.mean(axis=1) if workload.family == "spherical" else whole
    inverse = np.linalg.inv if workload.family in ("full", "tied") else np.reciprocal
    return X, Start(np.full(k, 1 / k), near, whole, inverse(whole))
