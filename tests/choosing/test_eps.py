"""choose_eps: exact distances, picks that find the groups, reasons that are true."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.metrics import adjusted_rand_score

from coterie import DBSCAN, choose_eps
from coterie.choosing import eps_search
from coterie.choosing.k_distances import k_distances
from coterie.data import blobs, circles, moons, paper_non_convex, paper_round


@pytest.mark.parametrize("make", [paper_round, paper_non_convex, moons, circles])
def test_finds_the_groups(make: Any) -> None:
    X, groups = make()
    choice = choose_eps(X)
    assert adjusted_rand_score(groups, choice.model.labels_) > 0.97
    assert choice.model.eps == choice.eps
    assert choice.plateau is not None
    assert choice.plateau[0] <= choice.eps <= choice.plateau[1]
    assert f"eps {choice.eps:.3g}: from" in choice.reason


def test_the_table_is_what_dbscan_finds() -> None:
    X, _ = paper_round()
    choice = choose_eps(X, 4)
    for row in choice.rows[::8]:
        labels = DBSCAN(row.eps, min_samples=4).fit(X).labels_
        assert row.noise == np.mean(labels < 0)
        assert row.n_clusters == labels.max() + 1
    pick = next(row for row in choice.rows if row.eps == choice.eps)
    assert pick.n_clusters == choice.model.n_clusters_
    lines = str(choice).splitlines()
    assert lines[0].split() == list(choice.table())
    assert sum(line.startswith("*") for line in lines) == 1


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 10_000), st.integers(2, 60), st.integers(1, 20), st.integers(1, 8),
    st.sampled_from(["euclidean", "manhattan", "chebyshev"]),
)  # fmt: skip
def test_distances_are_exact(seed: int, n: int, d: int, k: int, metric: str) -> None:
    X = np.random.default_rng(seed).integers(-4, 5, size=(n, d)) + 1e7  # ties, a far offset
    found, chosen = k_distances(X, k, metric=metric)
    apart = np.abs(X[:, None] - X)
    whole = {"euclidean": np.sqrt((apart**2).sum(2)), "manhattan": apart.sum(2)}
    table = whole.get(metric, apart.max(2))
    expected = np.sort(np.sort(table, axis=1)[:, min(k, n) - 1])
    assert chosen is None
    np.testing.assert_allclose(found, expected, rtol=1e-14)


def test_one_structure_and_many_fits_say_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    for make, metric in ((paper_round, "euclidean"), (moons, "l1"), (circles, "chebyshev")):
        X, _ = make()
        one = choose_eps(X, metric=metric)
        with monkeypatch.context() as patch:
            patch.setattr(eps_search, "MOST_ROWS", 0)
            many = choose_eps(X, metric=metric)
        assert one.path is not None
        assert many.path is None
        assert str(one) == str(many)
        assert one.rows == many.rows
        np.testing.assert_allclose(one.distances, many.distances, rtol=1e-14)
        np.testing.assert_array_equal(one.path.labels(one.eps), one.model.labels_)


def test_all_rows_where_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(eps_search, "MOST_ROWS", 100)
    X, _ = blobs(300, 3, seed=2)
    assert choose_eps(X, sample_size=50).sample == 50
    assert choose_eps(X, sample_size=None).path is not None
    monkeypatch.setattr(eps_search, "MOST_ROWS", 300)
    assert choose_eps(X, sample_size=50).sample is None
    monkeypatch.setattr(eps_search, "allowed_memory", lambda budget: 1000.0)
    assert choose_eps(X, sample_size=50).sample == 50


def test_a_sample_has_exact_distances(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(eps_search, "MOST_ROWS", 1000)
    X, _ = blobs(3000, 4, seed=2)
    found, chosen = k_distances(X, 5, sample_size=100, random_state=1)
    assert chosen is not None
    alone, _ = k_distances(X, 5, sample_size=None)
    assert np.isin(found, alone).all()
    choice = choose_eps(X, sample_size=100)
    assert choice.sample == 100
    assert "random sample of 100 rows" in choice.reason


def test_core_points_can_be_read_off_the_curve() -> None:
    X, _ = moons(200)
    choice = choose_eps(X, 6)
    part = np.mean(choice.distances <= choice.eps)
    assert part == len(choice.model.core_sample_indices_) / len(X)


def test_one_group_says_so() -> None:
    X = np.random.default_rng(0).uniform(size=(400, 2))
    choice = choose_eps(X)
    assert choice.plateau is None
    assert "may be one group" in choice.reason


def test_degenerate_rows() -> None:
    same = choose_eps(np.ones((30, 2)))
    assert same.eps > 0
    assert same.model.n_clusters_ == 1
    copies = choose_eps(np.repeat([[0.0, 0.0], [3.0, 3.0], [9.0, 1.0]], 10, axis=0))
    assert copies.model.n_clusters_ == 3
    assert choose_eps([[0.0], [1.0], [2.0]]).eps > 0
    assert choose_eps([[1.0]]).eps > 0


def test_other_metrics_sparse_rows_and_progress() -> None:
    X, groups = blobs(150, 3, d=3, spread=0.3, seed=5)
    told: list[Any] = []
    choice = choose_eps(sparse.csr_array(X), callback=lambda *news: told.append(news))
    assert adjusted_rand_score(groups, choice.model.labels_) > 0.95
    assert [news[0] for news in told] == list(range(1, len(told) + 1))
    directions = choose_eps(X, metric="cosine")
    assert directions.model.metric == "cosine"
    assert 0 < directions.eps < 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"min_samples": 0}, "min_samples of 1 or more, got 0"),
        ({"metric": "precomputed"}, "pass the rows themselves"),
        ({"sample_size": 0}, "sample_size of 1 or more"),
    ],
)
def test_mistakes_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        choose_eps([[0.0], [1.0], [2.0]], **options)
