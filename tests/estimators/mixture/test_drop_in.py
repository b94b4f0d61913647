"""A drop-in for scikit-learn's GaussianMixture: the same numbers from the same start."""

from __future__ import annotations

import inspect

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture as Peer
from support.mixture import FAMILIES, OF_SCIKIT_LEARN, groups, start_from

from coterie import GaussianMixture, diagnose
from coterie.plots import ClustersDisplay

pytestmark = pytest.mark.filterwarnings("ignore:Best performing")


@pytest.mark.parametrize("family", OF_SCIKIT_LEARN)
@pytest.mark.parametrize(("n", "d", "k"), [(150, 1, 2), (200, 2, 3), (300, 5, 4), (400, 17, 3)])
def test_same_numbers_after_the_same_iterations(family: str, n: int, d: int, k: int) -> None:
    X = groups(n, d, k)
    X -= X.mean(axis=0)
    start = start_from(X, family, k)
    common = {"covariance_type": family, "max_iter": 12, "tol": 0.0, "reg_covar": 1e-6, **start}
    ours, theirs = GaussianMixture(k, **common).fit(X), Peer(k, **common).fit(X)
    for name in ("weights_", "means_", "covariances_", "precisions_", "precisions_cholesky_"):
        a, b = getattr(ours, name), getattr(theirs, name)
        assert a.shape == b.shape
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(ours.lower_bounds_, theirs.lower_bounds_, rtol=1e-9)
    assert ours.n_iter_ == theirs.n_iter_ == 12
    assert ours.lower_bound_ == pytest.approx(theirs.lower_bound_, rel=1e-9)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-9)
    np.testing.assert_allclose(ours.score_samples(X), theirs.score_samples(X), rtol=1e-9)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    for criterion in ("score", "bic", "aic"):
        assert getattr(ours, criterion)(X) == pytest.approx(getattr(theirs, criterion)(X))


@pytest.mark.parametrize("family", OF_SCIKIT_LEARN)
def test_stops_in_the_same_iteration(family: str) -> None:
    X = groups()
    start = start_from(X, family)
    common = {"covariance_type": family, "tol": 1e-4, "reg_covar": 1e-6, **start}
    ours, theirs = GaussianMixture(3, **common).fit(X), Peer(3, **common).fit(X)
    assert ours.converged_
    assert theirs.converged_
    assert ours.n_iter_ == theirs.n_iter_


@pytest.mark.parametrize("missing", [("weights_init",), ("means_init",), ("precisions_init",)])
def test_some_parts_given(missing: tuple[str, ...]) -> None:
    """Other parts come from k-means, as in scikit-learn."""
    X = np.concatenate([np.random.default_rng(0).normal(size=(50, 2)) + c for c in (0.0, 9.0)])
    start = start_from(X, "full", 2)
    order = np.argsort(start["means_init"][:, 0])
    start = {name: value[order] for name, value in start.items()}
    for name in missing:
        del start[name]
    ours, theirs = (
        kind(2, max_iter=30, random_state=0, reg_covar=1e-6, **start).fit(X)
        for kind in (GaussianMixture, Peer)
    )
    a, b = (np.sort(model.means_, axis=0) for model in (ours, theirs))
    np.testing.assert_allclose(a, b, atol=1e-6)


def test_every_parameter_of_the_peer() -> None:
    theirs = inspect.signature(Peer).parameters
    ours = inspect.signature(GaussianMixture).parameters
    for name, parameter in theirs.items():
        assert name in ours
        if name != "reg_covar":
            assert ours[name].default == parameter.default


def test_every_attribute_of_the_peer() -> None:
    X = groups()
    ours, theirs = GaussianMixture(2).fit(X), Peer(2).fit(X)
    fitted = [name for name in vars(theirs) if name.endswith("_")]
    assert not [name for name in fitted if not hasattr(ours, name)]
    methods = [name for name in dir(Peer) if not name.startswith("_")]
    assert not [name for name in methods if not hasattr(GaussianMixture, name)]


def test_zero_iterations_give_the_start() -> None:
    X = groups()
    start = start_from(X, "full")
    model = GaussianMixture(3, max_iter=0, **start).fit(X)
    np.testing.assert_allclose(model.means_, start["means_init"], rtol=1e-14)
    assert model.n_iter_ == 0
    assert not model.converged_
    assert model.lower_bound_ == pytest.approx(model.score(X))


@pytest.mark.parametrize("family", FAMILIES)
def test_samples_have_the_moments_of_the_mixture(family: str) -> None:
    X = groups()
    model = GaussianMixture(2, covariance_type=family, random_state=0).fit(X)
    points, labels = model.sample(40_000)
    assert points.shape == (40_000, 3)
    np.testing.assert_allclose(np.bincount(labels) / 40_000, model.weights_, atol=0.02)
    for c in range(2):
        np.testing.assert_allclose(points[labels == c].mean(axis=0), model.means_[c], atol=0.1)
    again, _ = model.sample(40_000)
    np.testing.assert_array_equal(points, again)


def test_samples_of_columns_of_any_size() -> None:
    """The smaller column keeps its spread, and how it goes with the larger one."""
    X = groups(d=2) @ [[1.0, 0.7], [0.0, 0.4]] * [1e-140, 1e140]
    points, _ = GaussianMixture(2, random_state=0).fit(X).sample(40_000)
    np.testing.assert_allclose(points.std(axis=0) / X.std(axis=0), 1, atol=0.02)
    a, b = (np.corrcoef((rows / X.std(axis=0)).T)[0, 1] for rows in (points, X))
    assert a == pytest.approx(b, abs=0.02)


@pytest.mark.parametrize("family", ["diag", "spherical"])
def test_very_many_columns_need_no_matrices(family: str) -> None:
    """A matrix of 40,000 columns would be 13 GB. One component has collapsed, and is told of."""
    X = np.random.default_rng(3).normal(size=(30, 40_000))
    X[:10] = 3.0
    with pytest.warns(ConvergenceWarning, match="collapsed"):
        model = GaussianMixture(3, covariance_type=family, random_state=0).fit(X)
    points, labels = model.sample(5)
    assert points.shape == (5, 40_000)
    assert len(labels) == 5
    assert any("collapsed" in str(finding) for finding in diagnose(model, X))
    assert ClustersDisplay.from_estimator(model, X).covariances.shape == (3, 2, 2)


@pytest.mark.parametrize("count", [0, -1, 2.5])
def test_sample_of_no_size(count: float) -> None:
    model = GaussianMixture().fit(groups())
    with pytest.raises(ValueError, match="Invalid value for n_samples"):
        model.sample(count)  # type: ignore[arg-type]


def test_icl_is_bic_with_the_price_of_doubt() -> None:
    X = groups()
    model = GaussianMixture(3, random_state=0).fit(X)
    largest = model.predict_proba(X).max(axis=1)
    assert model.icl(X) == pytest.approx(model.bic(X) - 2 * np.log(largest).sum())
    assert model.icl(X) > model.bic(X)
    one = GaussianMixture(1).fit(X)
    assert one.icl(X) == pytest.approx(one.bic(X))


@pytest.mark.parametrize(
    ("fixed", "free"),
    [((), 2 + 9 + 18), (("weights",), 9 + 18), (("means",), 2 + 18), (("covariances",), 2 + 9)],
)
def test_criteria_count_free_parameters_only(fixed: tuple[str, ...], free: int) -> None:
    X = groups()
    model = GaussianMixture(3, fixed=fixed, random_state=0).fit(X)
    assert model.aic(X) == pytest.approx(-2 * model.score(X) * len(X) + 2 * free)


def test_frames_are_asked_about_without_warnings() -> None:
    """Names of columns are compared once, and an array in place of a scaling is told once."""
    X = groups()
    scaling = pd.DataFrame(X, columns=list("abc"))
    model = GaussianMixture(3, random_state=0).fit(scaling)
    questions = ("predict", "predict_proba", "score_samples", "score", "bic", "aic", "icl")
    answers = [getattr(model, question)(scaling) for question in questions]  # warnings are errors
    for question, answer in zip(questions, answers, strict=True):
        with pytest.warns(UserWarning, match="does not have valid feature names") as caught:
            np.testing.assert_array_equal(getattr(model, question)(X), answer)
        assert len(caught) == 1
        with pytest.raises(ValueError, match="feature names should match"):
            getattr(model, question)(scaling[["b", "a", "c"]])


def test_a_row_very_far_away_makes_criteria_infinite() -> None:
    X = groups()
    model = GaussianMixture(3, random_state=0).fit(X)
    far = np.concatenate([X, [[1e200, 0.0, 0.0]]])
    for question, answer in (("score", -np.inf), ("bic", np.inf), ("aic", np.inf), ("icl", np.inf)):
        with pytest.warns(RuntimeWarning, match="log-likelihoods overflow") as caught:
            assert getattr(model, question)(far) == answer
        assert caught[0].filename == __file__
        without = np.append(np.ones(len(X)), 0.0)
        weighed = getattr(model, question)(far, sample_weight=without)
        assert weighed == pytest.approx(getattr(model, question)(X))
