"""Metrics of scikit-learn that have no distance for some rows: a warning names a pair."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from numpy.typing import NDArray

from coterie import DBSCAN
from coterie.estimators.dbscan import pairwise

COUNTS = np.array([[3.0, 1.0, 2.0], [0.0, 0.0, 0.0], [3.0, 1.0, 1.0], [0.0, 0.0, 0.0]])
CONSTANT = np.array([[3.0, 1.0, 2.0], [3.0, 1.0, 1.0], [2.0, 2.0, 2.0]])


@pytest.mark.parametrize(
    ("metric", "X", "pair", "labels"),
    [
        ("braycurtis", COUNTS, (1, 3), [0, -1, 0, -1]),
        ("correlation", CONSTANT, (0, 2), [0, 0, -1]),
    ],
)
def test_two_rows_without_a_distance_are_named_once(
    metric: str,
    X: NDArray[np.float64],
    pair: tuple[int, int],
    labels: list[int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pairwise, "PAIRS_AT_ONCE", 1)
    words = f"metric='{metric}' gives nan, .* row {pair[0]} of X and row {pair[1]}: expected.*Drop"
    with pytest.warns(RuntimeWarning, match=words) as caught:
        model = DBSCAN(0.5, min_samples=2, metric=metric).fit(X)
    assert len(caught) == 1
    assert model.labels_.tolist() == labels


def test_predict_names_them_too() -> None:
    model = DBSCAN(0.5, min_samples=2, metric="correlation").fit(CONSTANT[:2])
    with pytest.warns(RuntimeWarning, match="nan, .* row 1 of X and core point 0: expected"):
        assert model.predict(CONSTANT[1:]).tolist() == [0, -1]


def test_a_row_of_zeros_is_near_itself() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = DBSCAN(0.5, min_samples=2, metric="braycurtis").fit(COUNTS[:3])
    assert model.labels_.tolist() == [0, -1, 0]
