"""DBSCANPath gives the labels of DBSCAN at every eps, and the values at which they change."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.cluster import DBSCAN as SklearnDBSCAN
from sklearn.datasets import make_blobs
from sklearn.utils.estimator_checks import parametrize_with_checks
from support.dbscan_cases import Case, cases
from support.kmeans_cases import THREADS, thorough

from coterie import DBSCAN, DBSCANPath
from coterie.kernels import reference
from coterie.kernels.dbscan_path_steps import METRICS


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks([DBSCANPath(), DBSCANPath(2, metric="manhattan", n_jobs=2)])
def test_check(estimator: DBSCANPath, check: Any) -> None:
    check(estimator)


def assert_is(path: DBSCANPath, X: NDArray[Any], eps: float) -> None:
    """The path gives the answers of DBSCAN and of the definition."""
    model = DBSCAN(eps, min_samples=path.min_samples, metric=path.metric).fit(X)
    np.testing.assert_array_equal(path.labels(eps), model.labels_)
    np.testing.assert_array_equal(np.flatnonzero(path.core(eps)), model.core_sample_indices_)
    expected = reference.dbscan(X, eps, path.min_samples, metric=path.metric)
    np.testing.assert_array_equal(path.labels(eps), expected.labels)
    assert path.labels(eps).dtype == np.int64


@thorough(1000)
@given(cases(metrics=METRICS, max_d=20), st.integers(0, 2**32 - 1))
def test_labels_are_those_of_dbscan(case: Case, seed: int) -> None:
    path = DBSCANPath(case.min_samples, metric=case.metric).fit(case.X)
    assert_is(path, case.X, case.eps)
    changes = path.changes()
    if len(changes := changes[changes > 0]):
        eps = float(np.random.default_rng(seed).choice(changes))
        assert_is(path, case.X, eps)
        assert_is(path, case.X, float(np.nextafter(eps, 0)))


@thorough(60)
@given(cases(metrics=METRICS, max_n=30, max_d=4))
def test_every_change(case: Case) -> None:
    """Labels before and at every change of eps are right, and they differ there."""
    path = DBSCANPath(case.min_samples, metric=case.metric).fit(case.X)

    def seen(eps: float) -> tuple[list[int], int, int]:
        found = reference.dbscan(case.X, eps, case.min_samples, metric=case.metric)
        assert_is(path, case.X, eps)
        n_members = int((found.labels >= 0).sum())
        return np.flatnonzero(found.core).tolist(), n_members, found.n_clusters

    last = None
    for eps in path.changes():
        if eps == 0:
            continue
        before, at = seen(float(np.nextafter(eps, 0))), seen(float(eps))
        assert before != at
        assert last is None or before == last  # nothing changed in between
        last = at


@pytest.mark.parametrize("d", [2, 5, 16])
def test_full_size_beside_scikit_learn(d: int) -> None:
    X, _ = make_blobs(4000, d, centers=6, random_state=d, cluster_std=1.5)
    path = DBSCANPath(6, n_jobs=2).fit(X)
    for share in (0.1, 0.5, 0.9, 0.999):
        eps = float(np.quantile(path.core_distances_, share))
        theirs = SklearnDBSCAN(eps=eps, min_samples=6, algorithm="kd_tree").fit(X)
        np.testing.assert_array_equal(path.labels(eps), theirs.labels_)


def test_by_hand() -> None:
    X = np.array([[0.0], [1.0], [2.0], [4.0], [6.0], [7.0], [8.0], [99.0]])
    path = DBSCANPath(min_samples=4).fit(X)
    np.testing.assert_array_equal(path.labels(2.0), [0, 0, 0, 0, 1, 1, 1, -1])
    np.testing.assert_array_equal(path.core_distances_, [4, 3, 2, 3, 2, 3, 4, 93])
    np.testing.assert_array_equal(path.member_distances_, [2, 2, 2, 2, 2, 2, 2, 91])
    np.testing.assert_array_equal(path.merge_distances_, [3, 3, 3, 3, 4, 4, 93])
    np.testing.assert_array_equal(path.changes(), [2, 3, 4, 91, 93])
    curve = path.curve()
    np.testing.assert_array_equal(curve.eps, [2, 3, 4, 91, 93])
    np.testing.assert_array_equal(curve.n_clusters, [2, 1, 1, 1, 1])
    np.testing.assert_array_equal(curve.n_core, [2, 5, 7, 7, 8])
    np.testing.assert_array_equal(curve.n_noise, [1, 1, 1, 0, 0])
    np.testing.assert_array_equal(curve.largest, [4, 7, 7, 8, 8])


@pytest.mark.parametrize("metric", METRICS)
def test_the_curve_is_that_of_dbscan(metric: str, cloud: NDArray[np.float64]) -> None:
    X = cloud[:300]
    path = DBSCANPath(4, metric=metric).fit(X)
    curve = path.curve()
    assert len(curve) == 256  # of more changes than that
    assert np.isin(curve.eps, path.changes()).all()
    given_eps = np.concatenate([curve.eps[::7], curve.eps[::11] * 1.01, [1e300]])
    for one in (path.curve(given_eps), curve):
        assert (np.diff(one.eps) > 0).all()
        for place in range(0, len(one), 5):
            found = DBSCAN(one.eps[place], min_samples=4, metric=metric).fit(X)
            sizes = np.bincount(found.labels_ + 1)
            assert one.n_clusters[place] == found.n_clusters_
            assert one.n_core[place] == len(found.core_sample_indices_)
            assert one.n_noise[place] == sizes[0]
            assert one.largest[place] == sizes[1:].max(initial=0)


def test_distances_are_the_smallest_that_suffice() -> None:
    X = np.random.default_rng(0).integers(0, 50, size=(500, 3)) * 0.1
    path = DBSCANPath(5).fit(X)
    for row in range(0, 500, 50):
        eps = path.core_distances_[row]
        assert path.core(eps)[row]
        assert row in DBSCAN(eps, min_samples=5).fit(X).core_sample_indices_
        less = np.nextafter(eps, 0)
        assert row not in DBSCAN(less, min_samples=5).fit(X).core_sample_indices_


@pytest.mark.parametrize("threads", THREADS)
def test_threads_do_not_matter(threads: int) -> None:
    X = np.random.default_rng(1).normal(size=(20_000, 2)).round(2)
    one, other = (DBSCANPath(6, n_jobs=jobs).fit(X) for jobs in (1, threads))
    for eps in (0.01, 0.02, 0.05):
        np.testing.assert_array_equal(one.labels(eps), other.labels(eps))
    np.testing.assert_array_equal(one.changes(), other.changes())


@pytest.mark.parametrize("power", [-1000, -600, 600, 1000])
def test_scale_does_not_matter(power: int) -> None:
    X = np.random.default_rng(2).normal(size=(300, 3)).round(1)
    one = DBSCANPath(4).fit(X)
    scaled = DBSCANPath(4).fit(np.ldexp(X, power))
    eps = np.ldexp(one.changes(), power)
    np.testing.assert_array_equal(scaled.changes(), eps)
    for at in (5, 50, 90):
        np.testing.assert_array_equal(scaled.labels(eps[at]), one.labels(one.changes()[at]))


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("size", [1e-310, 64 * 5e-324])
def test_distances_with_few_digits_left(metric: str, size: float) -> None:
    """The smallest float64 numbers are so far apart that distances fall between them."""
    X = np.random.default_rng(0).random((60, 2)) * size
    path = DBSCANPath(4, metric=metric).fit(X)
    curve = path.curve()
    given_eps = [*path.changes()[1:], *np.random.default_rng(1).random(9) * size]
    for eps in given_eps:
        model = DBSCAN(eps, min_samples=4, metric=metric).fit(X)
        np.testing.assert_array_equal(path.labels(eps), model.labels_)
        np.testing.assert_array_equal(np.flatnonzero(path.core(eps)), model.core_sample_indices_)
        np.testing.assert_array_equal(path.core_distances_ <= eps, path.core(eps))
        np.testing.assert_array_equal(path.member_distances_ <= eps, model.labels_ >= 0)
    for place in range(0, len(curve), 5):
        assert curve.n_core[place] == path.core(curve.eps[place]).sum()


@pytest.mark.parametrize(("min_samples", "eps"), [(2, 2e307), (1, 1.7e308), (2, 1.7e308)])
def test_rows_too_far_apart_for_float64(min_samples: int, eps: float) -> None:
    """Such rows are never nearby, as for DBSCAN. The reference would square eps and overflow."""
    X = np.array([[-1.7e308], [1.7e308], [1.6e308], [-1.6e308]])
    path = DBSCANPath(min_samples).fit(X)
    np.testing.assert_array_equal(path.labels(eps), [0, 1, 1, 0])
    np.testing.assert_array_equal(
        path.labels(eps), DBSCAN(eps, min_samples=min_samples).fit_predict(X)
    )


def test_a_constant_column_does_not_hide_the_others() -> None:
    X = np.column_stack([np.full(50, 1e300), np.random.default_rng(0).normal(size=50) * 1e-3])
    path = DBSCANPath(3).fit(X)
    for eps in path.changes()[::7]:
        assert_is(path, X, eps)


def test_fewer_points_than_min_samples() -> None:
    X = np.random.default_rng(0).normal(size=(5, 2))
    path = DBSCANPath(6).fit(X)
    np.testing.assert_array_equal(path.labels(1e9), [-1] * 5)
    assert np.isinf(path.core_distances_).all()
    assert len(path.changes()) == 0
    assert len(path.curve()) == 0
    assert path.curve([1.0]).n_noise.tolist() == [5]


def test_equal_points() -> None:
    path = DBSCANPath(40, n_jobs=2).fit(np.ones((100_000, 2)))
    assert not path.labels(1e-300).any()
    assert path.changes().tolist() == [0.0]


def test_small_integers_of_numpy_count_as_integers() -> None:
    X = np.random.default_rng(0).normal(size=(200, 2))
    path = DBSCANPath(np.int8(100)).fit(X)
    np.testing.assert_array_equal(path.core_distances_, DBSCANPath(100).fit(X).core_distances_)
