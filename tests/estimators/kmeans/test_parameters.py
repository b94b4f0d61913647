"""Every parameter does what its description says."""

from __future__ import annotations

import logging
import time

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import InvalidParameterError
from support.estimators import assert_same_fit, same_partition
from support.kmeans_cases import DRAWN

from coterie import FitEvent, KMeans


@pytest.mark.parametrize("init", DRAWN)
def test_init_by_name_finds_clear_groups(blobs, init):
    X, y = blobs
    model = KMeans(5, init=init, n_init=10, random_state=0).fit(X)
    assert same_partition(model.labels_, y)
    assert model.active_.all()
    assert model.active_.dtype == bool


def test_init_principal_is_the_line_of_the_paper():
    X = np.array([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0], [9.0, 9.0]])
    model = KMeans(2, init="principal", max_iter=1).fit(X)
    # v = (1, 1) / sqrt 2; v'x goes from sqrt 2 to 9 sqrt 2; middles of its halves are 3 and 7
    # sqrt 2, which lie at (3, 3) and (7, 7).
    np.testing.assert_allclose(model.runs_[0].initial_means, [[3, 3], [7, 7]], rtol=1e-12)
    np.testing.assert_allclose(model.cluster_centers_, [[2, 2], [9, 9]], rtol=1e-12)


def test_init_array_is_where_the_run_starts(blobs):
    X, _ = blobs
    start = np.ascontiguousarray(X[[0, 5, 9]])
    model = KMeans(3, init=start.tolist()).fit(X)
    np.testing.assert_array_equal(model.runs_[0].initial_means, start)
    assert len(model.runs_) == 1
    model.runs_[0].initial_means[:] = 0
    np.testing.assert_array_equal(start, X[[0, 5, 9]])


def test_init_callable_gets_rows_and_a_random_state(blobs):
    X, _ = blobs
    seen = []

    def init(rows, n_clusters, random_state):
        seen.append((rows.shape, n_clusters, random_state.randint(1000)))
        return rows[random_state.choice(len(rows), n_clusters, replace=False)]

    model = KMeans(3, init=init, random_state=0, n_init=4).fit(X)
    assert [(shape, k) for shape, k, _ in seen] == [(X.shape, 3)] * 4
    assert len({number for *_, number in seen}) > 1
    assert len(model.runs_) == 4
    seen.clear()
    assert_same_fit(model, KMeans(3, init=init, random_state=0, n_init=4).fit(X))


@pytest.mark.parametrize(
    ("init", "runs"),
    [
        ("k-means++", 1),
        ("k-means||", 1),
        ("principal", 1),
        ("random", 10),
        (lambda X, k, random_state: X[:k], 10),
        (np.eye(5, 4), 1),
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_n_init_auto(blobs, init, runs):
    assert len(KMeans(5, init=init, random_state=0).fit(blobs[0]).runs_) == runs


@pytest.mark.parametrize("init", ["principal", np.eye(3, 4)], ids=["principal", "array"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_runs_that_would_all_be_the_same_are_made_once(blobs, init):
    with pytest.warns(RuntimeWarning, match="n_init=4 runs would all be the same") as caught:
        model = KMeans(3, init=init, n_init=4).fit(blobs[0])
    assert len(model.runs_) == 1
    assert caught[0].filename == __file__


def test_the_best_run_is_kept_and_all_are_recorded(cloud):
    model = KMeans(15, n_init=6, random_state=0).fit(cloud)
    errors = [run.inertia for run in model.runs_]
    best = model.runs_[int(np.argmin(errors))]
    assert len(set(errors)) > 1
    assert model.inertia_ == min(errors)
    assert model.n_iter_ == best.n_iter
    assert model.history_ == best.history
    np.testing.assert_array_equal(model.cluster_centers_, best.means)
    assert len({run.seed for run in model.runs_}) == 6
    again = KMeans(15, init=best.initial_means).fit(cloud)
    np.testing.assert_array_equal(again.labels_, model.labels_)
    first = KMeans(15, n_init=2, random_state=0).fit(cloud)
    assert [run.inertia for run in first.runs_] == errors[:2]  # more runs change no earlier one


def test_max_iter(cloud):
    short = KMeans(15, max_iter=3, random_state=0).fit(cloud)
    assert short.n_iter_ == 3 == len(short.history_)
    assert not short.converged_
    assert short.stopped_ == "max_iter=3 reached"
    np.testing.assert_array_equal(short.predict(cloud), short.labels_)
    whole = KMeans(15, max_iter=None, tol=0, random_state=0).fit(cloud)
    assert whole.converged_
    assert whole.stopped_ == "no assignment changed"
    assert whole.history_[-1].moved == 0
    for c in range(15):  # a fixed point: every mean is the mean of its points
        np.testing.assert_allclose(
            whole.cluster_centers_[c], cloud[whole.labels_ == c].mean(axis=0), rtol=1e-12
        )


def test_tol_and_rel_tol(cloud):
    whole = KMeans(15, tol=0, random_state=0).fit(cloud)
    by_tol = KMeans(15, tol=1e-2, random_state=0).fit(cloud)
    by_error = KMeans(15, tol=0, rel_tol=1e-2, random_state=0).fit(cloud)
    assert by_tol.n_iter_ < whole.n_iter_
    assert by_error.n_iter_ < whole.n_iter_
    assert by_tol.stopped_ == "the means moved less than tol=0.01"
    assert by_error.stopped_ == "the error fell by less than rel_tol=0.01"
    assert by_tol.converged_
    assert by_error.converged_
    before, last = (record.error for record in by_error.history_[-2:])
    assert 0 <= before - last < 1e-2 * before


def test_the_error_never_rises_and_is_the_mean_of_squared_distances(cloud):
    model = KMeans(15, tol=0, random_state=0).fit(cloud)
    errors = [record.error for record in model.history_]
    assert errors == sorted(errors, reverse=True)
    squares = ((cloud - model.cluster_centers_[model.labels_]) ** 2).sum()
    assert model.inertia_ == pytest.approx(squares, rel=1e-12)
    assert model.clustering_error_ == pytest.approx(squares / len(cloud), rel=1e-12)
    assert errors[-1] == model.clustering_error_
    assert model.score(cloud) == -model.inertia_


@pytest.mark.parametrize("algorithm", ["brute", "bounds", "lloyd", "elkan"])
def test_algorithm_changes_nothing(cloud, algorithm):
    expected = KMeans(40, random_state=0).fit(cloud)
    assert_same_fit(KMeans(40, random_state=0, algorithm=algorithm).fit(cloud), expected)


def test_random_state(cloud):
    def fit(state):
        return KMeans(15, random_state=state).fit(cloud)

    assert_same_fit(fit(7), fit(7))
    assert_same_fit(fit(np.random.RandomState(7)), fit(np.random.RandomState(7)))
    assert fit(7).inertia_ != fit(8).inertia_
    shared = np.random.RandomState(7)
    assert fit(shared).inertia_ != fit(shared).inertia_


def test_empty_clusters_keep_their_mean_and_are_counted():
    X = np.array([[0.0], [1.0], [10.0], [11.0]])
    init = np.array([[0.0], [10.0], [1000.0]])
    with pytest.warns(ConvergenceWarning, match=r"distinct clusters \(2\).*n_clusters \(3\)") as w:
        model = KMeans(3, init=init).fit(X)
    assert w[0].filename == __file__
    assert "n_clusters=2" in str(w[0].message)
    assert model.active_.tolist() == [True, True, False]
    assert model.cluster_centers_.ravel().tolist() == [0.5, 10.5, 1000.0]
    assert model.counts_.tolist() == [2, 2, 0]
    moved = KMeans(3, init=init, empty_clusters="relocate").fit(X)
    assert moved.active_.all()
    assert moved.inertia_ == 0.5


def test_max_seconds_ends_the_runs_and_says_so(cloud):
    X = np.tile(cloud, (20, 1))
    model = KMeans(60, n_init=1000, max_seconds=0.2, random_state=0)
    started = time.perf_counter()
    with pytest.warns(ConvergenceWarning, match=r"max_seconds=0\.2 reached after \d+ of 1000") as w:
        model.fit(X)
    assert time.perf_counter() - started < 60  # without a limit this takes many minutes
    assert w[0].filename == __file__
    assert "max_seconds reached" in model.stopped_
    assert 1 <= len(model.runs_) < 1000
    np.testing.assert_array_equal(model.predict(X), model.labels_)


def test_max_seconds_of_next_to_nothing_still_gives_a_model(blobs):
    with pytest.warns(ConvergenceWarning, match="max_seconds"):
        model = KMeans(5, max_seconds=1e-9, random_state=0).fit(blobs[0])
    assert model.n_iter_ == 1
    assert model.stopped_ == "max_seconds reached"
    assert not model.converged_


def test_warm_start_goes_on_where_the_last_fit_ended(cloud):
    model = KMeans(15, max_iter=3, tol=0, random_state=0, warm_start=True).fit(cloud)
    means = model.cluster_centers_.copy()
    model.fit(cloud)
    np.testing.assert_array_equal(model.runs_[0].initial_means, means)
    straight = KMeans(15, max_iter=6, tol=0, random_state=0).fit(cloud)
    np.testing.assert_array_equal(model.cluster_centers_, straight.cluster_centers_)
    model.set_params(n_clusters=4).fit(cloud)  # the shape does not fit: start anew
    assert model.cluster_centers_.shape == (4, 6)
    cold = KMeans(15, max_iter=3, tol=0, random_state=0).fit(cloud)
    assert_same_fit(cold.fit(cloud), KMeans(15, max_iter=3, tol=0, random_state=0).fit(cloud))


def test_callback_sees_every_iteration(cloud):
    events: list[FitEvent] = []
    model = KMeans(15, n_init=3, random_state=0, callback=events.append).fit(cloud)
    assert [(e.run, e.iteration) for e in events] == [
        (r, i + 1) for r, run in enumerate(model.runs_) for i in range(run.n_iter)
    ]
    assert [e.record for e in events] == [r for run in model.runs_ for r in run.history]
    last = [e for e in events if e.run == 0][-1]
    np.testing.assert_array_equal(last.means, model.runs_[0].means)
    last.means[:] = 0  # a copy: the model cannot be spoilt
    assert model.runs_[0].means.any()
    with pytest.raises(AttributeError):
        last.run = 3


def test_callback_can_stop(cloud):
    model = KMeans(15, n_init=3, random_state=0, callback=lambda event: event.iteration == 2)
    model.fit(cloud)
    assert model.stopped_ == "the callback asked to stop after 1 of 3 runs"
    assert model.n_iter_ == 2
    np.testing.assert_array_equal(model.predict(cloud), model.labels_)


def test_trace_replays_the_run(cloud):
    model = KMeans(15, random_state=0, tol=0, trace=True).fit(cloud)
    labels = np.full(len(cloud), -1)
    for frame, record in zip(model.trace_, model.history_, strict=True):
        labels[frame.rows] = frame.labels
        distances = ((cloud[:, None] - frame.means) ** 2).sum(axis=2)
        np.testing.assert_array_equal(labels, distances.argmin(axis=1))
        assert len(frame.rows) == record.moved
    np.testing.assert_array_equal(labels, model.labels_)
    assert not hasattr(model.set_params(trace=False).fit(cloud), "trace_")


def test_verbose_logs_and_prints_nothing(blobs, caplog, capfd):
    with caplog.at_level(logging.INFO, logger="coterie"):
        model = KMeans(5, random_state=0, verbose=1).fit(blobs[0])
    assert len(caplog.records) == model.n_iter_
    assert "run 0, iteration 1: clustering error" in caplog.text
    caplog.clear()
    with caplog.at_level(logging.INFO, logger="coterie"):
        KMeans(5, random_state=0).fit(blobs[0])
    assert not caplog.records
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("copy_x", [True, False])
def test_copy_x_or_not_the_data_stay(cloud, copy_x):
    X = cloud.copy()
    KMeans(5, copy_x=copy_x, random_state=0).fit(X).predict(X)
    np.testing.assert_array_equal(X, cloud)


def test_degrees_are_zero_or_one_and_sum_to_one(blobs):
    X, _ = blobs
    model = KMeans(5, random_state=0).fit(X)
    degrees = model.degrees()
    assert degrees.shape == (300, 5)
    assert set(np.unique(degrees)) == {0.0, 1.0}
    assert (degrees.sum(axis=1) == 1).all()
    np.testing.assert_array_equal(degrees.argmax(axis=1), model.labels_)
    np.testing.assert_array_equal(model.degrees(X[:7]), degrees[:7])


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"n_clusters": 0}, r"'n_clusters'.*range \[1, inf\).*Got 0"),
        ({"n_clusters": 2.5}, "'n_clusters'.*int"),
        ({"init": "kmeans"}, "'init'.*callable or an array-like"),
        ({"n_init": 0}, "'n_init'"),
        ({"max_iter": 0}, "'max_iter'.*None"),
        ({"tol": -1e-9}, "'tol'"),
        ({"rel_tol": 1.0}, "'rel_tol'"),
        ({"algorithm": "full"}, "'algorithm'.*Got 'full'"),
        ({"empty_clusters": "drop"}, "'empty_clusters'"),
        ({"metric": "manhattan"}, "'metric'"),
        ({"max_seconds": 0}, "'max_seconds'"),
        ({"on_interrupt": "ignore"}, "'on_interrupt'"),
        ({"callback": "print"}, "'callback'.*callable"),
        ({"n_jobs": 0}, "'n_jobs'"),
        ({"random_state": "x"}, "'random_state'"),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else "",
)
def test_wrong_values_are_named_at_fit(blobs, parameters, words):
    model = KMeans(**parameters)  # the constructor only stores
    with pytest.raises(InvalidParameterError, match=words):
        model.fit(blobs[0])
