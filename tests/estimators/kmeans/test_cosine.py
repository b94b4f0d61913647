"""metric="cosine": only directions count."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from support.estimators import assert_same_fit, same_partition
from support.kmeans_cases import DRAWN

from coterie import KMeans


@pytest.fixture(scope="module")
def rays():
    """Rows along six directions, of lengths from 1e-200 to 1e200."""
    rng = np.random.RandomState(0)
    y = np.repeat(np.arange(6), 40)
    directions = np.vstack([np.eye(3), -np.eye(3)])[y] + 0.05 * rng.standard_normal((240, 3))
    return directions * 10.0 ** rng.uniform(-200, 200, (240, 1)), y


def test_directions_are_found_whatever_the_lengths(rays):
    X, y = rays
    model = KMeans(6, metric="cosine", random_state=0, n_init=5).fit(X)
    assert same_partition(model.labels_, y)
    np.testing.assert_allclose(np.linalg.norm(model.cluster_centers_, axis=1), 1, rtol=1e-12)
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    np.testing.assert_array_equal(model.predict(X[:1] * 1e5), model.labels_[:1])
    rows = [model.predict(row[None])[0] for row in X]
    np.testing.assert_array_equal(rows, model.labels_)


def test_distances_are_chords_and_errors_are_theirs(rays):
    X, _ = rays
    model = KMeans(6, metric="cosine", random_state=0).fit(X)
    unit = X / np.abs(X).max(axis=1, keepdims=True)
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    cosines = unit @ model.cluster_centers_.T
    chords = np.sqrt(np.maximum(2 - 2 * cosines, 0))
    np.testing.assert_allclose(model.transform(X), chords, atol=1e-7)
    np.testing.assert_array_equal(cosines.argmax(axis=1), model.labels_)
    best = cosines.max(axis=1)
    assert model.inertia_ == pytest.approx((2 - 2 * best).sum(), rel=1e-9)
    assert model.score(X) == -model.inertia_
    assert model.clustering_error_ == pytest.approx(model.inertia_ / len(X))


def test_a_mean_is_the_direction_of_the_sum():
    X = np.array([[2.0, 0.0], [0.0, 7.0], [-1.0, 0.1], [-1.0, -0.1]])
    model = KMeans(2, metric="cosine", init=[[5.0, 5.0], [-3.0, 0.0]]).fit(X)
    np.testing.assert_allclose(model.runs_[0].initial_means[0], [0.5**0.5, 0.5**0.5])
    np.testing.assert_allclose(model.cluster_centers_, [[0.5**0.5, 0.5**0.5], [-1, 0]], atol=1e-15)


@pytest.mark.parametrize("init", DRAWN)
def test_sparse_and_dense_are_the_same_bits(init):
    X = sparse.random(300, 40, density=0.2, format="csr", random_state=0)
    X[np.flatnonzero(np.diff(X.indptr) == 0), 0] = 1.0  # no row of zeros
    parameters = {"metric": "cosine", "init": init, "random_state": 0, "n_init": 1}
    dense = KMeans(5, **parameters).fit(X.toarray())
    assert_same_fit(KMeans(5, **parameters).fit(X), dense)
    np.testing.assert_array_equal(dense.predict(X), dense.labels_)
    np.testing.assert_array_equal(dense.transform(X), dense.transform(X.toarray()))


def test_the_data_are_not_changed(rays):
    X = rays[0].copy()
    KMeans(6, metric="cosine", random_state=0).fit(X).partial_fit(X).transform(X)
    np.testing.assert_array_equal(X, rays[0])


@pytest.mark.parametrize("form", [np.array, sparse.csr_matrix])
def test_rows_without_direction_are_named(form):
    X = np.eye(4)
    X[2] = 0
    words = "row 2 of X is all zeros.*Drop rows.*euclidean"
    with pytest.raises(ValueError, match=words):
        KMeans(2, metric="cosine").fit(form(X))
    model = KMeans(2, metric="cosine", random_state=0).fit(form(np.eye(4)))
    for method in ("predict", "transform", "score", "partial_fit"):
        with pytest.raises(ValueError, match=words):
            getattr(model, method)(form(X))


def test_initial_means_without_direction():
    with pytest.raises(ValueError, match="row 1 of init is all zeros"):
        KMeans(2, metric="cosine", init=[[1.0, 0], [0, 0]]).fit(np.eye(2))
    with pytest.raises(ValueError, match="row 0 of the array that the callable init returned"):
        KMeans(2, metric="cosine", init=lambda X, k, random_state: X * 0).fit(np.eye(2))
    with pytest.raises(ValueError, match=r"'principal'.*one line.*k-means"):
        KMeans(2, metric="cosine", init="principal").fit(np.eye(2))


def test_weights_and_batches(rays):
    X, y = rays
    weights = np.where(np.arange(len(X)) % 5, 2.0, 0.0)
    model = KMeans(6, metric="cosine", random_state=0, n_init=5).fit(X, sample_weight=weights)
    assert same_partition(model.labels_, y)
    expected = KMeans(6, metric="cosine", random_state=0, n_init=5).fit(X[weights > 0])
    np.testing.assert_array_equal(model.cluster_centers_, expected.cluster_centers_)
    batches = KMeans(6, metric="cosine", init=model.cluster_centers_)
    for first in range(0, 240, 60):
        batches.partial_fit(X[np.arange(240) % 4 == first // 60])
    assert same_partition(batches.predict(X), y)
    np.testing.assert_allclose(np.linalg.norm(batches.cluster_centers_, axis=1), 1, rtol=1e-12)
