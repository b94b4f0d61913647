"""Missing cells: exact EM over the coordinates that are there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from support.mixture import (
    FAMILIES,
    as_reference,
    assert_monotone,
    assert_same_mixture,
    groups,
    relative_floor,
    start_from,
)

from coterie import GaussianMixture
from coterie.kernels import reference

pytestmark = pytest.mark.filterwarnings("ignore:Best performing")


def with_gaps(X: NDArray[np.float64], share: float = 0.2, seed: int = 0) -> NDArray[np.float64]:
    gaps = np.random.default_rng(seed).random(X.shape) < share
    return np.where(gaps, np.nan, X)


def marginal(k: int, **parameters: Any) -> GaussianMixture:
    return GaussianMixture(k, missing="marginal", **parameters)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("offset", [0.0, 1e7])
@pytest.mark.parametrize("weighted", [False, True])
def test_against_the_reference(family: str, offset: float, weighted: bool) -> None:
    X = with_gaps(groups(d=4) + offset)
    X[5] = np.nan  # a row without any cell
    weights = np.random.default_rng(1).random(len(X)) if weighted else None
    start = start_from(X, family, missing="marginal")
    model = marginal(3, covariance_type=family, max_iter=4, tol=0.0, **start)
    model.fit(X, sample_weight=weights)
    answer = reference.soft_clustering(
        X,
        as_reference(start, family),
        family,
        weights,
        n_iter=4,
        floor=relative_floor(X),
        added=False,
    )
    rtol = 1e-11 if offset == 0 else 1e-8
    C = reference.in_family(answer.mixture.covariances, family)
    np.testing.assert_allclose(model.covariances_, C.astype(float), rtol=0, atol=rtol * C.max())
    np.testing.assert_allclose(model.means_ - offset, answer.mixture.means - offset, atol=rtol * 9)
    assert model.soft_clustering_error_ == pytest.approx(float(answer.errors[-1]), rel=1e-9)
    np.testing.assert_allclose(model.predict_proba(X), answer.degrees.astype(float), atol=1e-6)
    assert_monotone(model)


@pytest.mark.parametrize("family", FAMILIES)
def test_without_gaps_it_changes_nothing(family: str) -> None:
    X = groups()
    plain = GaussianMixture(3, covariance_type=family, random_state=0).fit(X)
    assert_same_mixture(plain, marginal(3, covariance_type=family, random_state=0).fit(X))


@pytest.mark.parametrize("family", FAMILIES)
def test_long_runs_never_increase_the_error(family: str) -> None:
    X = with_gaps(groups(300, 5), 0.4)
    for accelerate in (False, True):
        model = marginal(3, covariance_type=family, random_state=0, tol=1e-7, max_iter=300)
        model.set_params(accelerate=accelerate).fit(X)
        assert_monotone(model)


@pytest.mark.parametrize("family", ["full", "tied"])
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.filterwarnings("ignore:.* ha(s|ve) (collapsed|lost)")
def test_flat_components_with_gaps_never_increase_the_error(family: str, seed: int) -> None:
    """Columns that follow from each other and few different values: spreads at the floor, which
    only factors hold to all digits."""
    rng = np.random.default_rng(seed)
    X = np.round(2 * rng.normal(size=(90, 4)))
    X[:, 0] = 3 * X[:, 1]
    model = marginal(1 + seed, covariance_type=family, random_state=0, tol=1e-8)
    assert_monotone(model.fit(with_gaps(X, 0.3, seed)))


@pytest.mark.filterwarnings("ignore:.* ha(s|ve) collapsed")
def test_the_floor_is_that_of_the_cells_that_are_there() -> None:
    rng = np.random.default_rng(0)
    X = np.column_stack([np.repeat([0.0, 1.0], 40), rng.normal(size=80) + np.repeat([0, 9], 40)])
    X[rng.random(80) < 0.6, 0] = np.nan
    model = marginal(2, covariance_type="diag", random_state=0, tol=1e-9, max_iter=500).fit(X)
    np.testing.assert_allclose(model.covariances_[:, 0], 1e-12 * np.nanvar(X[:, 0]), rtol=1e-6)


def test_recovers_what_filling_in_loses() -> None:
    """Filling gaps with means shrinks variances; the marginal likelihood does not."""
    rng = np.random.default_rng(0)
    X = rng.multivariate_normal([0, 0], [[1, 0.9], [0.9, 1]], 20_000)
    gaps = X.copy()
    gaps[rng.random(len(X)) < 0.5, 1] = np.nan
    found = marginal(1, tol=1e-9, max_iter=500).fit(gaps).covariances_[0]
    np.testing.assert_allclose(found, [[1, 0.9], [0.9, 1]], atol=0.03)
    filled = np.where(np.isnan(gaps), np.nanmean(gaps, axis=0), gaps)
    assert GaussianMixture(1).fit(filled).covariances_[0, 1, 1] < 0.6


def test_prediction_with_gaps() -> None:
    X = groups()
    model = marginal(3, random_state=0).fit(X)
    gaps = with_gaps(X, 0.5)
    gaps[0], gaps[1, 1:] = np.nan, np.nan
    degrees = model.predict_proba(gaps)
    np.testing.assert_allclose(degrees.sum(axis=1), 1)
    np.testing.assert_allclose(degrees[0], model.weights_)
    assert model.score_samples(gaps)[0] == 0
    np.testing.assert_array_equal(model.predict(gaps), degrees.argmax(axis=1))
    mixture = reference.Mixture.of(model.weights_, model.means_, model.covariances_)
    wanted = reference.log_densities(gaps[1:], mixture).astype(float)
    np.testing.assert_allclose(model.score_samples(gaps[1:]), wanted, rtol=1e-10, atol=1e-15)


def test_masked_cells_and_frames() -> None:
    X = with_gaps(groups())
    base = marginal(2, random_state=0).fit(X)
    masked = np.ma.array(np.nan_to_num(X, nan=1e9), mask=np.isnan(X))
    assert_same_mixture(base, marginal(2, random_state=0).fit(masked))
    scaling = pd.DataFrame(X, columns=list("abc")).astype("Float64")
    assert_same_mixture(base, marginal(2, random_state=0).fit(scaling))


def test_threads_do_not_change_bits() -> None:
    X = with_gaps(groups(9000, 3), 0.1)
    fits = [marginal(2, random_state=0, max_iter=3, n_jobs=jobs).fit(X) for jobs in (1, 3)]
    assert_same_mixture(*fits)


def test_gaps_are_errors_unless_asked_for() -> None:
    X = groups()
    X[7, 1] = X[9, 2] = np.nan
    with pytest.raises(
        ValueError,
        match=r"2 NaN and 0 infinity values, the first at row 7, column 1.*"
        r"SimpleImputer, or use missing='marginal'",
    ):
        GaussianMixture(2).fit(X)
    with pytest.raises(ValueError, match=r"column 1 \('b'\)"):
        GaussianMixture(2).fit(pd.DataFrame(X, columns=list("abc")))
    with pytest.raises(ValueError, match="1 masked cell"):
        GaussianMixture(2).fit(np.ma.array(groups(), mask=np.eye(150, 3, -9) * [1, 0, 0]))
    model = GaussianMixture(2, random_state=0).fit(groups())
    with pytest.raises(ValueError, match="2 NaN"):
        model.predict(X)


def test_infinity_is_never_a_gap() -> None:
    X = with_gaps(groups())
    X[3, 2] = np.inf
    with pytest.raises(ValueError, match=r"1 infinity values, the first at row 3, column 2.*NaN"):
        marginal(2).fit(X)


def test_a_column_without_values() -> None:
    X = groups()
    X[:, 1] = np.nan
    with pytest.raises(ValueError, match=r"column 1 of X has no value in any row: .*Drop such"):
        marginal(2).fit(X)
    X[:, 2] = np.nan
    with pytest.raises(ValueError, match=r"in any row \(nor have 1 other columns\): expected"):
        marginal(2).fit(X)


@pytest.mark.parametrize("seed", range(20))
def test_a_constant_column_stays_one(seed: int) -> None:
    """Its mean over the cells that are there is that constant, to the last bit, and so the floor is
    that of a column without gaps."""
    rng = np.random.default_rng(seed)
    X, weights = rng.normal(size=(30, 2)), rng.random(30)
    X[:, 1] = rng.normal()
    gaps = X.copy()
    gaps[rng.permutation(30)[: rng.integers(1, 30)], 1] = np.nan
    whole = marginal(1).fit(X, sample_weight=weights)
    found = marginal(1).fit(gaps, sample_weight=weights)
    np.testing.assert_allclose(found.covariances_, whole.covariances_, rtol=1e-9, atol=1e-30)
    np.testing.assert_array_equal(found.means_[:, 1], X[0, 1])
