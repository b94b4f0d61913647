"""Rows, eps and weights of DBSCAN in units in which no sum or square overflows or vanishes.

All units are powers of two, which change no digit. Ordinary data stay as they are. The
kernels choose the unit of Euclidean distances by themselves.
"""

from __future__ import annotations

import math
import reprlib
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.arrays import Floats
from coterie.estimators.cosine import rows_near_one
from coterie.estimators.dbscan.metrics import Metric
from coterie.estimators.units import Reach, scaled_rows, times_power
from coterie.estimators.validation import refuse_not_finite
from coterie.kernels import _native, scan_steps
from coterie.kernels.block import Block
from coterie.kernels.scan_steps import Extent

SQUARES = 480  # an exponent: sums of squares of such values, and of their inverses, are numbers
LARGEST_TOTAL = float(np.finfo(np.float64).max) / 2
SHIFT = 64  # an exponent: more than there are rows, so that no sum of weights overflows


def finite_extent(X: Any, team: _native.Team, names: Any = None) -> Extent:
    """The extent of rows, none of which may hold NaN or infinity. names : of the columns."""
    extent = scan_steps.extent(Block.over(X, None, team))
    refuse_not_finite(X, extent.not_finite, names)
    return extent


def comparable_rows(
    X: NDArray[Any], metric: Metric, eps: float, team: _native.Team
) -> tuple[NDArray[Any], float]:
    """Rows, and eps in their units. The rows are X itself if it needs no scaling."""
    if metric.name == "cosine":
        return (X if _squares_are_numbers(X, team) else rows_near_one(X)), eps
    exponent = metric.exponent(eps)
    if exponent == 0:
        return X, eps
    rows = scaled_rows(X, exponent)
    if not np.isfinite(rows).all():
        raise ValueError(
            f"eps={eps:g} is too small beside the values of X, up to {np.abs(X).max():.3g}, for "
            f"p={metric.p:g}: expected rows within a factor of about 1e300. Use "
            "metric='chebyshev', which large powers come close to, or subtract the mean."
        )
    return rows, times_power(eps, exponent)


def _squares_are_numbers(X: NDArray[Any], team: _native.Team) -> bool:
    reach = Reach.of(scan_steps.extent(Block.over(X, None, team)))
    return bool(reach.value <= SQUARES and reach.least >= 2.0**-SQUARES)


def checked_eps(eps: Any) -> float:
    """eps as a float64 number, from a number of any type."""
    number = math.nan
    if isinstance(eps, Real) and not isinstance(eps, bool | np.bool_):
        try:
            number = float(eps)
        except OverflowError:
            number = math.inf
    if not 0 < number < math.inf:
        shown = reprlib.repr(eps)
        raise ValueError(f"eps={shown}: expected a distance, a finite number above zero.")
    return number


def scaled_weights(weights: Floats | None, min_samples: int) -> tuple[Floats | None, float]:
    """Weights with sums that are all float64 numbers, and min_samples in their unit."""
    if weights is None:
        return None, float(min_samples)
    with np.errstate(over="ignore"):
        if np.abs(weights).sum() <= LARGEST_TOTAL:
            return weights, float(min_samples)
    scaled = times_power(weights, -SHIFT)
    if not np.array_equal(times_power(scaled, SHIFT), weights):
        sizes = np.abs(weights[weights != 0])
        raise ValueError(
            "sample_weight spans more orders of magnitude than exact sums can: expected weights "
            f"within a factor of about 1e590, got weights from {sizes.min():.3g} to "
            f"{sizes.max():.3g} in magnitude. Set negligible weights to zero."
        )
    return scaled, float(times_power(float(min_samples), -SHIFT))
