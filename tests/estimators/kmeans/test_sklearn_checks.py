"""scikit-learn's own checks of an estimator, in full and without expected failures."""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

from coterie import KMeans

pytestmark = pytest.mark.filterwarnings(
    # The checks fit constant and tiny data on purpose.
    "ignore:Number of distinct clusters:sklearn.exceptions.ConvergenceWarning",
    "ignore::sklearn.exceptions.SkipTestWarning",
)


@parametrize_with_checks(
    [
        KMeans(),
        KMeans(algorithm="bounds", n_init=3, n_jobs=3, tol=0),
        KMeans(init="k-means||", algorithm="elkan", empty_clusters="relocate"),
        KMeans(2, init="random", rel_tol=1e-3, max_iter=None),
        KMeans(3, init="principal", warm_start=True, trace=True),
    ]
)
def test_check(estimator: KMeans, check: Any) -> None:
    check(estimator)


# These four feed rows of zeros, which have no direction and are refused by name.
ROWS_OF_ZEROS = {
    "check_estimators_dtypes",
    "check_estimator_sparse_tag",
    "check_estimator_sparse_array",
    "check_estimator_sparse_matrix",
}


@pytest.mark.parametrize(
    "check",
    [
        check
        for _, check in estimator_checks_generator(KMeans(metric="cosine"))
        if check.func.__name__ not in ROWS_OF_ZEROS
    ],
    ids=lambda check: check.func.__name__,
)
def test_cosine_check(check: Any) -> None:
    check(KMeans(metric="cosine"))
