"""Beside scikit-learn's KMeans: the same names, meanings and answers."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from scipy import sparse
from sklearn import cluster
from sklearn.datasets import load_iris, make_blobs

from coterie import KMeans


@pytest.mark.parametrize("algorithm", ["lloyd", "elkan", "auto"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("weighted", [False, True])
def test_same_answer_from_the_same_start(cloud, algorithm, dtype, weighted):
    X = cloud.astype(dtype)
    weights = np.random.RandomState(0).rand(len(X)) if weighted else None
    common = {"n_clusters": 12, "init": X[:12], "n_init": 1, "tol": 0, "max_iter": 300}
    # One-based weights would change scikit-learn's tolerance, not its fixed point: tol is 0.
    theirs = cluster.KMeans(**common).fit(X.astype(np.float64), sample_weight=weights)
    ours = KMeans(**common, algorithm=algorithm).fit(X, sample_weight=weights)
    np.testing.assert_array_equal(ours.labels_, theirs.labels_)
    np.testing.assert_allclose(ours.cluster_centers_, theirs.cluster_centers_, rtol=1e-12)
    assert ours.n_iter_ == theirs.n_iter_
    assert ours.inertia_ == pytest.approx(theirs.inertia_, rel=1e-12)
    assert ours.labels_.dtype == theirs.labels_.dtype == np.int32


@pytest.mark.parametrize("tol", [1e-1, 1e-2, 1e-4])
def test_tol_stops_at_the_same_iteration(cloud, tol):
    common = {"n_clusters": 12, "init": cloud[:12], "n_init": 1, "tol": tol}
    theirs, ours = cluster.KMeans(**common).fit(cloud), KMeans(**common).fit(cloud)
    assert 1 < ours.n_iter_ == theirs.n_iter_
    np.testing.assert_array_equal(ours.labels_, theirs.labels_)


@pytest.mark.parametrize("max_iter", [1, 2, 5])
def test_max_iter_stops_at_the_same_iteration(cloud, max_iter):
    common = {"n_clusters": 12, "init": cloud[:12], "n_init": 1, "max_iter": max_iter}
    theirs, ours = cluster.KMeans(**common).fit(cloud), KMeans(**common).fit(cloud)
    assert ours.n_iter_ == theirs.n_iter_ == max_iter
    np.testing.assert_array_equal(ours.labels_, theirs.labels_)
    np.testing.assert_allclose(ours.cluster_centers_, theirs.cluster_centers_, rtol=1e-12)


def test_predict_transform_and_score(cloud):
    common = {"n_clusters": 7, "init": cloud[:7], "n_init": 1}
    theirs, ours = cluster.KMeans(**common).fit(cloud), KMeans(**common).fit(cloud)
    new = make_blobs(500, 6, centers=20, random_state=2)[0]
    np.testing.assert_array_equal(ours.predict(new), theirs.predict(new))
    np.testing.assert_allclose(ours.transform(new), theirs.transform(new), rtol=1e-9)
    assert ours.score(new) == pytest.approx(theirs.score(new), rel=1e-12)
    weights = np.arange(500.0)
    expected = theirs.score(new, sample_weight=weights)
    assert ours.score(new, sample_weight=weights) == pytest.approx(expected, rel=1e-12)


def test_empty_clusters_can_be_relocated_as_there():
    # The third mean starts too far away to get a point.
    X = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [14.0]])
    init = np.array([[0.5], [11.0], [1000.0]])
    common = {"n_clusters": 3, "init": init, "n_init": 1, "tol": 0}
    theirs = cluster.KMeans(**common).fit(X)
    ours = KMeans(**common, empty_clusters="relocate").fit(X)
    np.testing.assert_array_equal(ours.labels_, theirs.labels_)
    np.testing.assert_allclose(ours.cluster_centers_, theirs.cluster_centers_)


def test_sparse_and_dense_agree_with_theirs():
    rng = np.random.RandomState(0)
    X = sparse.random(400, 50, density=0.1, format="csr", random_state=rng)
    common = {"n_clusters": 5, "init": X[:5].toarray(), "n_init": 1, "tol": 0}
    theirs = cluster.KMeans(**common).fit(X)
    for form in (X, sparse.csr_array(X), X.tocsc(), X.toarray(), X.astype(np.float32)):
        ours = KMeans(**common).fit(form)
        np.testing.assert_array_equal(ours.labels_, theirs.labels_)
        np.testing.assert_allclose(ours.cluster_centers_, theirs.cluster_centers_, atol=1e-7)


@pytest.mark.parametrize("name", ["k-means++", "random"])
def test_seeding_is_as_good_on_average(name):
    X = load_iris().data
    seeds = range(15)
    theirs = [cluster.KMeans(6, init=name, n_init=1, random_state=s).fit(X).inertia_ for s in seeds]
    ours = [KMeans(6, init=name, n_init=1, random_state=s).fit(X).inertia_ for s in seeds]
    assert np.mean(ours) < 1.1 * np.mean(theirs)
    assert len(set(ours)) > 3  # the seed matters


def test_every_parameter_and_attribute_of_theirs_is_here(blobs):
    X, _ = blobs
    theirs, ours = cluster.KMeans(3, random_state=0).fit(X), KMeans(3, random_state=0).fit(X)
    assert theirs.get_params().keys() <= ours.get_params().keys()
    assert {n for n in vars(theirs) if n.endswith("_")} <= vars(ours).keys()
    public = {n for n, _ in inspect.getmembers(theirs, callable) if not n.startswith("_")}
    assert public <= {n for n, _ in inspect.getmembers(ours, callable)}
    different = {
        name for name, value in theirs.get_params().items() if ours.get_params()[name] != value
    }
    assert different == {"algorithm"}
    positional = inspect.signature(KMeans).parameters.values()
    assert [p.name for p in positional if p.kind is p.POSITIONAL_OR_KEYWORD] == ["n_clusters"]
