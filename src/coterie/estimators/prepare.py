"""The beginning of a fit of k-means or a mixture: the rows that count, and their weights."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.arrays import Floats
from coterie.estimators.pieces import picked
from coterie.estimators.units import LARGEST_TOTAL, times_power, weight_exponent
from coterie.estimators.validation import check_enough_rows


@dataclass(frozen=True)
class RowsThatCount:
    """Rows of weight above zero, in the units of the user."""

    X: Any
    weights: Floats | None  # positive; None: all are one
    weight_exponent: int  # drivers get weights times this power of two

    @cached_property
    def own_weights(self) -> Floats | None:
        """The weights in the units of the drivers."""
        if self.weights is None:
            return None
        scaled: Floats = times_power(self.weights, self.weight_exponent)
        return scaled


def rows_of_weight_zero(
    weights: Floats | None, n_rows: int, *, at_least: int, name: str
) -> NDArray[np.bool_] | None:
    """A mask of the rows that do not count, or None; an error unless enough rows are left.

    at_least : rows needed, one per cluster; name : the parameter that asks for so many.
    """
    absent = None if weights is None or weights.all() else weights == 0
    n_absent = 0 if absent is None else int(absent.sum())
    check_enough_rows(n_rows - n_absent, at_least, n_absent, name)
    return absent


def rows_that_count(
    X: Any,
    weights: Floats | None,
    absent: NDArray[np.bool_] | None,
    largest_total: float = LARGEST_TOTAL,
) -> RowsThatCount:
    """The rows without those of weight zero, and a power of two that keeps sums of weights safe."""
    if absent is not None and weights is not None:
        there = np.flatnonzero(~absent)
        X, weights = picked(X, there), weights[there]
        weights = None if (weights == 1).all() else weights
    return RowsThatCount(X, weights, weight_exponent(weights, largest_total))
