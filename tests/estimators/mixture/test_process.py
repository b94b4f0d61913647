"""A mixture fit as a good guest: forks, signals, time limits, failures, listeners."""

from __future__ import annotations

import logging
import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from support.estimators import assert_same_state, state
from support.mixture import assert_monotone, assert_same_mixture, groups
from support.process import Interrupt, holds_in_a_fork, interrupted, needs_fork

from coterie import GaussianMixture
from estimators.test_ecosystem import Listener, needs_callbacks


@pytest.fixture(scope="module")
def large() -> Any:
    return groups(60_000, 6, 6)


def endless(**parameters: Any) -> GaussianMixture:
    """A fit that would take very long."""
    return GaussianMixture(
        6, tol=0, max_iter=10**6, random_state=0, init_params="random_from_data", **parameters
    )


@needs_fork
def test_fork_after_fit(large: Any) -> None:
    def fit() -> GaussianMixture:
        return GaussianMixture(4, random_state=0, n_jobs=2).fit(large[:20_000])

    model = fit()

    def check():
        return fit().soft_clustering_error_ == model.soft_clustering_error_

    assert holds_in_a_fork(check)


def test_an_interrupted_fit_leaves_the_estimator_as_it_was(large: Any) -> None:
    model = GaussianMixture(6, random_state=0).fit(large[:500])
    model.set_params(tol=0, max_iter=10**6)
    interrupted(model, large)
    assert np.all(np.isfinite(model.score_samples(large[:500])))


def test_an_interrupted_fit_keeps_the_best_so_far(large: Any) -> None:
    model = endless(on_interrupt="keep")
    with Interrupt() as callback, pytest.warns(ConvergenceWarning, match="Interrupted with 1 of 1"):
        model.set_params(callback=callback).fit(large)
    assert model.stopped_ == "interrupted"
    assert_monotone(model)


def test_time_runs_out(large: Any) -> None:
    with pytest.warns(ConvergenceWarning, match=r"max_seconds=0\.05 reached after 1 of 9 runs"):
        model = endless(max_seconds=0.05, n_init=9).fit(large)
    assert model.n_iter_ >= 1
    assert "max_seconds reached" in model.stopped_


def test_a_failed_refit_keeps_the_model() -> None:
    X = groups()
    model = GaussianMixture(3, random_state=0).fit(X)
    before = state(model)
    for wrong in (np.full((9, 3), np.nan), np.ones((2, 3)), "rows"):
        with pytest.raises((ValueError, TypeError)):
            model.fit(wrong)
        assert_same_state(before, vars(model))
    model.predict(X)


def test_callbacks_hear_and_may_stop() -> None:
    X = groups()
    heard = []

    def listen(event: Any) -> bool:
        heard.append(event)
        return event.run == 1 and event.iteration == 2

    model = GaussianMixture(3, n_init=4, tol=1e-6, random_state=0, callback=listen).fit(X)
    assert [e.iteration for e in heard if e.run == 0] == list(range(1, model.runs_[0].n_iter + 1))
    assert len(model.runs_) == 2
    assert model.runs_[1].stopped == "the callback asked to stop"
    last = [e for e in heard if e.run == 0][-1]
    np.testing.assert_array_equal(last.mixture.means, model.runs_[0].means)
    np.testing.assert_array_equal(last.means, last.mixture.means)
    assert last.record == model.runs_[0].history[-1]


def test_verbose_logs_and_prints_nothing(caplog: Any, capsys: Any) -> None:
    with caplog.at_level(logging.INFO, logger="coterie"):
        model = GaussianMixture(3, verbose=1, random_state=0).fit(groups())
    assert len(caplog.records) == model.n_iter_
    assert "run 0, iteration 1: soft clustering error" in caplog.text
    assert capsys.readouterr().out == ""


@needs_callbacks
def test_callbacks_of_scikit_learn() -> None:
    X = groups()
    listener = Listener()
    model = GaussianMixture(3, n_init=2, random_state=0).set_callbacks(listener).fit(X)
    assert_same_mixture(model, GaussianMixture(3, n_init=2, random_state=0).fit(X))
    ended = [name for kind, name, _ in listener.told[1:-1] if kind == "end"]
    assert ended.count("run") == 2
    assert listener.told[-2:] == [("end", "fit", 0), "teardown"]
    # The score of the listener after an iteration is the error that enters the next one.
    first = [-record.error / len(X) for record in model.runs_[0].history[1:]]
    np.testing.assert_allclose(listener.scores[: len(first)], first, rtol=1e-9)
    stopping = Listener(stop_after=1)
    model = GaussianMixture(3, random_state=0).set_callbacks(stopping).fit(X)
    assert model.n_iter_ == 1


def test_pickle_clone_pipeline_and_search() -> None:
    X = groups()
    model = GaussianMixture(3, random_state=0).fit(X)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert_same_mixture(clone(model).fit(X), model)
    steps = make_pipeline(StandardScaler(), GaussianMixture(3, random_state=0))
    assert steps.fit_predict(X).shape == (len(X),)
    search = GridSearchCV(GaussianMixture(random_state=0), {"n_components": [1, 3]}, cv=3).fit(X)
    assert search.best_params_["n_components"] in (1, 3)


def test_parameters_set_by_hand() -> None:
    """A mixture without a fit, as people build them for scikit-learn."""
    X = groups()
    fitted = GaussianMixture(3, random_state=0).fit(X)
    model = GaussianMixture(3)
    for name in ("weights_", "means_", "covariances_", "n_features_in_"):
        setattr(model, name, getattr(fitted, name))
    np.testing.assert_allclose(model.predict_proba(X), fitted.predict_proba(X), atol=1e-12)
    np.testing.assert_allclose(model.score_samples(X), fitted.score_samples(X), rtol=1e-12)
