"""Weights: whole ones are copies, zero is absence, and their scale does not matter."""

from __future__ import annotations

import datetime as dt
import decimal
import fractions

import numpy as np
import pytest
from support.estimators import assert_same_fit
from support.kmeans_cases import DRAWN

from coterie import DBSCAN, GaussianMixture, KMeans


def assert_same_model(a, b):
    np.testing.assert_array_equal(a.cluster_centers_, b.cluster_centers_)
    assert a.inertia_ == b.inertia_
    assert a.clustering_error_ == b.clustering_error_
    assert a.n_iter_ == b.n_iter_
    np.testing.assert_array_equal(a.counts_, b.counts_)


@pytest.mark.parametrize("init", DRAWN)
def test_whole_weights_are_copies(cloud, init):
    copies = np.random.RandomState(0).randint(0, 4, len(cloud))
    shuffled = np.random.RandomState(1).permutation(np.repeat(np.arange(len(cloud)), copies))
    weighted = KMeans(8, init=init, random_state=0).fit(cloud, sample_weight=copies)
    repeated = KMeans(8, init=init, random_state=0).fit(cloud[shuffled])
    assert_same_model(weighted, repeated)
    np.testing.assert_array_equal(weighted.labels_[shuffled], repeated.labels_)
    np.testing.assert_array_equal(weighted.predict(cloud), weighted.labels_)


@pytest.mark.parametrize("init", [*DRAWN, "principal"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_rows_of_weight_zero_are_not_there_but_get_a_label(cloud, init):
    weights = np.ones(len(cloud))
    weights[::3] = 0
    spoilt = cloud.copy()
    spoilt[::3] += 1e6  # however far away
    expected = KMeans(8, init=init, random_state=0).fit(cloud[weights > 0])
    model = KMeans(8, init=init, random_state=0, trace=True).fit(spoilt, sample_weight=weights)
    assert_same_model(model, expected)
    np.testing.assert_array_equal(model.labels_[weights > 0], expected.labels_)
    np.testing.assert_array_equal(model.predict(spoilt), model.labels_)
    assert not (set(np.flatnonzero(weights == 0)) & set(model.trace_[0].rows))
    assert len(model.trace_[0].rows) == (weights > 0).sum()


def test_weights_of_one_are_no_weights(cloud):
    for ones in (np.ones(len(cloud)), [1] * len(cloud), 1.0):
        assert_same_fit(
            KMeans(8, random_state=0).fit(cloud, sample_weight=ones),
            KMeans(8, random_state=0).fit(cloud),
        )


@pytest.mark.parametrize("power", [-1000, -500, -3, 4, 400, 1000])
def test_the_scale_of_weights_scales_the_inertia(blobs, power):
    X, _ = blobs
    weights = np.random.RandomState(0).rand(len(X)) + 0.5
    model = KMeans(5, random_state=0).fit(X, sample_weight=weights)
    scaled = KMeans(5, random_state=0).fit(X, sample_weight=np.ldexp(weights, power))
    np.testing.assert_array_equal(scaled.cluster_centers_, model.cluster_centers_)
    np.testing.assert_array_equal(scaled.labels_, model.labels_)
    assert scaled.inertia_ == np.ldexp(model.inertia_, power)
    assert scaled.clustering_error_ == model.clustering_error_


def test_weights_of_all_sizes_against_the_definition():
    X = np.array([[0.0], [1.0], [10.0], [14.0]])
    model = KMeans(2, init=X[[0, 2]]).fit(X, sample_weight=[1, 3, 0.5, 1.5])
    assert model.cluster_centers_.ravel().tolist() == [0.75, 13.0]
    # 1 * 0.75^2 + 3 * 0.25^2 + 0.5 * 3^2 + 1.5 * 1^2
    assert model.inertia_ == 0.5625 + 0.1875 + 4.5 + 1.5
    assert model.clustering_error_ == model.inertia_ / 6
    assert model.counts_.tolist() == [4, 2]
    assert model.score(X, sample_weight=[1, 3, 0.5, 1.5]) == -model.inertia_


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ([1, 2], r"shape \(2,\): expected one weight per row of X, shape \(4,\)"),
        (np.ones((4, 1)), r"shape \(4, 1\): expected"),
        ([1, -2, 1, -1], r"sample_weight\[1\] is -2.0, one of 2 such: expected.*zero or more"),
        ([1, 1, np.nan, 1], r"sample_weight\[2\] is nan.*finite"),
        ([1, 1, np.inf, 1], r"sample_weight\[2\] is inf.*finite"),
        (-1, r"sample_weight\[0\] is -1.0, one of 4"),
        ([0, 0, 0, 0], "zero for every row: expected at least one non-zero"),
        (np.ma.masked_equal([1, 2, 3, 4], 2), r"1 masked cell\(s\), the first at position 1"),
        (["a"] * 4, "sample_weight holds <U1 values: expected numbers, one weight per row"),
        (["1", "2", "3", "4"], "sample_weight holds <U1 values: expected numbers"),
        (np.arange(4).astype("M8[s]"), r"sample_weight holds datetime64\[s\] values"),
        (np.arange(4).astype("m8[s]"), r"sample_weight holds timedelta64\[s\] values"),
        ([1, 2, None, 4], r"sample_weight holds None at position 2: expected numbers"),
        ([1, 2, dt.date(2020, 1, 1), 4], "sample_weight holds datetime.date.* at position 2"),
        ([1, 2, 3, 4j], "sample_weight holds complex128 values: expected numbers"),
        ([[1], [1, 2]], "sample_weight is not a list of numbers"),
        ([1e-300, 1, 1, 1e300], "orders of magnitude.*from 1e-300 to 1e.300.*to zero"),
    ],
    ids=str,
)
def test_unsound_weights(weights, words):
    X = np.eye(4)
    with pytest.raises(ValueError, match=words):
        KMeans(2).fit(X, sample_weight=weights)
    model = KMeans(2, random_state=0).fit(X)
    for method in ("partial_fit", "score"):
        with pytest.raises(ValueError, match=words):
            getattr(model, method)(X, sample_weight=weights)


@pytest.mark.parametrize(
    ("weights", "kind"),
    [("1111", "str"), (b"1111", "bytes"), ({0: 1}, "dict"), ({1, 2}, "set"), (iter([1]), "list_")],
    ids=str,
)
def test_weights_that_are_no_list(weights, kind):
    for model in (KMeans(2), DBSCAN(), GaussianMixture(1)):
        with pytest.raises(TypeError, match=f"sample_weight is a {kind}.*: expected numbers, one"):
            model.fit(np.eye(4), sample_weight=weights)


@pytest.mark.parametrize("numbers", [decimal.Decimal, fractions.Fraction, np.float32, bool, int])
def test_weights_may_be_any_kind_of_number(numbers):
    plain = KMeans(2, random_state=0).fit(np.eye(4), sample_weight=[1.0, 1.0, 0.0, 1.0])
    given = np.array([numbers(one) for one in (1, 1, 0, 1)])
    model = KMeans(2, random_state=0).fit(np.eye(4), sample_weight=given)
    assert np.array_equal(model.cluster_centers_, plain.cluster_centers_)


def test_too_few_rows_with_weight():
    with pytest.raises(ValueError, match=r"n_samples=2.*n_clusters=3.*2 rows of weight zero"):
        KMeans(3).fit(np.eye(4), sample_weight=[1, 0, 1, 0])


def test_weights_are_not_changed(cloud):
    weights = np.ldexp(np.random.RandomState(0).rand(len(cloud)), 900)
    before = weights.copy()
    KMeans(3, random_state=0).fit(cloud, sample_weight=weights)
    np.testing.assert_array_equal(weights, before)


HUGE = np.full(300, 1e307)  # each is a number, their sum is none


@pytest.mark.parametrize("fit", [KMeans.fit, KMeans.partial_fit], ids=["fit", "batch"])
def test_weights_without_a_sum_are_refused(blobs, fit):
    X, _ = blobs
    with pytest.raises(ValueError, match=r"sample_weight adds up to more than 9e\+307.*Divide"):
        fit(KMeans(5, random_state=0), X, sample_weight=HUGE)
    model = KMeans(5, random_state=0).fit(X)
    with pytest.raises(ValueError, match="sample_weight adds up to more than"):
        model.score(X, sample_weight=HUGE)


def test_batches_without_a_sum_are_refused_and_leave_the_model(blobs):
    X, _ = blobs
    weights = HUGE / 40
    model = KMeans(5, random_state=0).partial_fit(X, sample_weight=weights)
    before = model.counts_.copy()
    with pytest.raises(ValueError, match="the sample_weight of all batches adds up to more"):
        model.partial_fit(X, sample_weight=weights)
    np.testing.assert_array_equal(model.counts_, before)
    assert np.isfinite(model.cluster_centers_).all()


def test_mixtures_need_a_sum_of_weights_too(blobs):
    X, _ = blobs
    model = GaussianMixture(5, random_state=0).fit(X, sample_weight=HUGE / 1e12)
    assert np.isfinite(model.lower_bounds_).all()
    assert np.isfinite(model.soft_clustering_error_)
    for ask in (model.fit, model.score, model.bic, model.aic, model.icl):
        with pytest.raises(ValueError, match=r"sample_weight adds up to more than 1e\+301"):
            ask(X, sample_weight=HUGE)
