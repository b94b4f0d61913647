"""Notes on components that collapse, and runs that cannot start: the fit goes on."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from coterie import GaussianMixture
from coterie.algorithms.mixture.covariance import FAMILIES


def cloud(*, repeated: int = 0) -> Any:
    """500 points, and one far from them that is repeated."""
    X = np.random.default_rng(0).normal(size=(500, 2))
    return np.concatenate([X, np.tile([[5.0, 5.0]], (repeated, 1))])


@pytest.mark.parametrize("family", ["full", "diag", "spherical"])
@pytest.mark.parametrize("unit", [1.0, 1e-9, 1e9])
def test_a_component_on_one_point_is_named(family: str, unit: float) -> None:
    model = GaussianMixture(3, covariance_type=family, random_state=0)
    with pytest.warns(ConvergenceWarning, match="has collapsed") as caught:
        model.fit(unit * cloud(repeated=20))
    (words,) = [str(w.message) for w in caught if "collapsed" in str(w.message)]
    own = int(model.predict([[5.0 * unit, 5.0 * unit]])[0])
    assert words.startswith(f"component {own} has collapsed: its points, 0.038 of all")
    assert "fewer components, another start or a larger reg_covar" in words
    assert model.runs_[0].notes == (words,)


def test_many_components_are_named_in_one_sentence() -> None:
    X = np.random.default_rng(0).normal(size=(9, 2))
    with pytest.warns(ConvergenceWarning) as caught:
        GaussianMixture(9, random_state=0).fit(X)
    (words,) = [str(w.message) for w in caught]
    assert words.startswith("components 0, 1, 2, 3, 4 and 4 others have collapsed: the points of")
    assert "together 1 of all" in words
    assert "fewer components, another start or a larger reg_covar" in words
    with pytest.warns(ConvergenceWarning, match="have") as caught:
        GaussianMixture(4, random_state=0).fit(np.repeat([[0.0], [1.0]], 9, axis=0))
    lost, flat = (str(w.message) for w in caught)
    assert lost.startswith("components 2 and 3 have lost all their points and keep their places wi")
    assert flat.startswith("components 0 and 1 have collapsed")


def test_a_component_without_points_keeps_a_fixed_weight() -> None:
    weights = [0.3, 0.7]
    model = GaussianMixture(2, weights_init=weights, means_init=[[0.0, 0.0], [1e6, 0.0]])
    model.set_params(precisions_init=[np.eye(2)] * 2, fixed=("weights",))
    words = "component 1 has lost all its points and keeps its place, with the weight that is fixed"
    with pytest.warns(ConvergenceWarning, match=words):
        model.fit(cloud())
    np.testing.assert_array_equal(model.weights_, weights)


def test_a_shared_covariance_without_spread_is_told() -> None:
    X = np.repeat([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]], 20, axis=0)
    with pytest.warns(ConvergenceWarning, match="all components have collapsed.*larger reg_covar"):
        GaussianMixture(3, covariance_type="tied", random_state=0).fit(X)


@pytest.mark.parametrize("family", FAMILIES)
def test_data_that_are_flat_themselves_are_no_collapse(family: str) -> None:
    X = cloud()
    X = np.concatenate([X, X @ [[1.0, 0.0], [2.0, 0.0]], np.ones((len(X), 1))], axis=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        GaussianMixture(3, covariance_type=family, random_state=0).fit(X)


def test_a_larger_reg_covar_is_a_remedy() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        GaussianMixture(3, random_state=0, reg_covar=1e-2, tol=1e-2).fit(cloud(repeated=20))


def test_a_fit_goes_on_after_runs_with_flat_initial_mixtures() -> None:
    """Three points are drawn, and the one that is far from all others is sometimes among them."""
    X = np.concatenate([np.random.default_rng(1).normal(size=(60, 2)), [[3.5, 3.5]]])
    model = GaussianMixture(
        3, reg_covar=0, random_state=0, n_init=12, init_params="random_from_data", max_iter=2
    )
    with pytest.warns(ConvergenceWarning) as caught:
        model.fit(X)
    (words,) = [str(w.message) for w in caught if "could not start" in str(w.message)]
    assert len(model.runs_) + int(words.split()[0]) == 12
    assert "component" in words
    assert "reg_covar=None" in words
