"""Batches: means of the rows that were nearest when they came."""

from __future__ import annotations

import numpy as np
import pytest
from support.estimators import assert_same_state, same_partition, state

from coterie import KMeans


def test_by_hand():
    model = KMeans(2, init=[[0.0], [10.0]]).partial_fit([[1.0], [3.0], [12.0]])
    assert model.cluster_centers_.ravel().tolist() == [2.0, 12.0]
    assert model.counts_.tolist() == [2, 1]
    assert model.labels_.tolist() == [0, 0, 1]
    assert model.inertia_ == 2.0
    assert model.clustering_error_ == pytest.approx(2 / 3)
    model.partial_fit([[8.0], [4.0]], sample_weight=[3, 2])  # 8 is nearer to 12, 4 to 2
    assert model.cluster_centers_.ravel().tolist() == [(1 + 3 + 4 * 2) / 4, (12 + 8 * 3) / 4]
    assert model.counts_.tolist() == [4, 4]
    assert model.n_iter_ == 2
    assert not model.converged_
    assert model.active_.tolist() == [True, True]
    assert model.history_ == model.runs_ == ()


def test_batches_find_clear_groups(blobs):
    X, y = blobs
    order = np.random.RandomState(0).permutation(len(X))
    model = KMeans(5, random_state=0)
    for batch in np.array_split(order, 6):
        model.partial_fit(X[batch])
        np.testing.assert_array_equal(model.predict(X[batch]), model.labels_)
        assert model.score(X[batch]) == -model.inertia_
    assert same_partition(model.predict(X), y)
    assert model.counts_.sum() == len(X)
    whole = KMeans(5, init=model.cluster_centers_).fit(X)
    np.testing.assert_allclose(model.cluster_centers_, whole.cluster_centers_, rtol=1e-9)


def test_a_fit_can_be_continued(blobs):
    X, y = blobs
    first, rest = np.arange(300) < 150, np.arange(300) >= 150
    model = KMeans(5, random_state=0, n_init=5).fit(X[first])
    model.partial_fit(X[rest])
    assert model.counts_.sum() == 300
    means = np.array([X[model.predict(X) == c].mean(axis=0) for c in range(5)])
    np.testing.assert_allclose(model.cluster_centers_, means, rtol=1e-9)
    assert same_partition(model.predict(X), y)


def test_whole_weights_are_copies(cloud):
    copies = np.random.RandomState(0).randint(0, 3, 400)
    a, b = KMeans(4, init=cloud[:4]), KMeans(4, init=cloud[:4])
    for _ in range(3):
        a.partial_fit(cloud[:400], sample_weight=copies)
        b.partial_fit(np.repeat(cloud[:400], copies, axis=0))
    np.testing.assert_array_equal(a.cluster_centers_, b.cluster_centers_)
    np.testing.assert_array_equal(a.predict(cloud[:400]), a.labels_)


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_any_scale(blobs, scale):
    X, y = blobs
    start = X[[int(np.argmax(y == c)) for c in range(5)]]
    model = KMeans(5, init=start * scale)
    for batch in np.array_split(X * scale, 4):
        model.partial_fit(batch)
    assert same_partition(model.predict(X * scale), y)


def test_the_first_batch_must_seed_and_later_ones_may_be_small():
    with pytest.raises(ValueError, match="n_samples=2 should be >= n_clusters=3"):
        KMeans(3).partial_fit(np.eye(2))
    model = KMeans(3, random_state=0).partial_fit(np.eye(3)).partial_fit(np.eye(3)[:1])
    assert model.counts_.tolist().count(2) == 1


def test_a_failed_batch_changes_nothing(blobs):
    X, _ = blobs
    model = KMeans(5, random_state=0).partial_fit(X)
    before = state(model)
    with pytest.raises(ValueError, match="NaN"):
        model.partial_fit(X * np.nan)
    with pytest.raises(ValueError, match="features"):
        model.partial_fit(X[:, :2])
    assert_same_state(before, vars(model))
