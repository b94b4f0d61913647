"""Every index, instruction set and number of threads gives DBSCAN's definition, bit for bit."""

from __future__ import annotations

import signal
import threading
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from support.hostile_points import POINTS, make_points
from support.kmeans_cases import LEVELS, THREADS, level, thorough

from coterie.algorithms.dbscan.dbscan import DbscanResult, dbscan
from coterie.kernels import _native, reference
from coterie.kernels.block import Block
from coterie.kernels.dbscan_steps import INDEXES, METRICS, Measure, reach

TREES = ("tree", "tree64")
WEIGHTS = ("none", "none", "whole", "signed", "tenths")


@dataclass(frozen=True)
class Case:
    X: NDArray[Any]
    measure: Measure
    min_samples: int
    weights: NDArray[np.float64] | None = None


def make_weights(kind: str, n: int, rng: np.random.Generator) -> NDArray[np.float64] | None:
    match kind:
        case "whole":
            return rng.integers(0, 4, size=n).astype(float)
        case "signed":
            return rng.integers(-2, 4, size=n).astype(float)
        case "tenths":  # sums that only exact addition tells from whole numbers
            return rng.integers(-1, 12, size=n) * 0.1
    return None


@st.composite
def cases(draw: st.DrawFn, metrics: tuple[str, ...] = METRICS, max_n: int = 120) -> Case:
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(1, max_n))
    metric = draw(st.sampled_from(metrics))
    d = 2 if metric == "haversine" else draw(st.one_of(st.integers(1, 6), st.integers(7, 64)))
    X = make_points(draw(st.sampled_from(POINTS)), n, d, rng)
    # About a typical distance, or a multiple of a tenth, where lattices have their ties.
    scale = {"manhattan": d, "chebyshev": 1.0}.get(metric, np.sqrt(d))
    eps = float(draw(st.sampled_from([0.1, 0.2, 0.3, 0.5, 1.0, 0.4 * scale, 0.9 * scale])))
    if metric in ("cosine", "haversine"):
        eps = draw(st.sampled_from([1e-9, 0.01, 0.1, 0.3, 0.9, 1.0, 1.5, 3.2]))
    if metric == "cosine" and draw(st.booleans()):
        X[rng.random(n) < 0.1] = 0.0
    if draw(st.booleans()):
        X = X.astype(np.float32)
    weights = make_weights(draw(st.sampled_from(WEIGHTS)), n, rng)
    p = draw(st.sampled_from([1.0, 1.5, 2.0, 3.0, np.inf])) if metric == "minkowski" else 2.0
    return Case(X, Measure(eps, metric, p), draw(st.integers(1, 8)), weights)


def run(case: Case, index: str = "auto", threads: int = 1, counts: bool = False) -> DbscanResult:
    block = Block.over(case.X, case.weights, _native.Team(threads))
    return dbscan(block, case.measure, case.min_samples, index=index, counts=counts)


def definition(case: Case) -> reference.Clusters:
    metric, p, eps = case.measure.native
    return reference.dbscan(case.X, eps, case.min_samples, case.weights, metric=metric, p=p)


def assert_same(found: DbscanResult, expected: DbscanResult | reference.Clusters) -> None:
    np.testing.assert_array_equal(found.core, expected.core)
    np.testing.assert_array_equal(found.labels, expected.labels)
    assert found.n_clusters == expected.n_clusters


@thorough(1500)
@given(case=cases(metrics=("euclidean",)), index=st.sampled_from(INDEXES))
def test_euclidean_is_the_definition(case: Case, index: str) -> None:
    assert_same(run(case, index), definition(case))


@thorough(1500)
@given(case=cases(metrics=METRICS[1:], max_n=60), index=st.sampled_from(INDEXES))
def test_other_metrics_are_their_definition(case: Case, index: str) -> None:
    assert_same(run(case, index), definition(case))


@thorough(600)
@given(case=cases(), index=st.sampled_from(INDEXES), name=st.sampled_from(LEVELS))
def test_every_level_gives_the_same(case: Case, index: str, name: str) -> None:
    expected = run(case, "brute")
    with level(name):
        assert_same(run(case, index), expected)


@thorough(600)
@given(case=cases(), index=st.sampled_from(INDEXES))
def test_reach_of_the_training_rows_gives_their_labels(case: Case, index: str) -> None:
    found = run(case)
    if case.measure.metric == "cosine":  # a zero row is nearby itself only as the same row
        case = Case(np.where(case.X == 0, 1e-3, case.X).astype(case.X.dtype), *fields(case))
        found = run(case)
    team = _native.Team(2)
    cores = Block.over(np.ascontiguousarray(case.X[found.core]), None, team)
    queries = Block.over(case.X, None, team)
    if case.measure.eps > 1e-6:  # rounding may separate equal rows under cosine and haversine
        got = reach(cores, found.labels[found.core], queries, case.measure, index)
        np.testing.assert_array_equal(got, found.labels)


def fields(case: Case) -> tuple[Any, ...]:
    return case.measure, case.min_samples, case.weights


@thorough(200)
@given(case=cases(), index=st.sampled_from(INDEXES))
def test_counts_are_all_rows_nearby(case: Case, index: str) -> None:
    metric, p, eps = case.measure.native
    near = reference.nearby(case.X, case.X, eps, metric=metric, p=p)
    np.fill_diagonal(near, True)
    found = run(case, index, counts=True)
    assert found.counts is not None
    np.testing.assert_array_equal(found.counts, near.sum(axis=1))
    assert_same(found, run(case, index))


def large(kind: str, d: int) -> Case:
    """More rows than one bucket of a tree holds."""
    rng = np.random.default_rng(d)
    n = 9000
    X = rng.normal(size=(n, d)) + 6 * rng.normal(size=(8, d))[rng.integers(8, size=n)]
    if kind == "tenths":
        X = np.round(X, 1)
    if kind == "same":
        X[rng.random(n) < 0.7] = 0.5
    return Case(X, Measure(0.3 if d < 3 else (0.6 if d < 10 else 1.2) * np.sqrt(d)), 6)


@pytest.mark.parametrize("kind", ["normal", "tenths", "same"])
@pytest.mark.parametrize("d", [1, 2, 3, 7, 40])
def test_many_rows(kind: str, d: int) -> None:
    case = large(kind, d)
    expected = run(case, "brute", threads=2)
    assert expected.n_clusters > 0
    for index in INDEXES:
        assert_same(run(case, index, threads=2), expected)


@pytest.mark.parametrize("d", [2, 5])
@pytest.mark.parametrize("index", TREES)
def test_threads_do_not_matter(d: int, index: str) -> None:
    case = large("tenths", d)
    weighted = Case(
        *((case.X, *fields(case))[:3]), make_weights("tenths", 9000, np.random.default_rng(0))
    )
    for one in (case, weighted):
        expected = run(one, index, threads=1)
        for threads in THREADS[1:]:
            assert_same(run(one, index, threads), expected)


@pytest.mark.parametrize("index", INDEXES)
@pytest.mark.parametrize("power", [-900, -500, 500, 900])
def test_scale_does_not_matter(index: str, power: int) -> None:
    case = large("tenths", 3)
    X = case.X[:400]
    expected = run(Case(X, Measure(0.7), 5), index)
    scaled = Case(np.ldexp(X, power), Measure(float(np.ldexp(0.7, power))), 5)
    assert_same(run(scaled, index), expected)


def test_many_neighbours_of_borders_are_found_again() -> None:
    """More neighbours than are listed, and points that must be looked at a second time."""
    rng = np.random.default_rng(1)
    case = Case(rng.normal(size=(3000, 2)), Measure(0.5), 300)
    expected = run(case, "brute")
    assert np.any((expected.labels >= 0) & ~expected.core)
    for index in TREES:
        assert_same(run(case, index), expected)


def test_identical_rows_are_one_cluster() -> None:
    found = run(Case(np.ones((200_000, 2)), Measure(0.1), 5), threads=2)
    assert found.n_clusters == 1
    assert found.core.all()


def test_unknown_names_are_refused() -> None:
    block = Block.over(np.zeros((3, 2)), None, _native.Team(1))
    with pytest.raises(ValueError, match=r"expected index .* got hash"):
        dbscan(block, Measure(1.0), 2, index="hash")
    with pytest.raises(ValueError, match=r"expected a metric .* got jaccard"):
        dbscan(block, Measure(1.0, "jaccard"), 2)
    with pytest.raises(ValueError, match="positive and finite eps"):
        dbscan(block, Measure(0.0), 2)
    with pytest.raises(ValueError, match="haversine expects 2 columns"):
        dbscan(Block.over(np.zeros((3, 3)), None, _native.Team(1)), Measure(1.0, "haversine"), 2)


@pytest.mark.parametrize("index", INDEXES)
def test_an_interrupt_ends_the_work(index: str) -> None:
    """The signal arrives while a step is under way; the same block can be clustered afterwards."""
    rng = np.random.default_rng(0)
    n = 8000 if index == "brute" else 300_000
    block = Block.over(rng.normal(size=(n, 8)), None, _native.Team(2))
    timer = threading.Timer(0.1, signal.raise_signal, [signal.SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        again_and_again(block, index)
    timer.join()
    small = Case(rng.normal(size=(50, 2)), Measure(0.3), 3)
    assert_same(run(small, index), definition(small))


def again_and_again(block: Block, index: str) -> None:
    for _ in range(1000):
        dbscan(block, Measure(1.0), 5, index=index, counts=True)
