"""Checked rows in the units of the drivers, from which a fit, a batch and a score start."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.algorithms.kmeans.survey import survey as survey_of
from coterie.arrays import Floats
from coterie.engines.protocol import Engine
from coterie.engines.select import engine_over
from coterie.estimators.cosine import unit_rows
from coterie.estimators.pieces import picked
from coterie.estimators.prepare import rows_of_weight_zero, rows_that_count
from coterie.estimators.units import (
    LARGEST_SPREAD,
    LARGEST_SQUARE,
    LARGEST_VALUE,
    Reach,
    Units,
    row_exponent,
    scaled_rows,
)
from coterie.estimators.validation import refuse_not_finite
from coterie.kernels import _native, exact, kmeans_steps, scan_steps
from coterie.kernels.exact import ClusterSums
from coterie.kernels.scan_steps import Extent, Survey


def look_at(
    X: Any, *, directions: bool, team: _native.Team, names: Any = None
) -> tuple[Any, Engine, Extent]:
    """Rows, their engine and their extent: finite, and of length one if directions are wanted."""
    engine = engine_over(X, team=team)
    extent = engine.reduce(scan_steps.extent)
    refuse_not_finite(X, extent.not_finite, names)
    if not directions:
        return X, engine, extent
    X = unit_rows(X)
    engine = engine_over(X, team=team)
    return X, engine, engine.reduce(scan_steps.extent)


@dataclass(frozen=True)
class PreparedRows:
    """Rows that count, in memory and surveyed."""

    X: Any  # the rows in the units of the user; of length one where directions are clustered
    weights: Floats | None  # positive, in the units of the user
    absent: NDArray[np.bool_] | None  # which of all rows have weight zero; None: none has
    rest: Any  # the rows of weight zero, which are not in X
    units: Units
    engine: Engine
    survey: Survey

    @property
    def total_weight(self) -> float:
        mass = exact.to_float(self.survey.totals.mass)
        return float(self.units.weights_out(mass))

    def assign(self, means: Floats) -> ClusterSums:
        """The sums of the rows nearest to each mean. means : (k, d) in the drivers' units."""
        return self.engine.reduce(kmeans_steps.assign, self.survey, means, None, "brute").sums

    def sum_of_squares(self, sums: ClusterSums, means: Floats) -> float:
        """Sum of w |x - m|^2 over the rows, exactly, then rounded: in the units of the user."""
        saved = sums.saved(self.engine.team, means)
        left = exact.in_wide_units(self.survey.totals.squares) - saved
        return exact.wide_ratio(
            left, exact.scaled(1, 2 * self.units.row_exponent + self.units.weight_exponent)
        )


def prepare_rows(
    X: Any,
    weights: Floats | None,
    *,
    directions: bool,
    team: _native.Team,
    names: Any = None,
    at_least: int = 1,
    means: Floats | None = None,
    squares_of_values: bool = False,
) -> PreparedRows:
    """Find values that are not finite, drop rows without weight, choose units, look at the data.

    team : the threads of the fit.
    at_least : rows needed, one per cluster.
    means : (k, d) that the rows will meet, or None if these will be chosen from the rows.
    squares_of_values : whether values are squared, and not only differences of values.
    """
    absent = rows_of_weight_zero(weights, X.shape[0], at_least=at_least, name="n_clusters")
    X, engine, extent = look_at(X, directions=directions, team=team, names=names)
    counted = rows_that_count(X, weights, absent)
    rest = None
    if absent is not None:
        rest = picked(X, np.flatnonzero(absent))
        engine = engine_over(counted.X, team=team)
        extent = engine.reduce(scan_steps.extent)
    own, exponent = counted.own_weights, 0  # rows of length one need no other units
    if not directions:
        reach = Reach.of(extent)
        reach = reach if means is None else reach | Reach.of_means(means)
        largest = LARGEST_VALUE
        if squares_of_values:  # a sum of w x^2 must be a float64 number
            total = float(counted.X.shape[0]) if own is None else float(own.sum())
            largest = min(LARGEST_SPREAD, (LARGEST_SQUARE - int(np.frexp(total)[1])) // 2)
        exponent = row_exponent(reach, largest_value=largest)
    if exponent or own is not None:
        engine = engine_over(scaled_rows(counted.X, exponent), own, team=team)
    if exponent:
        extent = engine.reduce(scan_steps.extent)
    elif own is not None:
        extent = replace(extent, **scan_steps.weight_extent(own))
    units = Units(exponent, counted.weight_exponent)
    survey = survey_of(engine, extent)
    return PreparedRows(counted.X, counted.weights, absent, rest, units, engine, survey)
