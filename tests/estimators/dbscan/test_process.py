"""DBSCAN in its process: forks, signals, failures and memory; a fit leaves nothing behind."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from support.estimators import assert_same_state, state
from support.process import (
    holds_in_a_fork,
    interrupted,
    kept_by,
    needs_fork,
    needs_proc,
    peak_growth,
    surroundings,
)

from coterie import DBSCAN
from coterie.estimators.dbscan import pairwise, sparse_pairs


@pytest.fixture(scope="module")
def large():
    return np.random.default_rng(0).random((20_000, 3))


def fit(X, **parameters):
    return DBSCAN(eps=0.03, n_jobs=2, **parameters).fit(X)


@needs_fork
def test_fork_after_fit(large):
    model = fit(large)

    def check():
        same = np.array_equal(model.predict(large), model.labels_)
        return same and np.array_equal(fit(large).labels_, model.labels_)

    assert holds_in_a_fork(check)


def slow(a, b):
    return abs(a[0] - b[0])


@pytest.mark.parametrize("metric", ["euclidean", "minkowski", slow], ids=str)
def test_an_interrupted_fit_leaves_the_estimator_as_it_was(metric):
    # Noise without an end: many columns leave an index nothing to prune.
    vast = np.random.default_rng(0).random((100_000, 24), dtype=np.float32)
    model = DBSCAN(eps=1.3, metric=metric, p=3).fit(vast[:300])
    before = interrupted(model, vast, after=0.02)
    np.testing.assert_array_equal(model.predict(vast[:300]), model.labels_)
    again = model.set_params(callback=None).fit(vast[:300])
    np.testing.assert_array_equal(again.labels_, before["labels_"])


@pytest.mark.parametrize(
    "spoil",
    [
        lambda model, X: model.fit(np.where(X > 0.5, X, np.nan)),
        lambda model, X: model.fit(X[:, :2] * np.nan),
        lambda model, X: model.fit(X, sample_weight=np.zeros(len(X))),
        lambda model, X: model.set_params(eps=0).fit(X[:, :2]),
        lambda model, X: model.set_params(callback=lambda event: 1 / 0).fit(X[:, :2]),
        lambda model, X: model.set_params(metric=lambda a, b: 1 / 0).fit(X[:, :2]),
        lambda model, X: model.set_params(memory_budget=1).fit(X[:, :2]),
    ],
)
def test_a_failed_refit_keeps_the_old_model(large, spoil):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(large[:500], columns=["a", "b", "c"])
    model = fit(frame, count_neighbors=True)
    before = state(model)
    with pytest.raises((ValueError, ZeroDivisionError, MemoryError)):
        spoil(model, large[:500])
    after = vars(model) | {name: before[name] for name in model.get_params()}
    assert_same_state(before, after)
    model.set_params(**{name: before[name] for name in model.get_params()})
    np.testing.assert_array_equal(model.predict(frame), model.labels_)


def test_the_process_stays_as_it_was(large, capfd):
    fit(large[:100]).predict(large[:100])
    before = surroundings()
    fit(large, trace=True, count_neighbors=True).predict(large)
    with np.errstate(all="raise"):
        fit(large[:500] * 1e-150, metric="cosine").predict(large[:500])
        fit(large[:500], metric="sqeuclidean")
    with pytest.raises(ValueError, match="NaN"):
        fit(large * np.nan)
    assert surroundings() == before
    assert capfd.readouterr() == ("", "")


@needs_proc
def test_hundreds_of_fits_leave_nothing_behind(large):
    X, spoilt = large[:2500], np.full((300, 3), np.nan)

    def work():
        for _ in range(100):
            fit(X)
            with pytest.raises(ValueError, match="NaN"):
                fit(spoilt)

    assert kept_by(work) < 1000  # kilobytes: a leak of the labels of each fit would be 2,000


def test_a_million_equal_points():
    X = np.ones((1_000_000, 2))
    model = DBSCAN(n_jobs=2)
    assert peak_growth(lambda: model.fit(X)) < 300_000  # kilobytes
    assert model.n_clusters_ == 1
    assert not model.labels_.any()
    assert len(model.core_sample_indices_) == len(X)


@pytest.mark.parametrize("d", [2, 3, 16])
def test_memory_is_linear(d):
    X = np.random.default_rng(0).random((300_000, d))
    model = DBSCAN(eps=0.01, n_jobs=2)
    allowed = 2 * X.nbytes + 60 * len(X)
    assert peak_growth(lambda: model.fit(X)) * 1024 < allowed


@pytest.mark.parametrize("metric", ["canberra", "mahalanobis", "braycurtis"])
def test_wide_rows_are_compared_in_small_batches(metric, monkeypatch):
    """Python handles Ctrl-C between two batches, so that no batch may take seconds."""
    batches = []
    original = pairwise.pairwise_distances

    def watched(X, Y, metric, **parameters):
        batches.append(X.shape[0] * Y.shape[0] * pairwise.work_of_pair(metric, X.shape[1]))
        return original(X, Y, metric=metric, **parameters)

    monkeypatch.setattr(pairwise, "pairwise_distances", watched)
    monkeypatch.setattr(pairwise, "WORK_AT_ONCE", 1 << 16)
    X = np.random.default_rng(0).random((100, 30))
    model = DBSCAN(0.5, min_samples=2, metric=metric).fit(X)
    assert len(batches) > 4
    assert max(batches) <= 1 << 17
    monkeypatch.setattr(pairwise, "WORK_AT_ONCE", 1 << 40)
    whole = DBSCAN(0.5, min_samples=2, metric=metric).fit(X)
    np.testing.assert_array_equal(model.labels_, whole.labels_)


def test_wide_sparse_rows_are_compared_in_small_batches(monkeypatch):
    asked = []
    original = sparse_pairs.Euclidean.near

    def watched(self, X, rows):
        asked.append(len(rows))
        return original(self, X, rows)

    monkeypatch.setattr(sparse_pairs.Euclidean, "near", watched)
    monkeypatch.setattr(pairwise, "WORK_AT_ONCE", 1 << 16)
    rng = np.random.default_rng(0)
    X = sparse.random_array((100, 400), density=0.2, rng=rng, format="csr")
    DBSCAN(2.0, min_samples=2, memory_budget=1e5).fit(X)
    assert sum(asked) >= 100
    assert max(asked) < 30
