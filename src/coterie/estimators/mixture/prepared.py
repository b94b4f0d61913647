"""Checked rows of a mixture fit, in memory and surveyed; with missing cells or without."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from coterie.algorithms.mixture.covariance import Family
from coterie.algorithms.mixture.survey import MixtureSurvey, survey, survey_of_cells
from coterie.arrays import Floats
from coterie.engines.protocol import Engine
from coterie.engines.select import engine_over
from coterie.estimators.pieces import gaps_filled
from coterie.estimators.prepare import rows_of_weight_zero, rows_that_count
from coterie.estimators.units import LARGEST_MIXTURE, Units
from coterie.estimators.validation import refuse_not_finite
from coterie.kernels import _native, mixture_missing_steps, mixture_steps, scan_steps
from coterie.kernels.mixture_steps import Sums

LEAST_POWER, MOST_POWER = -1074, 1023  # of two, that are float64 numbers
WIDEST = 505  # binary exponent of a spread whose square, a variance, is an ordinary float64
REMEDY = ", or use missing='marginal' to cluster by the cells that are there"


@dataclass
class PreparedMixtureRows:
    """Rows that count. Weights are as given, times a power of two."""

    X: Floats  # rows as they are swept, NaN where a cell is missing
    missing: bool  # whether cells are missing
    weights: Floats | None
    units: Units
    engine: Engine  # over X
    survey: MixtureSurvey
    filled: tuple[Floats, Engine] | None  # rows with a value in every cell, for starts of runs

    @property
    def sweep(self) -> Callable[..., Sums]:
        return mixture_missing_steps.sweep if self.missing else mixture_steps.sweep

    def forget_filled(self) -> None:
        """Let the copy go: no further run starts."""
        self.filled = None


def look_at_rows(
    X: Floats, *, marginal: bool, team: _native.Team, names: Any = None
) -> tuple[Engine, bool]:
    """The engine over rows without infinities, and whether cells are missing."""
    engine = engine_over(X, team=team)
    bad = engine.reduce(scan_steps.extent).not_finite
    if bad is None:
        return engine, False
    if not marginal:
        refuse_not_finite(X, bad, names, REMEDY)
    cells = engine.reduce(mixture_missing_steps.cell_range)
    if cells.first_infinite is not None:
        row, column = cells.first_infinite
        named = "" if names is None else f" ({names[column]!r})"
        raise ValueError(
            f"X contains {cells.infinite} infinity values, the first at row {row}, column "
            f"{column}{named}: expected finite numbers, or NaN for missing cells. Drop those rows."
        )
    return engine, True


def prepare_mixture_rows(
    X: Floats,
    weights: Floats | None,
    family: Family,
    *,
    n_components: int,
    marginal: bool,
    team: _native.Team,
    names: Any = None,
) -> PreparedMixtureRows:
    """Find values that are not finite, drop rows without weight, look at the data."""
    n_rows = X.shape[0]
    absent = rows_of_weight_zero(weights, n_rows, at_least=n_components, name="n_components")
    engine, missing = look_at_rows(X, marginal=marginal, team=team, names=names)
    counted = rows_that_count(X, weights, absent, LARGEST_MIXTURE)
    X, own = counted.X, counted.own_weights
    if absent is not None or own is not None:
        engine = engine_over(X, own, team=team)
    filled = X, engine
    if missing:
        filled, known = _survey_with_gaps(X, own, engine, family, names)
    else:
        known = survey(engine, family)
    _check_spread(known, names)
    units = Units(0, counted.weight_exponent)
    return PreparedMixtureRows(X, missing, own, units, engine, known, filled)


def _check_spread(known: MixtureSurvey, names: Any) -> None:
    """Variances are parameters of the model, so they must fit a float64."""
    low, high = known.extent.low, known.extent.high
    lost = (high > low) & (high / 2 == low / 2)  # halves of the smallest float64 are zero
    exponent = np.where(lost, LEAST_POWER, known.scaling.exponent)
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


def _survey_with_gaps(
    X: Floats, weights: Floats | None, engine: Engine, family: Family, names: Any
) -> tuple[tuple[Floats, Engine], MixtureSurvey]:
    """Rows with means in their gaps, their engine, and a survey of the cells that are there."""
    cells = survey_of_cells(engine, engine.reduce(mixture_missing_steps.cell_range))
    if not cells.observed.all():
        column = int(np.argmin(cells.observed))
        named = "" if names is None else f" ({names[column]!r})"
        others = int((cells.observed == 0).sum()) - 1
        alike = f" (nor have {others} other columns)" if others else ""
        raise ValueError(
            f"column {column}{named} of X has no value in any row{alike}: expected at least one "
            "value in each column. Drop such columns."
        )
    whole = gaps_filled(X, cells.means)
    filled = engine_over(whole, weights, team=engine.team)
    return (whole, filled), cells.of_cells(survey(filled, family))
