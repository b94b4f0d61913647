"""scikit-learn's own checks of an estimator, in full and without expected failures."""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

from coterie import DBSCAN

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")


@parametrize_with_checks([DBSCAN()])
def test_check(estimator: DBSCAN, check: Any) -> None:
    check(estimator)


# These repeat and leave out rows, and so change the numbers of the clusters; and a row of weight
# zero in dense surroundings is a core point, in scikit-learn too.
NUMBERS_CHANGE = {
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
}

VARIANTS = [
    DBSCAN(eps=2.0, min_samples=2, n_jobs=3, count_neighbors=True, trace=True),
    DBSCAN(eps=3.0, metric="manhattan"),
    DBSCAN(eps=0.1, metric="cosine", min_samples=3),
    DBSCAN(eps=0.5, metric="minkowski", p=3),
]


@pytest.mark.parametrize(
    ("estimator", "check"),
    [
        (estimator, check)
        for variant in VARIANTS
        for estimator, check in estimator_checks_generator(variant)
        if check.func.__name__ not in NUMBERS_CHANGE
    ],
    ids=lambda value: value.func.__name__ if hasattr(value, "func") else value.metric,
)
def test_check_of_variants(estimator: DBSCAN, check: Any) -> None:
    check(estimator)
