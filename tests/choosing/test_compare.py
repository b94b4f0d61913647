"""compare: agreement, silhouettes, sizes, and numbers of clusters that agree across models."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import adjusted_mutual_info_score, adjusted_rand_score

from coterie import DBSCAN, GaussianMixture, KMeans, Model, compare
from coterie.choosing import silhouettes
from coterie.choosing.match_labels import matched
from coterie.data import blobs, paper_round


def test_models_side_by_side() -> None:
    X, _ = paper_round()
    models = [KMeans(4, random_state=0).fit(X), GaussianMixture(4, random_state=0), DBSCAN(0.9)]
    found = compare(X, models)
    assert found.names == ("KMeans", "GaussianMixture", "DBSCAN")
    density = models[2].fit_predict(X)
    assert found.ari[0, 2] == adjusted_rand_score(models[0].labels_, density)
    assert found.ami[0, 2] == pytest.approx(adjusted_mutual_info_score(models[0].labels_, density))
    assert found.silhouettes == silhouettes(X, found.labels).means
    assert found.noise[2] == np.mean(density < 0)
    assert sum(found.sizes[0].values()) == len(X)
    np.testing.assert_array_equal(found.labels[0], models[0].labels_)
    inside = density >= 0
    agree = found.labels[2][inside] == found.labels[0][inside]
    assert agree.all()  # the same groups have the same numbers
    table = str(found).splitlines()
    assert len(table) == 6
    assert table[-1] == "ari and ami: agreement with KMeans."
    assert not hasattr(models[1], "means_")  # a copy was fitted


def test_names() -> None:
    X, labels = blobs(60, 3)
    several = [KMeans(2), KMeans(3), DBSCAN(1.0), DBSCAN(1.0), labels]
    names = ("KMeans n_clusters=2", "KMeans n_clusters=3", "DBSCAN 1", "DBSCAN 2", "labels")
    assert compare(X, several).names == names
    assert compare(X, {"first": labels, "second": KMeans(3)}).names == ("first", "second")
    assert compare(X, [labels], names=["mine"]).names == ("mine",)


def test_models_that_predict() -> None:
    X, _ = blobs(90, 3, spread=0.3)
    model = Model(KMeans(3, random_state=0).fit(X[:50]))
    found = compare(X, [model, KMeans(3, random_state=0)], sample_size=40)
    assert found.ari[0, 1] == 1.0
    assert found.sample == 40
    assert "a random sample of 40 rows" in str(found)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(-1, 5), min_size=1, max_size=40), st.permutations(range(6)))
def test_renumbered_clusters_are_found_again(labels: list[int], order: list[int]) -> None:
    a = np.array(labels)
    b = np.where(a >= 0, np.array(order)[a], -1)
    np.testing.assert_array_equal(matched([a, b])[1], a)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 40), st.integers(1, 6), st.integers(1, 6))
def test_matching_keeps_groups(seed: int, n: int, k: int, other: int) -> None:
    random = np.random.default_rng(seed)
    first, *rest = (random.integers(-1, top, size=n) for top in (k, other, k + other))
    found = matched([first, *rest])
    np.testing.assert_array_equal(found[0], first)
    for before, after in zip(rest, found[1:], strict=True):
        pairs = set(zip(before.tolist(), after.tolist(), strict=True))
        assert len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs})
        assert all((a == -1) == (b == -1) for a, b in pairs)


@pytest.mark.parametrize(
    ("models", "options", "message"),
    [
        ([], {}, "one or more models"),
        ([KMeans(2)], {"names": ["a", "b"]}, "got 1 models and 2 names"),
        ([[0, 1]], {}, r"integer labels of shape \(20,\), got list of shape \(2,\)"),
        ([np.zeros(20)], {}, "dtype float64"),
    ],
)
def test_mistakes_are_named(models: Any, options: dict[str, Any], message: str) -> None:
    X, _ = blobs(20, 2)
    with pytest.raises(ValueError, match=message):
        compare(X, models, **options)


def test_labels_may_be_compared_where_cells_are_missing() -> None:
    X = np.array([[0.0, 1.0], [np.nan, 2.0], [9.0, 8.0], [9.5, 8.0]])
    found = compare(X, {"one": np.array([0, 0, 1, 1]), "other": np.array([1, 1, 0, 0])})
    assert found.complete == 3
    assert found.ari[0, 1] == 1.0


def with_gaps(n_complete: int) -> Any:
    """Three groups, in which all rows but the first few lack one cell."""
    X, labels = blobs(90, 3, spread=0.3)
    X[n_complete:, 1] = np.nan
    return X, labels


def test_mixtures_of_rows_with_missing_cells() -> None:
    X, labels = with_gaps(60)
    model = GaussianMixture(3, missing="marginal", random_state=0).fit(X)
    found = compare(X, {"mixture": model, "truth": labels})
    assert found.ari[0, 1] == adjusted_rand_score(model.predict(X), labels)
    assert found.silhouettes == silhouettes(X[:60], [own[:60] for own in found.labels]).means
    assert found.complete == 60
    assert str(found).endswith("Silhouettes: only of 60 rows without missing cells.")
    with pytest.raises(ValueError, match="30 NaN"):
        compare(X, [KMeans(3, random_state=0).fit(X[:60])])


def test_no_silhouettes_where_every_row_lacks_a_cell() -> None:
    X, labels = with_gaps(0)
    X[:45, 1], X[:45, 0] = X[:45, 0], np.nan
    model = GaussianMixture(1, missing="marginal", random_state=0).fit(X)
    assert compare(X, [model, labels]).silhouettes == (None, None)
