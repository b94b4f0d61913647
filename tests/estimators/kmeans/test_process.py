"""A good guest in the process: forks, signals, failures, and nothing left behind."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from support.estimators import assert_same_fit, assert_same_state, state
from support.process import (
    Interrupt,
    holds_in_a_fork,
    interrupted,
    kept_by,
    needs_fork,
    needs_proc,
    peak_growth,
    surroundings,
)
from threadpoolctl import threadpool_limits

from coterie import KMeans
from coterie.estimators.threads import WORK_PER_THREAD, effective_threads


def fit(X, **parameters):
    return KMeans(9, random_state=0, n_jobs=2, **parameters).fit(X)


def spawned(X):
    return fit(X).inertia_


@needs_fork
def test_fork_after_fit(large):
    model = fit(large)

    def check():
        same = np.array_equal(model.predict(large), model.labels_)
        return same and fit(large).inertia_ == model.inertia_

    assert holds_in_a_fork(check)


def test_spawn(large):
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(spawned, (large,)) == fit(large).inertia_


@pytest.fixture(scope="module")
def large():
    return np.random.RandomState(0).standard_normal((20_000, 8))


@pytest.fixture(scope="module")
def vast():
    return np.random.default_rng(0).random((2_000_000, 4), dtype=np.float32)


def endless(X, **parameters):
    """A fit that would take very long."""
    return KMeans(200, init=np.ascontiguousarray(X[:200]), tol=0, max_iter=None, **parameters)


def test_an_interrupted_fit_leaves_the_estimator_as_it_was(vast):
    model = endless(vast).fit(vast[:1000])
    interrupted(model, vast)
    np.testing.assert_array_equal(model.predict(vast[:1000]), model.labels_)
    assert_same_fit(
        model.set_params(callback=None).fit(vast[:1000]), endless(vast).fit(vast[:1000])
    )


def test_an_interrupt_before_the_first_model_leaves_none(vast):
    with Interrupt() as callback:
        model = endless(vast, callback=callback)
        with pytest.raises(KeyboardInterrupt):
            model.fit(vast)
    assert vars(model).keys() == model.get_params().keys()


def test_an_interrupt_can_keep_the_best_so_far(vast):
    with Interrupt() as callback:
        model = endless(vast, callback=callback, on_interrupt="keep")
        with pytest.warns(ConvergenceWarning, match="Interrupted with 1 of 1 runs"):
            model.fit(vast)
    assert model.stopped_ == "interrupted"
    assert not model.converged_
    assert model.n_iter_ == len(model.history_) >= 1
    np.testing.assert_array_equal(model.predict(vast), model.labels_)
    assert model.score(vast) == -model.inertia_


@pytest.mark.parametrize(
    "spoil",
    [
        lambda model, X: model.fit(np.where(X > 0, X, np.nan)),
        lambda model, X: model.fit(X[:, :3] * np.nan),
        lambda model, X: model.fit(X[:3, :2]),
        lambda model, X: model.fit(X, sample_weight=-np.ones(len(X))),
        lambda model, X: model.set_params(n_clusters=0).fit(X),
        lambda model, X: model.set_params(init="random").fit(np.ones((20, 3))),
        lambda model, X: model.set_params(callback=lambda event: 1 / 0).fit(X[:, :2]),
        lambda model, X: model.set_params(init=lambda *a, **b: 1 / 0).fit(X[:, :2]),
    ],
)
def test_a_failed_refit_keeps_the_old_model(large, spoil):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(large[:500], columns=[f"c{i}" for i in range(8)])
    model = fit(frame)
    before = state(model)
    with pytest.raises((ValueError, ZeroDivisionError)):
        spoil(model, large[:500])
    after = vars(model) | {name: before[name] for name in model.get_params()}
    assert_same_state(before, after)
    np.testing.assert_array_equal(model.predict(frame), model.labels_)


def test_the_process_stays_as_it_was(large, capfd):
    fit(large[:100]).transform(large[:100])  # libraries are loaded once
    before = surroundings()
    model = fit(large, verbose=1)
    model.predict(large)
    model.score(large)
    model.partial_fit(large)
    with np.errstate(all="raise"):  # nor does ours trip over the user's
        strict = fit(large[:1000] * 1e-150)
        strict.transform(large[:1000] * 1e-150)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(large * np.nan)
    assert surroundings() == before
    assert capfd.readouterr() == ("", "")


def test_importing_prints_nothing_and_starts_nothing():
    code = (
        "import threading, coterie; "
        "assert threading.active_count() == 1; "
        "import sys; assert 'matplotlib' not in sys.modules"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=120
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@needs_proc
def test_a_thousand_fits_leave_nothing_behind(large):
    X, spoilt = large[:2500], np.full((300, 8), np.nan)
    assert effective_threads(3, X.size * 8) == 3

    def work():
        for seed in range(300):
            KMeans(8, random_state=seed, n_jobs=3, max_iter=2).fit(X)
            with pytest.raises(ValueError, match="NaN"):
                KMeans(5).fit(spoilt)

    assert kept_by(work) < 1500  # kilobytes: a leak of one label array a fit would be 3,000


def test_the_data_are_not_copied():
    X = np.random.default_rng(0).random((400_000, 32))
    model = KMeans(8, random_state=0, max_iter=3)
    quarter = X.nbytes / 1024 / 4
    assert peak_growth(lambda: model.fit(X)) < quarter
    assert peak_growth(lambda: model.predict(X)) < quarter
    assert peak_growth(lambda: model.score(X)) < quarter
    X.setflags(write=False)
    assert peak_growth(lambda: model.partial_fit(X)) < quarter


def test_threads_are_counted_as_scikit_learn_does(monkeypatch):
    plenty = 1000 * WORK_PER_THREAD
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(6)), raising=False)
    assert effective_threads(4, plenty) == 4
    assert effective_threads(64, plenty) == 64
    assert effective_threads(65, plenty) == 64  # more would use up memory, and gain nothing
    assert effective_threads(10**30, plenty) == 64
    assert effective_threads(-1, plenty) == 6
    assert effective_threads(-2, plenty) == 5
    assert effective_threads(-100, plenty) == 1
    assert effective_threads(64, 0) == 1  # too little work
    with threadpool_limits(1, user_api="openmp"):
        assert effective_threads(None, plenty) == 1
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(96)))
    assert effective_threads(10**6, plenty) == 4 * 96
    assert effective_threads(-1, plenty) == 96
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {3})
    assert effective_threads(None, plenty) == 1
    assert effective_threads(-1, plenty) == 1
