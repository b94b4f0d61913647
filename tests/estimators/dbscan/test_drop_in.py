"""Beside scikit-learn's DBSCAN: the same names, meanings and answers, for every metric."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from scipy import sparse
from sklearn import cluster
from sklearn.datasets import make_blobs, make_moons
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import kneighbors_graph, radius_neighbors_graph

from coterie import DBSCAN, dbscan


def assert_same(ours, theirs):
    np.testing.assert_array_equal(ours.labels_, theirs.labels_)
    np.testing.assert_array_equal(ours.core_sample_indices_, theirs.core_sample_indices_)
    assert ours.labels_.dtype == theirs.labels_.dtype
    assert ours.core_sample_indices_.dtype == theirs.core_sample_indices_.dtype
    assert ours.components_.shape == theirs.components_.shape


@pytest.fixture(scope="module")
def rows():
    return np.random.default_rng(0).normal(size=(250, 4))


SHAPES = [(2, 20_000, 0.12), (3, 10_000, 0.4), (5, 5_000, 1.2), (10, 2_000, 3.0), (50, 800, 9.5)]


@pytest.mark.parametrize(("d", "n", "eps"), SHAPES)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_same_labels_on_blobs(d, n, eps, dtype):
    X = make_blobs(n, d, centers=20, random_state=d)[0].astype(dtype)
    ours = DBSCAN(eps=eps, min_samples=10).fit(X)
    assert ours.n_clusters_ > 2
    assert np.unique(ours.kind_).tolist() == [0, 1, 2]
    theirs = cluster.DBSCAN(eps=eps, min_samples=10, algorithm="kd_tree", n_jobs=2)
    assert_same(ours, theirs.fit(X.astype(np.float64)))
    np.testing.assert_array_equal(ours.components_, X[ours.core_sample_indices_])
    assert ours.components_.dtype == dtype


def test_same_labels_on_moons_and_a_lattice():
    X, _ = make_moons(20_000, noise=0.05, random_state=0)
    theirs = cluster.DBSCAN(eps=0.03, min_samples=10, algorithm="kd_tree").fit(X)
    assert_same(DBSCAN(eps=0.03, min_samples=10).fit(X), theirs)
    X = np.random.default_rng(0).integers(0, 40, size=(4000, 2)) * 0.1
    for eps in (0.1, 0.2, 0.30000000000000004):
        theirs = cluster.DBSCAN(eps=eps, min_samples=14, algorithm="kd_tree").fit(X)
        assert_same(DBSCAN(eps=eps, min_samples=14).fit(X), theirs)


@pytest.mark.parametrize("signed", [False, True])
def test_same_labels_with_weights(signed):
    X = make_blobs(4000, 3, centers=10, random_state=0)[0]
    weights = np.random.default_rng(0).integers(-2 if signed else 0, 4, size=len(X))
    theirs = cluster.DBSCAN(eps=0.5, min_samples=9, algorithm="kd_tree")
    ours = DBSCAN(eps=0.5, min_samples=9).fit(X, sample_weight=weights)
    assert_same(ours, theirs.fit(X, sample_weight=weights))
    assert np.unique(ours.kind_).tolist() == [0, 1, 2]


NATIVE = [
    ("l1", None, 0.9),
    ("cityblock", None, 0.9),
    ("l2", None, 0.6),
    ("chebyshev", None, 0.4),
    ("minkowski", 2, 0.6),
    ("minkowski", 1.5, 0.7),
    ("minkowski", 3, 0.5),
    ("cosine", None, 0.02),
]


@pytest.mark.parametrize(("metric", "p", "eps"), NATIVE)
def test_same_labels_with_native_metrics(rows, metric, p, eps):
    X = np.repeat(rows, 4, axis=0) + np.tile([[0.0], [0.05], [0.1], [0.2]], (250, 1))
    common = {"eps": eps, "min_samples": 6, "metric": metric, "p": p}
    ours = DBSCAN(**common).fit(X)
    assert ours.n_clusters_ > 1
    assert_same(ours, cluster.DBSCAN(**common).fit(X))
    np.testing.assert_array_equal(ours.predict(X), ours.labels_)


def test_same_labels_on_the_globe():
    rng = np.random.default_rng(0)
    degrees = rng.normal(size=(1500, 2)) * [3, 3] + rng.uniform(-80, 80, (12, 2))[
        rng.integers(12, size=1500)
    ] * [1, 2.2]
    X = np.radians(degrees)
    common = {"eps": 1.2 / 57, "min_samples": 8, "metric": "haversine"}
    ours = DBSCAN(**common).fit(X)
    assert ours.n_clusters_ > 5
    assert_same(ours, cluster.DBSCAN(**common, algorithm="ball_tree").fit(X))


OTHERS = [
    ("braycurtis", None, 0.15),
    ("canberra", None, 1.2),
    ("correlation", None, 0.03),
    ("hamming", None, 0.3),
    ("sqeuclidean", None, 0.3),
    ("nan_euclidean", None, 0.5),
    ("seuclidean", {"V": np.arange(1.0, 5)}, 0.4),
    ("mahalanobis", {"VI": np.eye(4) + 0.1}, 0.5),
    ("minkowski", {"p": 2, "w": np.arange(1.0, 5)}, 0.8),
    ("minkowski", {"p": 0.5}, 4.0),
]


@pytest.mark.parametrize(("metric", "parameters", "eps"), OTHERS)
@pytest.mark.parametrize("budget", [None, 1.0])
@pytest.mark.filterwarnings("ignore:Mind that for 0 < p < 1")
def test_same_labels_with_other_metrics(rows, metric, parameters, eps, budget):
    X = {"hamming": np.round(rows), "braycurtis": np.abs(rows)}.get(metric, rows)
    common = {"eps": eps, "min_samples": 4, "metric": metric, "metric_params": parameters}
    ours = DBSCAN(**common, memory_budget=budget, count_neighbors=True, trace=True).fit(X)
    assert ours.index_ == "pairwise"
    assert ours.n_clusters_ > 0
    assert (ours.labels_ < 0).sum() > 0
    theirs = cluster.DBSCAN(**common, algorithm="brute").fit(X)
    assert_same(ours, theirs)
    np.testing.assert_array_equal(ours.predict(X), ours.labels_)
    labels = np.full(len(X), -1)
    for wave in ours.trace_:
        labels[wave.rows] = wave.labels
    np.testing.assert_array_equal(labels, ours.labels_)
    near = pairwise_distances(X, metric=metric, **(parameters or {})) <= eps
    np.testing.assert_array_equal(ours.n_neighbors_, near.sum(axis=1))


@pytest.mark.filterwarnings("ignore:metric='dice' gives nan:RuntimeWarning")  # two empty sets
@pytest.mark.parametrize("metric", ["jaccard", "dice", "rogerstanimoto", "russellrao", "yule"])
def test_metrics_of_sets(metric):
    X = np.random.default_rng(0).random((80, 6)) < 0.4
    common = {"eps": 0.4, "min_samples": 4, "metric": metric}
    theirs = cluster.DBSCAN(**common, algorithm="brute").fit(X)
    for form in (X, X.astype(float), 3 * X.astype(int)):
        assert_same(DBSCAN(**common).fit(form), theirs)


def test_parameters_that_the_rows_give(rows):
    """scikit-learn requires them; Coterie can also take the variances of X."""
    V = rows.var(axis=0, ddof=1)
    given = DBSCAN(metric="seuclidean", metric_params={"V": V}).fit(rows)
    model = DBSCAN(metric="seuclidean").fit(rows)
    np.testing.assert_array_equal(model.labels_, given.labels_)
    np.testing.assert_array_equal(model.predict(rows[:9]), model.labels_[:9])  # those of the fit
    inverse = np.linalg.inv(np.cov(rows, rowvar=False))
    given = DBSCAN(metric="mahalanobis", metric_params={"VI": inverse}).fit(rows)
    np.testing.assert_array_equal(DBSCAN(metric="mahalanobis").fit_predict(rows), given.labels_)


def test_callables(rows):
    def taxi(a, b, power=1.0):
        return float((np.abs(a - b) ** power).sum())

    common = {"eps": 1.2, "min_samples": 4, "metric": taxi}
    ours = DBSCAN(**common).fit(rows)
    assert_same(ours, cluster.DBSCAN(**common).fit(rows))
    np.testing.assert_array_equal(
        ours.labels_, DBSCAN(1.2, min_samples=4, metric="l1").fit_predict(rows)
    )
    np.testing.assert_array_equal(ours.predict(rows), ours.labels_)
    squares = DBSCAN(**common, metric_params={"power": 2.0}).fit_predict(rows)
    expected = DBSCAN(1.2, min_samples=4, metric="sqeuclidean").fit_predict(rows)
    np.testing.assert_array_equal(squares, expected)


def test_a_matrix_of_distances(rows):
    D = pairwise_distances(rows)
    common = {"eps": 0.6, "min_samples": 4, "metric": "precomputed"}
    ours = DBSCAN(**common).fit(D)
    assert_same(ours, cluster.DBSCAN(**common).fit(D))
    np.testing.assert_array_equal(ours.labels_, DBSCAN(0.6, min_samples=4).fit_predict(rows))
    np.testing.assert_array_equal(ours.predict(D), ours.labels_)
    np.testing.assert_array_equal(ours.components_, D[ours.core_sample_indices_])
    new = pairwise_distances(rows[:30] + 0.1, rows)
    plain = DBSCAN(0.6, min_samples=4).fit(rows)
    np.testing.assert_array_equal(ours.predict(new), plain.predict(rows[:30] + 0.1))


@pytest.mark.parametrize("diagonal", [True, False])
def test_a_graph_of_distances(rows, diagonal):
    graph = radius_neighbors_graph(rows, 1.0, mode="distance", include_self=diagonal)
    before = graph.copy()
    common = {"eps": 0.6, "min_samples": 4, "metric": "precomputed"}
    for form in (graph, sparse.csr_array(graph), graph.tocoo(), graph.tocsc()):
        ours = DBSCAN(**common, count_neighbors=True).fit(form)
        np.testing.assert_array_equal(ours.labels_, DBSCAN(0.6, min_samples=4).fit_predict(rows))
        if diagonal:  # else a row does not show its point
            np.testing.assert_array_equal(ours.predict(form), ours.labels_)
    assert_same(ours, cluster.DBSCAN(**common).fit(graph))
    assert (graph != before).nnz == 0
    counts = (pairwise_distances(rows) <= 0.6).sum(axis=1)
    np.testing.assert_array_equal(ours.n_neighbors_, counts)


def test_a_graph_that_is_not_symmetric(rows):
    """A cluster grows along the arrows of such a graph, as in scikit-learn."""
    graph = kneighbors_graph(rows, 6, mode="distance")
    for eps in (0.4, 0.6, 0.8):
        common = {"eps": eps, "min_samples": 5, "metric": "precomputed"}
        theirs = cluster.DBSCAN(**common).fit(graph)
        assert_same(DBSCAN(**common).fit(graph), theirs)
        D = np.where(graph.toarray() > 0, graph.toarray(), 99.0)
        np.fill_diagonal(D, 0)
        assert_same(DBSCAN(**common).fit(D), theirs)


def test_the_function(rows):
    weights = np.arange(len(rows)) % 3
    ours = dbscan(rows, 0.7, min_samples=4, sample_weight=weights)
    theirs = cluster.dbscan(rows, 0.7, min_samples=4, sample_weight=weights)
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(a, b)
    ours, theirs = inspect.signature(dbscan), inspect.signature(cluster.dbscan)
    assert list(ours.parameters) == list(theirs.parameters)
    for name, parameter in theirs.parameters.items():
        assert ours.parameters[name].default == parameter.default
        assert ours.parameters[name].kind == parameter.kind


def test_every_parameter_and_attribute_of_theirs_is_here(rows):
    theirs, ours = cluster.DBSCAN().fit(rows), DBSCAN().fit(rows)
    assert theirs.get_params().items() <= ours.get_params().items()
    assert {n for n in vars(theirs) if n.endswith("_")} <= vars(ours).keys()
    public = {n for n, _ in inspect.getmembers(theirs, callable) if not n.startswith("_")}
    assert public <= {n for n, _ in inspect.getmembers(ours, callable)}
    positional = inspect.signature(DBSCAN).parameters.values()
    assert [p.name for p in positional if p.kind is p.POSITIONAL_OR_KEYWORD] == ["eps"]


def test_no_core_points():
    ours, theirs = (one(eps=0.1).fit(np.eye(4)) for one in (DBSCAN, cluster.DBSCAN))
    assert_same(ours, theirs)
    assert ours.n_clusters_ == 0
    np.testing.assert_array_equal(ours.predict(np.eye(4)), [-1] * 4)


def test_rows_of_zeros_have_no_direction():
    X = np.array([[0.0, 0], [0, 0], [1, 1], [2, 2], [3, 3]])
    for eps in (0.1, 1.0):
        common = {"eps": eps, "min_samples": 2, "metric": "cosine"}
        assert_same(DBSCAN(**common).fit(X), cluster.DBSCAN(**common).fit(X))
    model = DBSCAN(eps=0.1, min_samples=1, metric="cosine").fit(X)
    np.testing.assert_array_equal(model.labels_, [0, 1, 2, 2, 2])
    np.testing.assert_array_equal(model.predict(X), [-1, -1, 2, 2, 2])


def test_the_index_and_its_reason():
    X = np.random.default_rng(0).normal(size=(500, 2))
    for given, words in (
        ({}, ("grid", "points in an occupied cell")),
        ({"metric": "manhattan"}, ("tree", "Euclidean distance in two columns")),
        ({"count_neighbors": True}, ("tree", "all neighbours")),
        ({"metric": "canberra"}, ("pairwise", "no native kernel")),
    ):
        model = DBSCAN(eps=0.3, **given).fit(X)
        assert model.index_ == words[0]
        assert words[1] in model.index_reason_


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("eps", [0.1, np.float64(0.1), np.float32(0.1)])
def test_predict_compares_given_float32_distances_as_fit_does(form, eps):
    D = form(np.full((4, 4), 0.1, dtype=np.float32))
    model = DBSCAN(eps, min_samples=2, metric="precomputed").fit(D)
    np.testing.assert_array_equal(model.labels_, [0, 0, 0, 0])
    np.testing.assert_array_equal(model.predict(D), model.labels_)
