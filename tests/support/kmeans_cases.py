"""Cases for k-means, and the comparison of two answers, bit for bit.

Shapes and kinds are drawn by Hypothesis, which finds a small case where one fails; the numbers
come from a seeded generator, which fills arrays quickly.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, issparse

from coterie.algorithms.kmeans.lloyd import Rules, lloyd
from coterie.algorithms.kmeans.records import Run
from coterie.algorithms.kmeans.seeding import SEEDINGS
from coterie.algorithms.kmeans.survey import survey
from coterie.engines.memory import MemoryEngine
from coterie.kernels import _native, reference

LEVELS: list[str] = _native.simd_levels()
THREADS = (1, 2, 3, 5, 64)
DRAWN = [name for name in SEEDINGS if name != "principal"]  # to the same bits in any order of rows


def thorough(examples: int) -> Any:
    """The same examples in every run, also on a slow machine."""
    return settings(
        max_examples=examples,
        derandomize=True,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )


@contextmanager
def level(name: str) -> Iterator[None]:
    """Use an instruction-set level within the context."""
    before = _native.simd_level()
    assert _native.use_simd_level(name)
    try:
        yield
    finally:
        _native.use_simd_level(before)


@dataclass(frozen=True)
class Case:
    X: Any  # (n, d) float32, float64 or CSR
    means: NDArray[np.float64]  # (k, d) initial
    weights: NDArray[np.float64] | None = None

    @property
    def dense(self) -> NDArray[np.float64]:
        return as_dense(self.X)

    def permuted(self, order: NDArray[np.intp]) -> Case:
        weights = None if self.weights is None else self.weights[order]
        return Case(self.X[order], self.means, weights)


def as_dense(X: Any) -> NDArray[np.float64]:
    return np.asarray(X.toarray() if issparse(X) else X, dtype=np.float64)


def fit(case: Case, rules: Rules | None = None, **engine: Any) -> Run:
    """The native answer."""
    memory = MemoryEngine(case.X, case.weights, **engine)
    return lloyd(memory, survey(memory), case.means, rules or Rules())


def definition(case: Case, **rules: Any) -> reference.Answer:
    """The answer by the definition."""
    return reference.k_means(case.dense, case.means, case.weights, **rules)


def bits(values: Any) -> NDArray[np.uint64]:
    return np.ascontiguousarray(values, dtype=np.float64).view(np.uint64)


def same_bits(a: Any, b: Any) -> bool:
    return np.array_equal(bits(a), bits(b))


def assert_same(run: Run, other: Run | reference.Answer) -> None:
    """Compare two answers to the last bit."""
    np.testing.assert_array_equal(run.labels, other.labels)
    np.testing.assert_array_equal(bits(run.means), bits(other.means))
    np.testing.assert_array_equal(run.active, other.active)
    assert run.n_iter == other.n_iter
    assert run.inertia == other.inertia
    assert run.clustering_error == other.clustering_error
    errors = other.errors if isinstance(other, reference.Answer) else errors_of(other)
    assert errors_of(run) == errors


def errors_of(run: Run) -> tuple[float, ...]:
    return tuple(step.error for step in run.history)


def rounding(case: Case, errors: NDArray[np.float64]) -> NDArray[np.float64]:
    """The most by which an error may exceed the one before it.

    In exact arithmetic the error falls with every update. Two roundings allow for a little more:
    - a distance of float64 has d + 2 of them, so of two means that are equally far but for that
      much, a point may get the farther one;
    - a mean that is off by half an ulp of its own adds the square of that, which only shows where
      points of a cluster agree in all but their last bits.
    """
    largest = np.abs(case.dense).max(axis=0) + np.abs(case.means).max(axis=0)
    slack = (case.X.shape[1] + 3) * np.spacing(errors[:-1])
    return np.asarray(slack + np.square(largest * 2.0**-53).sum())


DATA = (
    "normal",
    "lattice",
    "halves",
    "duplicates",
    "offset",
    "scales",
    "blobs",
    "clumps",
    "powers",
    "constant",
    "outlier",
)
FORMATS = ("float64", "float32", "csr64", "csr32")
WEIGHTS = ("none", "whole", "float", "tiny", "huge", "wild", "equal")
MEANS = ("rows", "repeated", "near", "middles", "far", "scattered")


def make_points(kind: str, n: int, d: int, rng: np.random.Generator) -> NDArray[np.float64]:
    normal = rng.normal(size=(n, d))
    match kind:
        case "lattice":  # ties everywhere
            return rng.integers(0, 4, size=(n, d)).astype(float)
        case "halves":
            return np.round(normal * 2) / 2 + 100
        case "duplicates":
            return normal[rng.integers(max(1, n // 3), size=n)]
        case "offset":
            return normal + 1e9
        case "scales":
            return normal * 10.0 ** rng.uniform(-6, 6, size=d)
        case "blobs":
            return 20 * rng.normal(size=(4, d))[rng.integers(4, size=n)] + normal
        case "clumps":  # far apart, and ties within each
            return 32.0 * rng.integers(0, 4, size=(8, d))[rng.integers(8, size=n)] + rng.integers(
                0, 3, size=(n, d)
            )
        case "powers":
            return np.ldexp(np.sign(normal), rng.integers(-30, 30, size=(n, d)))
        case "constant":
            return np.full((n, d), normal[0, 0])
        case "outlier":
            normal[0] *= 1e8
    return normal


def make_weights(kind: str, n: int, rng: np.random.Generator) -> NDArray[np.float64] | None:
    match kind:
        case "whole":
            weights = rng.integers(1, 6, size=n).astype(float)
            weights[0] = 2.0  # all ones are tested by themselves
            return weights
        case "float":
            return rng.uniform(0.1, 10, size=n)
        case "tiny":
            return rng.uniform(1, 2, size=n) * 1e-30
        case "huge":
            return rng.uniform(1, 2, size=n) * 1e30
        case "wild":
            return 10.0 ** rng.uniform(-10, 10, size=n)
        case "equal":
            return np.full(n, 3.0)
    return None


def make_means(
    kind: str, X: NDArray[np.float64], k: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    rows = X[rng.integers(len(X), size=k)]
    spread = X.std(axis=0) + 1e-3
    match kind:
        case "repeated":  # clusters that stay empty
            return rows[rng.integers(max(1, k // 2), size=k)]
        case "near":
            return rows + rng.normal(size=rows.shape) * spread
        case "middles":  # as far from one row as from another
            return 0.5 * rows + 0.5 * X[rng.integers(len(X), size=k)]
        case "far":
            away = rng.random((k, 1)) < 0.5
            return rows + away * 1e6 * spread * rng.normal(size=rows.shape)
        case "scattered":
            return rng.normal(size=rows.shape)
    return rows.copy()


def make_case(
    rng: np.random.Generator,
    n: int,
    d: int,
    k: int,
    data: str = "normal",
    form: str = "float64",
    weights: str = "none",
    means: str = "rows",
) -> Case:
    X = make_points(data, n, d, rng)
    if form.startswith("csr"):
        X[rng.random(X.shape) < 0.6] = 0.0
    X = X.astype(np.float32 if form.endswith("32") else np.float64)
    m = make_means(means, X.astype(np.float64), k, rng)
    return Case(csr_matrix(X) if form.startswith("csr") else X, m, make_weights(weights, n, rng))


@st.composite
def cases(
    draw: st.DrawFn,
    *,
    max_n: int = 50,
    max_d: int = 12,
    max_k: int = 12,
    formats: tuple[str, ...] = FORMATS,
    weights: tuple[str, ...] = WEIGHTS,
) -> Case:
    n = draw(st.integers(1, max_n))
    k = draw(st.one_of(st.integers(1, max_k), st.sampled_from([1, n, max(1, n - 1), n + 2])))
    return make_case(
        np.random.default_rng(draw(st.integers(0, 2**32 - 1))),
        n,
        draw(st.integers(1, max_d)),
        k,
        draw(st.sampled_from(DATA)),
        draw(st.sampled_from(formats)),
        draw(st.sampled_from(weights)),
        draw(st.sampled_from(MEANS)),
    )
