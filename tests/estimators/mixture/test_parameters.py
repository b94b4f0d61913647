"""Parameters of GaussianMixture: their effects, and the errors on wrong ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.cluster import KMeans as PeersKMeans
from sklearn.exceptions import ConvergenceWarning
from support.mixture import FAMILIES, assert_monotone, assert_same_mixture, groups, start_from

from coterie import GaussianMixture, KMeans
from coterie.estimators import memory_budget

EYE = np.eye(3)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"weights_init": [0.5, 0.5]}, r"weights_init has shape \(2,\): expected \(3,\)"),
        ({"weights_init": [2.0, -0.5, -0.5]}, "weights_init should be between 0 and 1"),
        ({"weights_init": [0.5, 0.5, 0.5]}, r"weights_init adds up to 1\.5.*weights_init\.sum"),
        ({"means_init": np.ones((3, 2))}, r"means_init has shape \(3, 2\).*\(n_components, n_"),
        ({"means_init": np.full((3, 3), np.nan)}, "means_init contains 9 NaN"),
        ({"precisions_init": EYE}, r"precisions_init has shape \(3, 3\): expected \(3, 3, 3\)"),
        ({"precisions_init": np.stack([EYE, EYE, -EYE])}, "positive-definite.*component 2"),
        ({"precisions_init": np.arange(27.0).reshape(3, 3, 3)}, "it is not symmetric"),
        ({"precisions_init": np.full((3, 3, 3), np.inf)}, "precisions_init contains NaN or inf"),
        ({"covariance_type": "diag", "precisions_init": -np.ones((3, 3))}, "should be positive"),
        ({"fixed_covariance": 1.0}, "only used with covariance_type='fixed'.*'full'"),
        ({"covariance_type": "fixed"}, r"needs fixed_covariance.*shape \(3, 3, 3\)"),
        ({"covariance_type": "fixed", "fixed_covariance": np.ones(5)}, r"shape \(5,\): expected"),
        ({"covariance_type": "fixed", "fixed_covariance": -EYE}, "should be symmetric, positive"),
        (
            {"covariance_type": "fixed", "fixed_covariance": 1.0, "precisions_init": EYE},
            "precisions_init cannot be used with covariance_type='fixed'",
        ),
        ({"covariance_type": "fixed", "fixed_covariance": [[1], [1, 2]]}, "no array of numbers"),
        ({"covariance_type": "fixed", "fixed_covariance": ["a"] * 3}, "numbers.*expected a number"),
        (
            {"covariance_type": "fixed", "fixed_covariance": 1e-10 * (EYE + np.eye(3, k=1) / 2)},
            "fixed_covariance should be symmetric.*it is not symmetric",
        ),
        ({"init_params": PeersKMeans(3)}, r"instance of 'coterie.*KMeans'. Got KMeans"),
        ({"fixed": "weights"}, r"fixed='weights' is a text: .*fixed=\('weights',\)"),
        ({"fixed": ("weight",)}, r"fixed holds 'weight': expected any of 'weights', 'means'"),
        ({"max_iter": None, "tol": 0}, "would never stop.*Set max_iter"),
        ({"n_components": 0}, "n_components"),
        ({"covariance_type": "round"}, "covariance_type"),
        ({"tol": -1}, "tol"),
        ({"reg_covar": -1}, "reg_covar"),
        ({"init_params": "best"}, "init_params"),
        ({"missing": "ignore"}, "missing"),
        ({"max_seconds": 0}, "max_seconds"),
    ],
)
def test_wrong_parameters_are_named(parameters: dict[str, Any], words: str) -> None:
    model = GaussianMixture(**({"n_components": 3} | parameters))
    before = dict(vars(model))
    with pytest.raises(ValueError, match=words):
        model.fit(groups())
    assert vars(model) == before


def test_wrong_data_are_named() -> None:
    with pytest.raises(ValueError, match=r"n_samples=2 should be >= n_components=3.*or fewer"):
        GaussianMixture(3).fit(np.ones((2, 2)))
    with pytest.raises(ValueError, match=r"n_samples=1 .*and 2 rows of weight zero"):
        GaussianMixture(2).fit(groups(3), sample_weight=[1, 0, 0])
    with pytest.raises(ValueError, match="zero or more"):
        GaussianMixture().fit(groups(3), sample_weight=[1, -1, 0])
    with pytest.raises(TypeError, match="str: expected a table of numbers"):
        GaussianMixture().fit("rows")
    with pytest.raises(ValueError, match=r"only 2 distinct rows.*n_components=2 or fewer"):
        GaussianMixture(3, init_params="random_from_data").fit(np.repeat([[0.0], [1.0]], 4, axis=0))


@pytest.mark.parametrize("size", [1e300, 1e-300])
def test_spreads_whose_squares_do_not_fit_are_named(size: float) -> None:
    with pytest.raises(ValueError, match=r"column \d of X has a spread near .*Divide that column"):
        GaussianMixture(3, random_state=0).fit(groups() * size)


@pytest.mark.parametrize("missing", ["error", "marginal"])
@pytest.mark.parametrize("size", [1.7e308, 5e-324])
def test_spreads_at_the_ends_of_float64_are_named(size: float, missing: str) -> None:
    X = np.random.default_rng(0).choice([-size, 0.0, size], (60, 3))
    with pytest.raises(ValueError, match=r"spread near \de.*Divide that column by [1-9]e"):
        GaussianMixture(2, missing=missing, random_state=0).fit(X)


@pytest.mark.parametrize(
    "init", ["kmeans", "k-means++", "random", "random_from_data", "principal", KMeans(n_init=3)]
)
@pytest.mark.parametrize("family", FAMILIES)
def test_every_start_finds_separate_groups(init: Any, family: str) -> None:
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(60, 2)) + c for c in ([0, 0], [12, 15])])
    model = GaussianMixture(
        2, covariance_type=family, init_params=init, random_state=0, tol=1e-6, max_iter=1000
    ).fit(X)
    assert_monotone(model)
    if init == "random":  # begins so near the middle of all rows that it may stay there
        return
    means = model.means_[np.argsort(model.means_[:, 0])]
    np.testing.assert_allclose(means, [X[:60].mean(axis=0), X[60:].mean(axis=0)], atol=1e-3)


@pytest.mark.filterwarnings("ignore:max_seconds=0.05 reached")
def test_time_for_a_start_is_time_of_the_fit() -> None:
    runs = 0

    def heard(event: Any) -> None:
        nonlocal runs
        runs = event.run
        assert runs < 50_000, "k-means goes on without end"

    init = KMeans(n_init=1_000_000, callback=heard)
    model = GaussianMixture(3, init_params=init, max_seconds=0.05, random_state=0).fit(groups())
    assert model.stopped_ == "max_seconds reached"
    assert init.max_seconds is None


@pytest.mark.parametrize("weight", [1.0, 100.0])
def test_a_start_by_k_means_sees_weights(weight: float) -> None:
    """The heavy row pulls the first mean towards it, and the next row follows."""
    X, weights = np.array([[0.0], [1.4], [1.8], [3.0]]), np.array([1.0, weight, 1.0, 1.0])
    init = KMeans(2, init=[[0.0], [3.0]], n_init=1)
    model = GaussianMixture(2, covariance_type="spherical", init_params=init, max_iter=0)
    model.fit(X, sample_weight=weights)
    wanted = 2 / 4 if weight == 1 else 102 / 103
    assert model.weights_[0] == pytest.approx(wanted)


def test_seeds() -> None:
    X = groups(600, 3, 6)
    fits = [GaussianMixture(6, random_state=seed).fit(X) for seed in (0, 0, 1)]
    assert_same_mixture(*fits[:2])
    assert fits[0].soft_clustering_error_ != fits[2].soft_clustering_error_


def test_best_of_several_runs() -> None:
    X = groups(600, 3, 6)
    model = GaussianMixture(6, n_init=5, random_state=0, init_params="random_from_data").fit(X)
    errors = [run.soft_clustering_error for run in model.runs_]
    assert len(errors) == 5
    assert len(set(errors)) > 1
    assert model.soft_clustering_error_ == min(errors)
    assert_monotone(model)
    one = GaussianMixture(6, random_state=0, init_params="random_from_data").fit(X)
    assert one.soft_clustering_error_ == errors[0]


def test_runs_that_would_be_alike_are_made_once() -> None:
    X = groups()
    with pytest.warns(RuntimeWarning, match="n_init=3 runs would all start alike"):
        model = GaussianMixture(3, n_init=3, init_params="principal").fit(X)
    assert len(model.runs_) == 1
    with pytest.warns(RuntimeWarning, match="the first mixture is given"):
        GaussianMixture(3, n_init=3, **start_from(X, "full")).fit(X)


@pytest.mark.parametrize("part", ["weights", "means", "covariances"])
@pytest.mark.parametrize("family", FAMILIES)
def test_fixed_parts_stay(part: str, family: str) -> None:
    X = groups()
    start = start_from(X, family)
    start["weights_init"] = np.array([0.2, 0.3, 0.5])
    first = GaussianMixture(3, covariance_type=family, max_iter=0, **start).fit(X)
    model = GaussianMixture(3, covariance_type=family, fixed=(part,), **start).fit(X)
    assert_monotone(model)
    for name in ("weights", "means", "covariances"):
        a, b = getattr(first, f"{name}_"), getattr(model, f"{name}_")
        assert np.allclose(a, b, rtol=1e-13) == (name == part), name


def test_everything_fixed_only_scores() -> None:
    X = groups()
    start = start_from(X, "full")
    model = GaussianMixture(3, fixed=("weights", "means", "covariances"), **start).fit(X)
    assert model.converged_
    np.testing.assert_allclose(model.means_, start["means_init"], rtol=1e-13)
    assert model.soft_clustering_error_ == pytest.approx(-model.score(X) * len(X))


@pytest.mark.parametrize(
    ("value", "shape"),
    [
        (0.7, (3,)),
        ([0.5, 0.7, 0.9], (3,)),
        (EYE + 0.2, (3, 3)),
        (np.stack([EYE, 2 * EYE, EYE + 0.5]), (3, 3, 3)),
    ],
)
def test_fixed_covariances(value: Any, shape: tuple[int, ...]) -> None:
    X = groups()
    model = GaussianMixture(
        3, covariance_type="fixed", fixed_covariance=value, random_state=0, tol=1e-4
    ).fit(X)
    assert_monotone(model)
    assert model.covariances_.shape == shape
    np.testing.assert_allclose(model.covariances_, np.broadcast_to(value, shape), rtol=1e-13)
    free = 2 + 9
    assert model.aic(X) == pytest.approx(-2 * model.score(X) * len(X) + 2 * free)
    points, _ = model.sample(10)
    assert points.shape == (10, 3)
    product = model.precisions_ @ model.covariances_ if len(shape) > 1 else None
    if product is not None:
        np.testing.assert_allclose(product, np.broadcast_to(EYE, shape), atol=1e-12)


@pytest.mark.filterwarnings("ignore:Best performing")
def test_warm_start_continues() -> None:
    X = groups()
    start = start_from(X, "full")
    whole = GaussianMixture(3, max_iter=8, tol=0, **start).fit(X)
    parts = GaussianMixture(3, max_iter=4, tol=0, warm_start=True, **start).fit(X).fit(X)
    np.testing.assert_allclose(parts.means_, whole.means_, rtol=1e-10)
    assert parts.set_params(n_components=2, weights_init=None, means_init=None).set_params(
        precisions_init=None
    ).fit(X).means_.shape == (2, 3)


@pytest.mark.filterwarnings("ignore:Best performing")
@pytest.mark.parametrize("weight", [1.0, 1e295])
def test_warm_start_one_iteration_at_a_time_converges(weight: float) -> None:
    """The last bound of the fit before counts, as in scikit-learn; also where weights were
    multiplied by a power of two."""
    X, start = groups(200), start_from(groups(200), "full")
    weights = np.full(len(X), weight / len(X))
    whole = GaussianMixture(3, **start).fit(X, sample_weight=weights)
    model = GaussianMixture(3, warm_start=True, max_iter=1, **start)
    for iteration in range(whole.n_iter_):
        assert not getattr(model, "converged_", False), iteration
        model.fit(X, sample_weight=weights)
    assert model.converged_
    assert "tol=" in model.stopped_
    assert model.history_[0].decrease == pytest.approx(whole.history_[-1].decrease, rel=1e-6)
    np.testing.assert_allclose(model.means_, whole.means_, rtol=1e-10)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_warm_start_takes_a_fixed_covariance_that_has_changed() -> None:
    X = np.random.default_rng(0).normal(size=(60, 2))
    options = {"covariance_type": "fixed", "max_iter": 3, "tol": 0}
    model = GaussianMixture(2, fixed_covariance=1.0, random_state=0, warm_start=True, **options)
    model.fit(X)
    again = GaussianMixture(
        2,
        fixed_covariance=0.25,
        weights_init=model.weights_,
        means_init=model.means_,
        **options,
    ).fit(X)
    model.set_params(fixed_covariance=0.25).fit(X)
    np.testing.assert_array_equal(model.covariances_, [0.25, 0.25])
    np.testing.assert_allclose(model.means_, again.means_, rtol=1e-12)


@pytest.mark.parametrize(("before", "after"), [("diag", "tied"), ("tied", "diag")])
def test_warm_start_does_not_mistake_a_matrix_for_variances(before: str, after: str) -> None:
    """With as many components as columns both have the same shape."""
    X = groups()
    model = GaussianMixture(3, covariance_type=before, random_state=0, warm_start=True).fit(X)
    model.set_params(covariance_type=after).fit(X)
    cold = GaussianMixture(3, covariance_type=after, random_state=0).fit(X)
    assert_same_mixture(model, cold)
    again = model.fit(X)
    np.testing.assert_allclose(again.runs_[0].start.covariances, cold.covariances_, rtol=1e-12)


def test_samples_beyond_all_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_budget, "available_memory", lambda: 1e9)
    model = GaussianMixture(2, random_state=0).fit(groups())
    with pytest.raises(MemoryError, match=r"sample would need about 3.2e\+04 GB of memory"):
        model.sample(10**12)
    with pytest.raises(ValueError, match=r"n_samples: 9223372036854775808\. Expected .* from 1 to"):
        model.sample(2**63)


def test_initial_parameters_that_are_no_numbers() -> None:
    for name in ("weights_init", "means_init", "precisions_init"):
        with pytest.raises(ValueError, match=f"{name} holds <U1 values: expected numbers, as a"):
            GaussianMixture(2, **{name: ["a", "b"]}).fit(groups())


def test_says_when_it_did_not_converge() -> None:
    with pytest.warns(ConvergenceWarning, match=r"did not converge in max_iter=2 .*accelerate"):
        model = GaussianMixture(3, max_iter=2, tol=1e-9, random_state=0).fit(groups())
    assert not model.converged_
    assert model.stopped_ == "max_iter=2 reached"
    with pytest.warns(ConvergenceWarning, match=r"in max_iter=1 iterations\. Increase"):
        GaussianMixture(3, max_iter=1, random_state=0).fit(groups())


def test_says_when_it_did() -> None:
    model = GaussianMixture(3, random_state=0).fit(groups())
    assert model.converged_
    assert "tol=0.001" in model.stopped_
    assert len(model.history_) == len(model.lower_bounds_) == model.n_iter_
    assert model.lower_bounds_[-1] == model.lower_bound_
    assert [r.sweeps for r in model.history_][-1] >= 1
    assert "3 components" in str(model.runs_[0])


def test_flat_components_end_with_a_message() -> None:
    """With reg_covar=0 nothing keeps a component from collapsing."""
    X = np.concatenate([np.random.default_rng(0).normal(size=(30, 2)), [[50, 50]] * 5])
    with pytest.raises(ValueError, match=r"component 1 is flat.*larger reg_covar"):
        GaussianMixture(2, reg_covar=0.0, random_state=0).fit(X)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_component_without_points_is_named(family: str) -> None:
    """A component begins far from all rows. The fit goes on without it and names remedies."""
    X = groups()
    start = start_from(X, family)
    start["means_init"][1] = 1e4
    model = GaussianMixture(3, covariance_type=family, **start)
    with pytest.warns(ConvergenceWarning, match=r"component 1 has lost.*use fewer components"):
        model.fit(X)
    assert model.weights_[1] == 0
    assert np.isfinite(model.means_).all()
    assert np.isfinite(model.lower_bound_)
    assert not np.any(model.predict(X) == 1)
    assert_monotone(model)


def test_trace() -> None:
    X = groups()
    model = GaussianMixture(3, trace=True, random_state=0).fit(X)
    assert len(model.trace_) == model.n_iter_
    np.testing.assert_array_equal(model.trace_[0].means, model.runs_[0].start.means)
    assert not hasattr(model.set_params(trace=False).fit(X), "trace_")
