"""Silhouettes: by hand, against scikit-learn, at far offsets, with noise, and on samples."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.metrics import silhouette_samples

from coterie.choosing import silhouettes
from coterie.data import blobs


def test_by_hand() -> None:
    X = np.array([[0.0], [1.0], [5.0], [9.0]])
    found = silhouettes(X, [[0, 0, 1, 2]])
    # Row 0: a = 1, b = 5. Row 1: a = 1, b = 4. Rows 2 and 3 are alone.
    np.testing.assert_allclose(found.values[0], [0.8, 0.75, 0.0, 0.0], rtol=1e-15)
    assert found.sample is None
    assert found.means == (pytest.approx(0.3875),)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(6, 60), st.integers(1, 4), st.integers(2, 5))
def test_equals_scikit_learn(seed: int, n: int, d: int, k: int) -> None:
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d))
    labels = np.concatenate([np.arange(k), random.integers(k, size=n - k)])
    found = silhouettes(X, [labels, labels * 3]).values
    np.testing.assert_allclose(found[0], silhouette_samples(X, labels), atol=1e-9)
    np.testing.assert_array_equal(found[0], found[1])  # numbers of clusters do not matter


@pytest.mark.parametrize(("factor", "offset"), [(1e-200, 0.0), (1e200, 0.0), (1.0, 1e9)])
def test_scale_and_offset_change_nothing(factor: float, offset: float) -> None:
    X, labels = blobs(90, 3)
    X = np.round(X * 1024) / 1024  # so that the offset loses no digit
    plain = silhouettes(X, [labels]).values[0]
    np.testing.assert_allclose(
        silhouettes(factor * X + offset, [labels]).values[0], plain, atol=1e-9
    )


def test_noise_takes_no_part() -> None:
    X, labels = blobs(90, 3)
    far = np.vstack([X, [[1e3, 1e3], [-1e3, 0.0]]])
    found = silhouettes(far, [np.append(labels, [-1, -1])]).values[0]
    assert np.isnan(found[-2:]).all()
    np.testing.assert_allclose(found[:-2], silhouettes(X, [labels]).values[0], atol=1e-9)


def test_one_cluster_has_none() -> None:
    X, _ = blobs(20, 2)
    assert silhouettes(X, [np.zeros(20, int), np.full(20, -1)]).means == (None, None)


def test_equal_rows_are_between() -> None:
    found = silhouettes(np.ones((6, 2)), [[0, 0, 0, 1, 1, 1]])
    np.testing.assert_array_equal(found.values[0], np.zeros(6))


def test_a_sample_is_of_the_rows_and_stated() -> None:
    X, labels = blobs(3000, 3, seed=1)
    found = silhouettes(X, [labels], sample_size=500, random_state=3)
    assert found.sample == 500
    assert found.rows is not None
    np.testing.assert_array_equal(found.labels[0], labels[found.rows])
    exact = silhouettes(X, [labels], sample_size=None)
    assert exact.sample is None
    assert abs(found.means[0] - exact.means[0]) < 0.02  # type: ignore[operator]
    with pytest.raises(ValueError, match="sample_size of 1 or more"):
        silhouettes(X, [labels], sample_size=0)


def test_sparse_cosine_and_given_distances() -> None:
    X, labels = blobs(60, 3, d=4)
    plain = silhouettes(X, [labels]).values[0]
    np.testing.assert_allclose(
        silhouettes(sparse.csr_array(X), [labels]).values[0], plain, atol=1e-6
    )
    apart = np.linalg.norm(X[:, None] - X, axis=2)
    given_ = silhouettes(apart, [labels], metric="precomputed", sample_size=None).values[0]
    np.testing.assert_allclose(given_, plain, atol=1e-9)
    longer = X * np.linspace(1, 9, 60)[:, None]
    directions = [silhouettes(rows, [labels], metric="cosine").values[0] for rows in (X, longer)]
    np.testing.assert_allclose(*directions, atol=1e-9)
    boxes = silhouettes(X, [labels], metric="manhattan").values[0]
    np.testing.assert_allclose(boxes, silhouette_samples(X, labels, metric="manhattan"), atol=1e-9)
