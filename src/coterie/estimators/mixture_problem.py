"""Checked rows of a mixture fit, in memory and surveyed; with missing cells or without."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from coterie.algorithms.covariance import Family
from coterie.algorithms.mixture import MixtureSurvey, survey
from coterie.algorithms.results import Floats
from coterie.engines.memory import MemoryEngine
from coterie.estimators.pieces import picked
from coterie.estimators.scaling import LARGEST_MIXTURE, times_power, weight_exponent
from coterie.estimators.validation import check_enough_rows, refuse_not_finite
from coterie.kernels import marginal_steps, mixture_steps, steps
from coterie.kernels.mixture_steps import Sums

LEAST_POWER, MOST_POWER = -1074, 1023  # of two, that are float64 numbers
WIDEST = 505  # binary exponent of a spread whose square, a variance, is an ordinary float64
REMEDY = ", or use missing='marginal' to cluster by the cells that are there"


@dataclass(frozen=True)
class MixtureProblem:
    """Rows that count. Weights are as given, times a power of two."""

    X: Floats  # rows as they are swept, NaN where a cell is missing
    fill: Floats | None  # (d,) means of columns, where cells are missing
    weights: Floats | None
    weight_exponent: int
    engine: MemoryEngine  # over X
    survey: MixtureSurvey
    n_threads: int

    @property
    def sweep(self) -> Callable[..., Sums]:
        return mixture_steps.sweep if self.fill is None else marginal_steps.sweep

    def filled(self) -> tuple[Floats, MemoryEngine]:
        """Rows with a value in every cell, for what needs one: the start of a run."""
        if self.fill is None:
            return self.X, self.engine
        whole = np.where(np.isnan(self.X), self.fill, self.X)
        return whole, MemoryEngine(whole, self.weights, n_threads=self.n_threads)


def look_at_rows(
    X: Floats, *, marginal: bool, n_threads: int, names: Any = None
) -> tuple[MemoryEngine, bool]:
    """The engine over rows without infinities, and whether cells are missing."""
    engine = MemoryEngine(X, n_threads=n_threads)
    bad = engine.reduce(steps.extent).bad
    if bad is None:
        return engine, False
    if not marginal:
        refuse_not_finite(X, bad, names, REMEDY)
    endless = np.isinf(X)
    if endless.any():
        row, column = np.argwhere(endless)[0]
        named = "" if names is None else f" ({names[column]!r})"
        raise ValueError(
            f"X contains {int(endless.sum())} infinity values, the first at row {row}, column "
            f"{column}{named}: expected finite numbers, or NaN for missing cells. Drop those rows."
        )
    return engine, True


def mixture_problem(
    X: Floats,
    weights: Floats | None,
    family: Family,
    *,
    n_components: int,
    marginal: bool,
    n_threads: int,
    names: Any = None,
) -> MixtureProblem:
    """Find values that are not finite, drop rows without weight, look at the data."""
    absent = None if weights is None or weights.all() else weights == 0
    n_absent = 0 if absent is None else int(absent.sum())
    check_enough_rows(X.shape[0] - n_absent, n_components, n_absent, "n_components")
    engine, missing = look_at_rows(X, marginal=marginal, n_threads=n_threads, names=names)
    if absent is not None and weights is not None:
        there = np.flatnonzero(~absent)
        X, weights = picked(X, there), weights[there]
    light = weight_exponent(weights, LARGEST_MIXTURE)
    own = None if weights is None else times_power(weights, light)
    if own is not None:
        engine = MemoryEngine(X, own, n_threads=n_threads)
    if not missing:
        fill, known = None, survey(engine, family)
    else:
        fill, known = _survey_of_cells(X, own, family, n_threads, names)
    _check_spread(known, names)
    return MixtureProblem(X, fill, own, light, engine, known, n_threads)


def _check_spread(known: MixtureSurvey, names: Any) -> None:
    """Variances are parameters of the model, so they must fit a float64."""
    low, high = known.extent.low, known.extent.high
    lost = (high > low) & (high / 2 == low / 2)  # halves of the smallest float64 are zero
    exponent = np.where(lost, LEAST_POWER, known.frame.exponent)
    column = int(np.argmax(np.abs(exponent)))
    if abs(exponent[column]) > WIDEST:
        # The exponents of single values end before float64 does, and those of spreads after it.
        spread = math.ldexp(1.0, min(max(int(exponent[column]), LEAST_POWER), MOST_POWER))
        named = "" if names is None else f" ({names[column]!r})"
        raise ValueError(
            f"column {column}{named} of X has a spread near {spread:.0e}, whose square is beyond "
            f"float64: expected between {math.ldexp(1.0, -WIDEST):.0e} and "
            f"{math.ldexp(1.0, WIDEST):.0e}. Divide that column by {spread:.0e}."
        )


def _survey_of_cells(
    X: Floats, weights: Floats | None, family: Family, n_threads: int, names: Any
) -> tuple[Floats, MixtureSurvey]:
    """The means of the columns and a survey, both of the cells that are there."""
    there = ~np.isnan(X)
    w = np.ones(len(X)) if weights is None else weights
    seen = (w[:, np.newaxis] * there).sum(axis=0)
    if not seen.all():
        column = int(np.argmin(seen))
        named = "" if names is None else f" ({names[column]!r})"
        others = int((seen == 0).sum()) - 1
        alike = f" (nor have {others} other columns)" if others else ""
        raise ValueError(
            f"column {column}{named} of X has no value in any row{alike}: expected at least one "
            "value in each column. Drop such columns."
        )
    values = np.where(there, X, 0.0)
    size = np.abs(values).max(axis=0)
    unit = np.where(size > 0, size, 1.0)  # sums of tiny or huge values stay in range
    means = (w[:, np.newaxis] * (values / unit)).sum(axis=0) / seen * unit
    # Rounding may not bring a mean past all values: a constant column would no longer be one.
    means = np.clip(means, np.nanmin(X, axis=0), np.nanmax(X, axis=0))
    whole = np.where(there, X, means)
    known = survey(MemoryEngine(whole, weights, n_threads=n_threads), family)
    # Cells filled with the mean have no spread: the variance is that of the others, if they vary.
    varies = known.extent.high > known.extent.low
    return means, replace(known, variances=known.variances / np.where(varies, seen / w.sum(), 1.0))
