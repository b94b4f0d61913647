"""Hostile numbers, layouts and thread counts: the answer of the definition, every time."""

from __future__ import annotations

import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy import sparse
from support.estimators import assert_same_fit, same_partition
from support.kmeans_cases import DRAWN

from coterie import KMeans

SCALES = [1e-306, 1e-300, 1e-200, 1e-160, 1e-30, 1e30, 1e153, 1e160, 1e200, 1e300, 1e306]


def fit(X, n_clusters=5, **parameters):
    """A fit that may warn that its inertia is no float64."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "inertia_ (over|under)flows", RuntimeWarning)
        return KMeans(n_clusters, random_state=0, **parameters).fit(X)


def one_by_one(model, X):
    return np.concatenate([model.predict(X[i : i + 1]) for i in range(X.shape[0])])


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("init", DRAWN)
def test_any_scale(blobs, scale, init):
    X, y = blobs
    model = fit(X * scale, init=init, n_init=20)
    assert same_partition(model.labels_, y)
    np.testing.assert_array_equal(model.predict(X * scale), model.labels_)
    np.testing.assert_array_equal(one_by_one(model, X[:40] * scale), model.labels_[:40])
    means = np.array([X[model.labels_ == c].mean(axis=0) for c in range(5)])
    np.testing.assert_allclose(model.cluster_centers_ / scale, means, rtol=1e-9)
    distances = model.transform(X * scale)
    np.testing.assert_array_equal(distances.argmin(axis=1), model.labels_)
    expected = np.linalg.norm(X[:, None] - means, axis=2)
    np.testing.assert_allclose(distances / scale, expected, rtol=1e-9)


@pytest.mark.parametrize("power", [-1000, -600, 600, 1000])
def test_a_power_of_two_changes_no_digit(blobs, power):
    X, _ = blobs
    start = np.ascontiguousarray(X[:5])
    plain, scaled = fit(X, init=start), fit(np.ldexp(X, power), init=np.ldexp(start, power))
    np.testing.assert_array_equal(scaled.labels_, plain.labels_)
    np.testing.assert_array_equal(scaled.cluster_centers_, np.ldexp(plain.cluster_centers_, power))
    assert scaled.n_iter_ == plain.n_iter_
    moves = [record.largest_move for record in plain.history_]
    assert [r.largest_move for r in scaled.history_] == np.ldexp(moves, power).tolist()
    np.testing.assert_array_equal(scaled.runs_[0].initial_means, np.ldexp(start, power))


def test_subnormal_numbers(blobs):
    X, y = blobs
    model = fit(X * 1e-310)
    assert same_partition(model.labels_, y)
    np.testing.assert_array_equal(model.predict(X * 1e-310), model.labels_)


def test_an_inertia_beyond_float64_is_announced(blobs):
    X, _ = blobs
    with pytest.warns(RuntimeWarning, match="inertia_ overflows float64.*labels and means") as w:
        model = KMeans(5, random_state=0).fit(X * 1e200)
    assert w[0].filename == __file__
    assert model.inertia_ == np.inf
    with pytest.warns(RuntimeWarning, match="inertia_ underflows float64"):
        model = KMeans(5, random_state=0).fit(X * 1e-200)
    assert model.inertia_ == 0
    with pytest.warns(RuntimeWarning, match="score overflow") as w:
        assert KMeans(5, random_state=0).fit(X).score(X * 1e200) == -np.inf
    assert w[0].filename == __file__
    with pytest.warns(RuntimeWarning, match="distances overflow") as w:
        far = KMeans(5, random_state=0).fit(X).transform(np.full((1, 4), 1.7e308))
    assert w[0].filename == __file__
    assert (far == np.inf).all()


def test_timestamps(blobs):
    rng = np.random.RandomState(0)
    y = np.repeat([0, 1, 2], 50)
    X = 1.7e12 + 1000.0 * y[:, None] + rng.rand(150, 2)
    for init in (*DRAWN, "principal"):
        model = fit(X, 3, init=init, n_init="auto" if init == "principal" else 5)
        assert same_partition(model.labels_, y)
        np.testing.assert_array_equal(model.predict(X), model.labels_)
        np.testing.assert_array_equal(one_by_one(model, X), model.labels_)


@pytest.mark.parametrize("init", DRAWN)
def test_one_far_outlier_splits_nothing(blobs, init):
    X, y = blobs
    X, y = np.vstack([X, np.full((1, 4), 1e12)]), np.append(y, 5)
    model = fit(X, 6, init=init, n_init=10)
    assert same_partition(model.labels_, y)
    np.testing.assert_array_equal(one_by_one(model, X), model.labels_)


def test_an_outlier_beside_which_the_rest_would_vanish_is_an_error(blobs):
    X, y = blobs
    start = np.vstack([X[[int(np.argmax(y == c)) for c in range(5)]], np.full((1, 4), 1.0)])
    for size in (1e140, 1e200, 1e250):
        start[5] = size
        rows = np.vstack([X, np.full((1, 4), size)])
        model = fit(rows, 6, init=start)
        assert same_partition(model.labels_, np.append(y, 5))
        assert model.inertia_ == fit(X, init=start[:5]).inertia_
        assert model.score(rows) == -model.inertia_
    for size in (1e290, 1e306):
        with pytest.raises(ValueError, match="orders of magnitude"):
            fit(np.vstack([X, np.full((1, 4), size)]), 6)


@pytest.mark.filterwarnings("ignore:Number of distinct clusters")
@pytest.mark.parametrize("scale", [1e-300, 1e150, 1e300])
def test_the_principal_direction_of_any_scale(blobs, scale):
    X, _ = blobs
    weights = 10.0 ** np.random.RandomState(0).uniform(-50, 50, len(X))
    plain = KMeans(5, init="principal").fit(X, sample_weight=weights)
    model = fit(X * scale, init="principal")
    np.testing.assert_allclose(
        model.runs_[0].initial_means / scale,
        KMeans(5, init="principal").fit(X).runs_[0].initial_means,
        rtol=1e-6,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        heavy = KMeans(5, init="principal").fit(X * scale, sample_weight=weights)
    np.testing.assert_allclose(heavy.cluster_centers_ / scale, plain.cluster_centers_, rtol=1e-9)


def test_a_constant_column_of_any_size(blobs):
    X, y = blobs
    for size in (1e15, 1e150, 1e300):
        wide = np.c_[X, np.full(len(X), size)]
        model = fit(wide)
        assert same_partition(model.labels_, y)
        np.testing.assert_array_equal(one_by_one(model, wide[:30]), model.labels_[:30])


def test_rows_farther_than_squares_reach(blobs):
    X, _ = blobs
    model = fit(X)
    far = np.zeros((3, 4))
    far[0, 0], far[1] = 1e200, -1e307
    mixed = np.vstack([X[:50], far])
    expected = np.concatenate([model.predict(X[:50]), model.predict(far)])
    for form in (mixed, sparse.csr_matrix(mixed)):
        np.testing.assert_array_equal(model.predict(form), expected)
        np.testing.assert_array_equal(one_by_one(model, form), expected)
        np.testing.assert_array_equal(model.transform(form)[:50], model.transform(X[:50]))
    # 1e200 along the first axis: all means are equally far in float64, and the first is taken.
    assert expected[50] == 0
    np.testing.assert_allclose(model.transform(mixed)[50], 1e200)


def test_means_that_no_fit_has_left():
    model = fit(np.eye(3), 3)
    del model._exponent
    model.cluster_centers_ = np.array([[1e-200, 0, 0], [3e-200, 0, 0]])
    assert model.predict([[1.9e-200, 0, 0], [2.1e-200, 0, 0]]).tolist() == [0, 1]


def test_initial_means_far_from_the_data():
    X = np.array([[0.0], [1.0], [5.0], [6.0]])
    with pytest.warns(match="distinct clusters"):
        model = KMeans(3, init=[[0.0], [1e200], [5.0]]).fit(X)
    assert model.labels_.tolist() == [0, 0, 2, 2]
    assert model.cluster_centers_.ravel().tolist() == [0.5, 1e200, 5.5]
    np.testing.assert_array_equal(model.predict(X), model.labels_)


def test_many_identical_points():
    X = np.tile([[1.5, -2.0, 1e9]], (100_000, 1))
    with pytest.warns(match=r"distinct clusters \(1\)"):
        model = KMeans(3, random_state=0).fit(X)
    assert model.inertia_ == 0
    assert (model.cluster_centers_[model.labels_] == X).all()


@pytest.mark.filterwarnings("ignore:Number of distinct clusters")
def test_ties_go_to_the_lowest_index():
    model = KMeans(3, init=[[0.0], [2.0], [2.0]]).fit([[0.0], [2.0], [2.0]])
    assert model.labels_.tolist() == [0, 1, 1]
    assert model.predict([[1.0]]).tolist() == [0]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("offset", [0.0, 1e5])
def test_predictions_do_not_depend_on_layout_or_batch(cloud, dtype, offset):
    X = (cloud + offset).astype(dtype)
    model = fit(X, 12)
    n, d = X.shape
    spaced = np.zeros((2 * n, 3 * d), dtype=dtype)
    spaced[::2, ::3] = X
    forms = [X, np.asfortranarray(X), spaced[::2, ::3], X.astype(np.float64), sparse.csr_matrix(X)]
    distances = model.transform(X)
    for form in forms:
        np.testing.assert_array_equal(model.predict(form), model.labels_)
        np.testing.assert_array_equal(model.transform(form), distances)
        assert model.score(form) == -model.inertia_
        again = KMeans(12, random_state=0).fit(form)
        assert_same_fit(again, model)
    np.testing.assert_array_equal(one_by_one(model, X), model.labels_)
    rows = [model.transform(X[i : i + 1])[0] for i in range(0, n, 50)]
    np.testing.assert_array_equal(rows, distances[::50])
    for size in (7, 512):
        parts = [model.predict(X[i : i + size]) for i in range(0, n, size)]
        np.testing.assert_array_equal(np.concatenate(parts), model.labels_)


def test_whole_numbers_in_any_type():
    X = np.random.RandomState(0).randint(0, 100, (500, 3))
    model = fit(X, 6)
    for dtype in (np.int8, np.uint16, np.int64, np.float32, np.float64):
        np.testing.assert_array_equal(model.predict(X.astype(dtype)), model.labels_)
        assert_same_fit(fit(X.astype(dtype), 6), model)


def test_the_order_of_rows_does_not_matter(cloud):
    order = np.random.RandomState(0).permutation(len(cloud))
    for init in DRAWN:
        model, shuffled = fit(cloud, 9, init=init), fit(cloud[order], 9, init=init)
        np.testing.assert_array_equal(shuffled.cluster_centers_, model.cluster_centers_)
        np.testing.assert_array_equal(shuffled.labels_, model.labels_[order])
        assert shuffled.inertia_ == model.inertia_


@pytest.fixture(scope="module")
def large():
    """Enough work for every thread to get some."""
    return np.random.RandomState(0).standard_normal((30_000, 10))


@pytest.mark.parametrize("kind", ["dense", "float32", "sparse", "weighted", "cosine"])
def test_thread_counts(large, kind):
    X, weights, parameters = large, None, {"max_iter": 6}
    if kind == "float32":
        X = X.astype(np.float32)
    elif kind == "sparse":
        X = sparse.csr_matrix(np.where(X > 1, X, 0))
    elif kind == "weighted":
        weights = np.random.RandomState(1).rand(len(X))
    elif kind == "cosine":
        parameters["metric"] = "cosine"

    def with_threads(n_jobs, **more):
        model = KMeans(24, random_state=0, n_jobs=n_jobs, **parameters, **more)
        return model.fit(X, sample_weight=weights)

    expected = with_threads(1)
    distances = expected.transform(X[:3000])
    for n_jobs in (2, 3, 5, 64, -1, None):
        model = with_threads(n_jobs)
        assert_same_fit(model, expected)
        np.testing.assert_array_equal(model.predict(X), expected.labels_)
        np.testing.assert_array_equal(model.transform(X[:3000]), distances)
        assert model.score(X, sample_weight=weights) == -expected.inertia_


def test_sixteen_callers_at_once(cloud):
    seeds = [seed % 4 for seed in range(16)]

    def work(seed):
        model = KMeans(9, random_state=seed, n_jobs=2).fit(cloud)
        return model, model.predict(cloud)

    alone = {seed: work(seed)[0] for seed in set(seeds)}
    with ThreadPoolExecutor(16) as pool:
        together = list(pool.map(work, seeds))
    for seed, (model, labels) in zip(seeds, together, strict=True):
        assert_same_fit(model, alone[seed])
        np.testing.assert_array_equal(labels, model.labels_)
    shared = alone[0]
    with ThreadPoolExecutor(16) as pool:
        for labels in pool.map(lambda _: shared.predict(cloud), range(16)):
            np.testing.assert_array_equal(labels, shared.labels_)


@pytest.mark.parametrize("init", [*DRAWN, "principal"])
def test_columns_as_narrow_as_float64_can_be(init):
    """Half of the smallest float64 is zero, and still such columns are not constant."""
    X = np.random.default_rng(0).choice([-5e-324, 0.0, 5e-324], (60, 3))
    with pytest.warns(RuntimeWarning, match="inertia_ underflows"):
        model = KMeans(2, init=init, random_state=0).fit(X)
    assert model.counts_.min() > 0
