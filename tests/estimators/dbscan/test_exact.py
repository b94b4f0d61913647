"""DBSCAN beside its definition: labels, core points, borders and counts, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import make_blobs
from support.dbscan_cases import METRICS, Case, cases
from support.kmeans_cases import THREADS, thorough

from coterie import DBSCAN
from coterie.kernels import reference


def assert_is(model: DBSCAN, expected: reference.Clusters) -> None:
    np.testing.assert_array_equal(model.labels_, expected.labels)
    np.testing.assert_array_equal(model.core_sample_indices_, np.flatnonzero(expected.core))
    assert model.n_clusters_ == expected.n_clusters
    kinds = np.where(expected.core, 2, np.where(expected.labels >= 0, 1, 0))
    np.testing.assert_array_equal(model.kind_, kinds)


@pytest.mark.parametrize("metric", METRICS)
def test_the_definition(metric: str) -> None:
    @thorough(300)
    @given(cases(metrics=[metric]))
    def agrees(case: Case) -> None:
        model = DBSCAN(**case.parameters).fit(case.X, sample_weight=case.weights)
        assert_is(model, case.definition())
        known = case.repeatable
        np.testing.assert_array_equal(model.predict(case.X)[known], model.labels_[known])

    agrees()


@thorough(150)
@given(cases(max_n=40, max_d=64, metrics=["euclidean"]))
def test_the_definition_with_many_columns(case: Case) -> None:
    model = DBSCAN(**case.parameters).fit(case.X, sample_weight=case.weights)
    assert_is(model, case.definition())


@thorough(60)
@given(cases(max_n=300, max_d=3, metrics=["euclidean"]))
def test_the_definition_with_more_rows(case: Case) -> None:
    model = DBSCAN(**case.parameters).fit(case.X, sample_weight=case.weights)
    assert_is(model, case.definition())


@thorough(100)
@given(cases(metrics=METRICS), st.integers(0, 2**32 - 1))
def test_new_points_by_the_definition(case: Case, seed: int) -> None:
    rng = np.random.default_rng(seed)
    moved = case.X + rng.normal(size=case.X.shape).astype(case.X.dtype) * case.eps
    new = np.concatenate([moved.astype(case.X.dtype), case.X[rng.integers(len(case.X), size=5)]])
    model = DBSCAN(**case.parameters).fit(case.X, sample_weight=case.weights)
    expected = case.predictions(new)
    np.testing.assert_array_equal(model.predict(new), expected)
    np.testing.assert_array_equal(model.predict(new.astype(np.float64)), expected)
    one_by_one = [int(model.predict(row[np.newaxis])[0]) for row in new[:3]]
    assert one_by_one == expected[:3].tolist()


@thorough(100)
@given(cases(metrics=METRICS))
def test_counts_and_growth(case: Case) -> None:
    model = DBSCAN(**case.parameters, count_neighbors=True, trace=True)
    model.fit(case.X, sample_weight=case.weights)
    near = case.nearby()
    np.testing.assert_array_equal(model.n_neighbors_, near.sum(axis=1))
    # Replayed, the waves give the labels; each is reached by core points of the one before.
    labels = np.full(len(case.X), -1)
    core = model.kind_ == 2
    _, first = np.unique(model.labels_[core], return_index=True)
    before = np.sort(model.core_sample_indices_[first])
    for number, wave in enumerate(model.trace_):
        assert (labels[wave.rows] == -1).all()
        if number == 0:
            np.testing.assert_array_equal(wave.rows, before)
        same = wave.labels[:, np.newaxis] == model.labels_[before]
        assert (near[np.ix_(wave.rows, before)] & same).any(axis=1).all()
        labels[wave.rows] = wave.labels
        before = wave.rows[core[wave.rows]]
    np.testing.assert_array_equal(labels, model.labels_)


def test_by_hand() -> None:
    # Two groups of core points, a border point between them that both reach, and an outlier.
    X = np.array([[0.0], [1.0], [2.0], [4.0], [6.0], [7.0], [8.0], [99.0]])
    model = DBSCAN(eps=2.0, min_samples=4).fit(X)
    np.testing.assert_array_equal(model.labels_, [0, 0, 0, 0, 1, 1, 1, -1])
    np.testing.assert_array_equal(model.core_sample_indices_, [2, 4])
    assert [DBSCAN.KINDS[kind] for kind in model.kind_] == [
        *("border", "border", "core", "border", "core", "border", "border", "noise")
    ]
    # Backwards, clusters have other numbers, and the point between goes to the new number zero.
    np.testing.assert_array_equal(
        DBSCAN(eps=2.0, min_samples=4).fit_predict(X[::-1]), [-1, 0, 0, 0, 0, 1, 1, 1]
    )
    np.testing.assert_array_equal(
        model.predict([[4.0], [4.1], [8.1], [-0.1], [0.0]]), [0, 1, -1, -1, 0]
    )


def test_weights_by_hand() -> None:
    X = np.array([[0.0], [1.0], [5.0], [6.0]])
    fit = DBSCAN(eps=1.0, min_samples=3).fit
    np.testing.assert_array_equal(fit(X).labels_, [-1] * 4)
    np.testing.assert_array_equal(fit(X, sample_weight=[3, 0, 1, 1]).labels_, [0, 0, -1, -1])
    np.testing.assert_array_equal(fit(X, sample_weight=[3, -1, 1, 2]).labels_, [-1, -1, 0, 0])
    # Three thirds are one.
    thirds = DBSCAN(eps=1.0, min_samples=1).fit(np.zeros((3, 1)), sample_weight=np.full(3, 1 / 3))
    np.testing.assert_array_equal(thirds.labels_, [0, 0, 0])


@pytest.mark.parametrize("scale", [2.0**-1000, 1e-300, 1e-160, 1e160, 2.0**1000])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev"])
def test_any_scale(scale: float, metric: str) -> None:
    X, _ = make_blobs(300, 3, centers=4, random_state=0)
    expected = DBSCAN(eps=1.0, metric=metric).fit(X)
    assert expected.n_clusters_ >= 3
    model = DBSCAN(eps=1.0 * scale, metric=metric).fit(X * scale)
    np.testing.assert_array_equal(model.labels_, expected.labels_)
    np.testing.assert_array_equal(model.predict(X * scale), expected.labels_)


@pytest.mark.parametrize("offset", [1e5, 1e9, 1.7e12])
def test_far_from_the_origin(offset: float) -> None:
    # Multiples of 1/8 keep all their digits at this offset.
    rng = np.random.default_rng(0)
    X = np.round(8 * rng.normal(size=(500, 2)) * 3) / 8
    expected = DBSCAN(eps=0.5).fit(X)
    assert 3 < expected.n_clusters_ < 100
    np.testing.assert_array_equal(DBSCAN(eps=0.5).fit_predict(X + offset), expected.labels_)


@pytest.fixture(scope="module")
def groups() -> np.ndarray:
    X, _ = make_blobs(3000, 3, centers=12, cluster_std=0.6, random_state=1)
    return X


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine"])
def test_threads_change_nothing(groups: np.ndarray, metric: str) -> None:
    eps = 0.001 if metric == "cosine" else 0.5
    weights = np.random.default_rng(0).normal(1, 1, len(groups))
    fits = [
        DBSCAN(eps=eps, metric=metric, n_jobs=jobs, count_neighbors=True).fit(
            groups, sample_weight=weights
        )
        for jobs in THREADS
    ]
    for one in fits[1:]:
        for name in ("labels_", "kind_", "n_neighbors_", "core_sample_indices_", "components_"):
            np.testing.assert_array_equal(getattr(one, name), getattr(fits[0], name))
        np.testing.assert_array_equal(one.predict(groups), fits[0].labels_)


def test_layouts_change_nothing(groups: np.ndarray) -> None:
    X = np.round(groups, 2).astype(np.float32)
    expected = DBSCAN().fit(X)
    forms = {
        "float64": X.astype(np.float64),
        "Fortran": np.asfortranarray(X),
        "strided": np.repeat(X, 2, axis=0)[::2],
        "list": X.tolist(),
        "csr": sparse.csr_matrix(X),
        "csc": sparse.csc_array(X),
    }
    for name, form in forms.items():
        model = DBSCAN().fit(form)
        np.testing.assert_array_equal(model.labels_, expected.labels_, err_msg=name)
        np.testing.assert_array_equal(model.predict(form), expected.labels_, err_msg=name)
    np.testing.assert_array_equal(
        DBSCAN(eps=50).fit_predict((100 * X).astype(np.int64)),
        DBSCAN(eps=50).fit_predict((100 * X).astype(np.int64).astype(float)),
    )


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine"])
def test_sparse_rows_that_do_not_fit_when_dense(metric: str) -> None:
    @thorough(60)
    @given(cases(metrics=[metric], max_n=30))
    def agrees(case: Case) -> None:
        X = np.where(np.abs(case.X) < 0.4, 0, case.X).astype(case.X.dtype)
        case = Case(X, case.eps, case.min_samples, case.weights, metric)
        wide = sparse.hstack([sparse.csr_array(X), sparse.csr_array((len(X), 4000))]).tocsr()
        model = DBSCAN(**case.parameters, memory_budget=100_000)
        model.fit(wide, sample_weight=case.weights)
        if len(X) > 2:
            assert model.index_ == "sparse"
        assert_is(model, case.definition())
        known = case.repeatable
        np.testing.assert_array_equal(model.predict(wide)[known], model.labels_[known])

    agrees()
