"""A metric that is a user's function: numbers that it may give, and errors for all others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from coterie import DBSCAN

X = np.array([[0.0], [1.0], [2.0], [9.0]])


def apart(x: Any, y: Any) -> float:
    return abs(float(x[0]) - float(y[0]))


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (np.nan, "nan"),
        (None, "None"),
        (-1.0, r"-1\.0"),
        ("0.5", "'0.5'"),
        (b"1", "b'1'"),
        (1j, "1j"),
        ([1.0], r"\[1\.0\]"),
        (np.ones(2), "array"),
        (np.timedelta64(1, "s"), "timedelta64"),
    ],
    ids=str,
)
def test_a_value_that_is_no_distance(value: Any, shown: str) -> None:
    def metric(x: Any, y: Any) -> Any:
        return value if {float(x[0]), float(y[0])} == {1.0, 9.0} else apart(x, y)

    words = f"gave .*{shown}.* for row 1 of X and row 3: expected a distance.*np.inf for rows"
    with pytest.raises(ValueError, match=words):
        DBSCAN(1.0, min_samples=2, metric=metric).fit(X)
    model = DBSCAN(1.0, min_samples=2, metric=metric).fit(X[:3])
    with pytest.raises(ValueError, match=f"{shown}.* for row 2 of X and core point 1: expected"):
        model.predict(X[[0, 2, 3]])


@pytest.mark.parametrize(
    "kind", [float, np.float32, np.float16, lambda value: np.array([value]), np.array]
)
def test_numbers_of_any_kind(kind: Any) -> None:
    model = DBSCAN(1.0, min_samples=2, metric=lambda x, y: kind(apart(x, y))).fit(X)
    assert model.labels_.tolist() == [0, 0, 0, -1]
    assert model.predict([[2.5], [5.0]]).tolist() == [0, -1]


def test_infinite_is_far_and_true_is_one() -> None:
    def metric(x: Any, y: Any) -> Any:
        return np.inf if max(x[0], y[0]) == 9.0 else x[0] != y[0]

    assert DBSCAN(0.5, min_samples=1, metric=metric).fit_predict(X).tolist() == [0, 1, 2, 3]
    assert DBSCAN(1.0, min_samples=1, metric=metric).fit_predict(X).tolist() == [0, 0, 0, 1]


def test_parameters_reach_the_function() -> None:
    model = DBSCAN(
        1.0,
        min_samples=2,
        metric=lambda x, y, times: times * apart(x, y),
        metric_params={"times": 0.1},
    )
    assert model.fit_predict(X).tolist() == [0, 0, 0, 0]
