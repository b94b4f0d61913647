"""scikit-learn's own checks of an estimator, in full and without expected failures."""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from coterie import GaussianMixture

pytestmark = pytest.mark.filterwarnings(
    # The checks fit constant and tiny data on purpose.
    "ignore:Best performing:sklearn.exceptions.ConvergenceWarning",
    "ignore:.* ha(s|ve) lost:sklearn.exceptions.ConvergenceWarning",
    "ignore:.* ha(s|ve) collapsed:sklearn.exceptions.ConvergenceWarning",
    "ignore::sklearn.exceptions.SkipTestWarning",
)


@parametrize_with_checks(
    [
        GaussianMixture(),
        GaussianMixture(3, n_init=2, n_jobs=3, accelerate=True, init_params="k-means++"),
        GaussianMixture(2, covariance_type="tied", warm_start=True, trace=True),
        GaussianMixture(2, covariance_type="diag", init_params="random", missing="marginal"),
        GaussianMixture(2, covariance_type="spherical", init_params="principal", reg_covar=1e-6),
        GaussianMixture(2, covariance_type="fixed", fixed_covariance=0.5, fixed=("weights",)),
    ]
)
def test_check(estimator: GaussianMixture, check: Any) -> None:
    check(estimator)
