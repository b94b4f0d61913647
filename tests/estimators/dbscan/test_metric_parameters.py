"""Variances and covariances of metrics, taken from the rows or given: all can be divided by."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from coterie import DBSCAN

ROWS = np.random.default_rng(0).random((40, 3))
CONSTANT = np.column_stack([ROWS[:, :2], np.full(40, 0.1)])
TWICE = np.column_stack([ROWS[:, :2], ROWS[:, 0] - 3 * ROWS[:, 1]])


@pytest.mark.parametrize("metric", ["seuclidean", "mahalanobis"])
@pytest.mark.parametrize(
    ("X", "words"),
    [
        (CONSTANT, "got 1 with all values equal, the first column 2. Drop such"),
        (pd.DataFrame(CONSTANT, columns=["a", "b", "c"]), r"got 1 .* the first column 2 \('c'\)"),
        (np.full((5, 2), 7.0), "got 2 with all values equal, the first column 0"),
        (ROWS[:1], "got 3 with all values equal, the first column 0"),
        (ROWS * [1, 1e200, 1], "variance of column 1 is inf .* rescale the columns"),
        (ROWS * [1, 1e-200, 1], "variance of column 1 is 0 in float64"),
    ],
)
def test_variances_that_nothing_can_be_divided_by(metric: str, X: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        DBSCAN(0.9, metric=metric).fit(X)


@pytest.mark.parametrize(
    ("X", "rank"), [(TWICE, 2), (TWICE * [1e-9, 1.0, 1e9], 2), (ROWS[:3], 2), (ROWS[:2], 1)]
)
def test_a_singular_covariance(X: Any, rank: int) -> None:
    words = f"inverts the covariance of X, which is singular: .* 3 independent columns, got {rank}"
    with pytest.raises(ValueError, match=words + r".*Drop.*np\.linalg\.pinv"):
        DBSCAN(0.9, metric="mahalanobis").fit(X)


def test_the_remedy_for_a_singular_covariance() -> None:
    VI = np.linalg.pinv(np.cov(TWICE.T))
    model = DBSCAN(0.9, metric="mahalanobis", metric_params={"VI": VI}).fit(TWICE)
    apart = DBSCAN(0.9, metric="mahalanobis").fit(ROWS[:, :2])
    np.testing.assert_array_equal(model.labels_, apart.labels_)


def test_units_of_columns_are_not_singular() -> None:
    X = ROWS * [1e-12, 1.0, 1e12]
    plain = DBSCAN(0.9, metric="mahalanobis").fit(ROWS)
    np.testing.assert_array_equal(DBSCAN(0.9, metric="mahalanobis").fit_predict(X), plain.labels_)


@pytest.mark.parametrize(
    ("metric", "params", "words"),
    [
        ("seuclidean", {"V": [1.0, 0.0, 1.0]}, r"\['V'\] has 0 for column 1: expected variances"),
        ("seuclidean", {"V": [1.0, -1.0, 1.0]}, r"\['V'\] has -1 for column 1"),
        ("seuclidean", {"V": [1.0, np.nan, 1.0]}, r"\['V'\] has nan for column 1"),
        ("seuclidean", {"V": [1.0, 1.0]}, r"\['V'\] has shape \(2,\): expected \(3,\)"),
        ("seuclidean", {"V": ["a", "b", "c"]}, r"\['V'\] holds <U1 values: expected numbers"),
        ("mahalanobis", {"VI": np.eye(2)}, r"\['VI'\] has shape \(2, 2\): expected \(3, 3\)"),
        ("mahalanobis", {"VI": np.diag([1, 1, -1])}, r"\['VI'\] has the eigenvalue -1"),
        (
            "mahalanobis",
            {"VI": np.full((3, 3), np.inf)},
            r"\['VI'\] holds .* expected finite numbers\.",
        ),
        ("mahalanobis", {"V": np.ones((3, 3))}, r"inverts metric_params\['V'\], which is singular"),
        ("mahalanobis", {"V": np.diag([1, 0, 1])}, r"\['V'\] holds .* above zero on the diagonal"),
    ],
)
def test_parameters_that_are_no_variances(metric: str, params: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        DBSCAN(0.9, metric=metric, metric_params=params).fit(ROWS)
