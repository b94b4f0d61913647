"""Sparse rows that are too large as dense ones: the definition holds at every scale, and ties are
decided together."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse

from coterie import DBSCAN
from coterie.estimators.dbscan import sparse_pairs
from coterie.estimators.dbscan.sparse_pairs import Euclidean, grid_of
from coterie.kernels.reference.dbscan import nearby

KINDS = ("counts", "tenths", "normal")


def rows_of(kind: str, n: int = 80, d: int = 30) -> NDArray[np.float64]:
    rng = np.random.default_rng(0)
    values = {
        "counts": rng.poisson(1.0, (n, d)).astype(float),
        "tenths": 0.1 * rng.integers(1, 4, (n, d)),
        "normal": rng.normal(size=(n, d)).round(1),
    }[kind]
    return np.where(rng.random((n, d)) < 0.15, values, 0.0)


def as_sparse(model: DBSCAN, X: Any) -> DBSCAN:
    fitted = model.set_params(memory_budget=9000).fit(sparse.csr_array(X))
    assert fitted.index_ == "sparse"
    return fitted


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("power", [-1040, -600, 0, 530, 1000])
def test_scale_does_not_matter(kind: str, power: int) -> None:
    X = rows_of(kind)
    if power < -1000:
        X = np.round(X * 16) / 16  # digits that the smallest numbers still have
    for eps in (np.sqrt(0.03), 1.0, np.sqrt(3)):
        expected = DBSCAN(eps, min_samples=3, count_neighbors=True).fit(X)
        scaled = np.ldexp(X, power)
        model = DBSCAN(np.ldexp(eps, power), min_samples=3, count_neighbors=True)
        assert_same(as_sparse(model, scaled), expected)
        found = model.predict(sparse.csr_array(scaled))
        np.testing.assert_array_equal(found, expected.labels_)


def assert_same(model: DBSCAN, expected: DBSCAN) -> None:
    np.testing.assert_array_equal(model.labels_, expected.labels_)
    np.testing.assert_array_equal(model.n_neighbors_, expected.n_neighbors_)


@pytest.mark.parametrize("large", [1e200, 1.7e308])
@pytest.mark.parametrize("eps", [1.0, 1e-300, 2.1e-308])
def test_values_far_beyond_eps(large: float, eps: float) -> None:
    """Products of such rows overflow, also those of rows that are close to each other."""
    X = rows_of("counts") * eps * 0.5
    X[::2, 0], X[::4, 1] = large, -large
    expected = DBSCAN(eps, min_samples=3, count_neighbors=True).fit(X)
    assert expected.n_neighbors_.max() > 3
    assert_same(as_sparse(DBSCAN(eps, min_samples=3, count_neighbors=True), X), expected)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("entries", [1, 100, 1 << 20])
def test_pairs_that_tie_are_decided_by_the_definition(
    kind: str, entries: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sparse_pairs, "ENTRIES_AT_ONCE", entries)
    X = rows_of(kind, n=40)
    distances = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))
    for eps in np.quantile(distances[distances > 0], [0.01, 0.2, 0.6]):
        near = Euclidean(sparse.csr_array(X), eps).near(sparse.csr_array(X), np.arange(3, 40))
        np.testing.assert_array_equal(near, nearby(X[3:], X, eps))


@pytest.fixture
def decided(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of pairs that were decided in each call."""
    sizes: list[int] = []
    original = Euclidean.decided

    def watched(self: Euclidean, A: Any, B: Any) -> Any:
        sizes.append(A.shape[0])
        return original(self, A, B)

    monkeypatch.setattr(Euclidean, "decided", watched)
    return sizes


def three_of_each_row(value: float) -> sparse.csr_array:
    """Three values a row, all equal, rarely in one column: distances tie at sqrt(6) times it."""
    rng = np.random.default_rng(0)
    columns = rng.integers(0, 20_000, 900)
    places = (np.repeat(np.arange(300), 3), columns)
    return sparse.csr_array((np.full(900, value), places), shape=(300, 20_000))


def test_many_ties_are_decided_together(decided: list[int]) -> None:
    """One call decides thousands of pairs: by itself each would take 0.1 milliseconds."""
    X = three_of_each_row(0.1)
    model = DBSCAN(0.1 * np.sqrt(6), memory_budget=3e6).fit(X)
    assert model.index_ == "sparse"
    assert sum(decided) > 80_000
    assert len(decided) < 20


def test_counts_need_no_decision(decided: list[int]) -> None:
    """Sums of whole numbers are exact, so no tie needs a decision."""
    X = three_of_each_row(1.0)
    assert DBSCAN(np.sqrt(6), memory_budget=3e6).fit(X).index_ == "sparse"
    assert not decided


def test_the_grid_of_values() -> None:
    assert grid_of(np.array([3.0, 8.0, 0.0])) == 0
    assert grid_of(np.array([0.75, -2.0])) == -2
    assert grid_of(np.array([2.0**60, 2.0**-1074])) == -1074
    assert grid_of(np.array([0.1])) == -55
    assert grid_of(np.array([np.inf, 1.0])) < -2000
    assert grid_of(np.array([])) > 1000
