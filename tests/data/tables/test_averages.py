"""Mean and median of columns with gaps: the exact one, rounded once."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.data_files import written

from coterie.data import read_table
from coterie.data.tables import averages
from coterie.data.tables.averages import exact_mean, exact_median


def exactly(column: Any) -> tuple[float, float]:
    """Mean and median in fractions."""
    values = sorted(map(Fraction, column[~np.isnan(column)].tolist()))
    n = len(values)
    return float(sum(values) / n), float((values[(n - 1) // 2] + values[n // 2]) / 2)


@pytest.mark.parametrize(
    "values",
    [
        [1.7e308, 1.7e308, 1.7e308, np.nan, 1.0],
        [1.7e308, 1.0, -1.7e308],
        [5e-324, 5e-324, 1e-323, np.nan],
        [1e16, 1.0, -1e16, np.nan, 1.0],
        [0.1, 0.2, 0.3, -0.7, 2.5],
        [-0.0, 0.0, -3.0, 4.0],
    ],
)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_averages_are_those_of_fractions(values: list[float], dtype: Any) -> None:
    with np.errstate(over="ignore"):
        column = np.array(values).astype(dtype)
    column = column[~np.isinf(column)]
    assert (exact_mean(column), exact_median(column)) == exactly(column)


@pytest.mark.parametrize("scale", [1.0, 1e-310, 1e300])
@pytest.mark.parametrize("digits", [0, 16])
@pytest.mark.parametrize("n", [2001, 2002])
def test_long_columns_are_searched_by_their_bits(
    monkeypatch: pytest.MonkeyPatch, scale: float, digits: int, n: int
) -> None:
    monkeypatch.setattr(averages, "FEW", 10)
    monkeypatch.setattr(averages, "BLOCK", 300)
    column = np.random.default_rng(0).normal(size=n).round(digits) * scale
    column[::7] = np.nan
    assert (exact_mean(column), exact_median(column)) == exactly(column)


def test_gaps_beside_the_largest_numbers_are_filled_with_finite_ones(tmp_path: Path) -> None:
    path = written(tmp_path / "t.csv", "x,y\n1.7e308,1\n1.6e308,2\n,3\n")
    value = float((Fraction(1.7e308) + Fraction(1.6e308)) / 2)
    assert read_table(path, missing="mean").X[2, 0] == value
    assert read_table(path, missing="median").X[2, 0] == value
