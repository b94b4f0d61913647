"""The first look at the data of a mixture: its standardization, spread and missing cells."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from coterie.algorithms.mixture.covariance import Family
from coterie.algorithms.mixture.covariance.floor import RELATIVE_FLOOR, Floor
from coterie.arrays import Floats
from coterie.engines.protocol import Engine
from coterie.kernels import mixture_missing_steps, mixture_steps, scan_steps
from coterie.kernels.mixture_missing_steps import CellRange
from coterie.kernels.mixture_steps import Standardization
from coterie.kernels.scan_steps import Extent

HIDDEN = 1e-6  # of the squared mean: a smaller variance has lost too many digits beside it
MOST_PASSES = 6  # over the spread of the data; each finds 16 digits of the mean, one is usual


@dataclass(frozen=True)
class MixtureSurvey:
    """Facts about the whole data, found before the first sweep."""

    extent: Extent
    scaling: Standardization
    mass: float  # the sum of weights
    variances: Floats  # (d,) in standardized units; 1 for a constant column
    scatter: Floats | None  # (1, d (d + 1) / 2) sum of w z z', for covariances that are shared

    def floor(self, reg_covar: float | None) -> Floor:
        """The least spread: `reg_covar` added, or by default relative to the data's own scale."""
        if reg_covar is None:
            return Floor(RELATIVE_FLOOR * self.variances, added=False)
        with np.errstate(over="ignore"):
            values = np.ldexp(float(reg_covar), -2 * self.scaling.exponent)
        if not np.isfinite(values).all():
            raise ValueError(
                f"reg_covar={reg_covar:g} is too large for data whose standard deviation is near "
                f"{2.0 ** int(self.scaling.exponent.min()):.1g}. Leave reg_covar out to have a "
                "floor that fits the data, or rescale the data."
            )
        return Floor(np.asarray(values), added=True)


def survey(engine: Engine, family: Family, extent: Extent | None = None) -> MixtureSurvey:
    """Find a standardization that centres columns and makes them near one in size.

    It takes two or three passes, and a few more where rows of next to no weight are far away.
    """
    extent = extent or engine.reduce(scan_steps.extent)
    d = len(extent.low)
    middle = extent.low / 2 + extent.high / 2
    rough = Standardization(middle, _exponents(extent.high / 2 - extent.low / 2))
    zeros = np.zeros((1, d))
    for _ in range(MOST_PASSES):
        total = engine.reduce(mixture_steps.label_moments, rough, "diag", None, zeros).moments
        assert total.second is not None
        mass = float(total.mass[0])
        mean = total.first[0] / mass
        variances = np.where(extent.high > extent.low, total.second[0] / mass - mean**2, 0.0)
        origin = rough.origin + np.ldexp(mean, rough.exponent)
        # A far row of next to no weight can bring the mean so far from the middle that the
        # variance is lost in its square. Then the next pass is about the mean.
        hidden = (extent.high > extent.low) & (variances < HIDDEN * mean**2)
        if not hidden.any():
            break
        rough = Standardization(np.where(hidden, origin, rough.origin), rough.exponent)
    flat = ~(variances > 0)
    exponent = rough.exponent + _exponents(np.sqrt(np.where(flat, 1.0, variances)))
    exponent = np.where(flat, _exponents(np.abs(middle)), exponent).astype(np.int32)
    if family.isotropic:
        exponent = np.full(d, exponent[~flat].max() if not flat.all() else exponent.max())
        exponent = exponent.astype(np.int32)
    scaling = Standardization(origin, exponent)
    variances = np.where(flat, 1.0, np.ldexp(variances, 2 * (rough.exponent - exponent)))
    scatter = None
    if family.shared:
        whole = engine.reduce(mixture_steps.label_moments, scaling, "full", None, zeros).moments
        scatter = whole.second
    return MixtureSurvey(extent, scaling, mass, variances, scatter)


def _exponents(values: Floats) -> NDArray[np.int32]:
    """e with value near 2^e; 0 for zero. Kept where 2^e and 2^-e are ordinary numbers."""
    exponents = np.where(values > 0, np.frexp(values)[1], 0)
    return np.clip(exponents, -1000, 1000).astype(np.int32)


@dataclass(frozen=True)
class Cells:
    """Means and weights of the observed cells, where some are missing."""

    means: Floats  # (d,) of the columns; NaN where a column has no cell
    observed: Floats  # (d,) weight of the rows that have the cell
    mass: float  # weight of all rows

    def of_cells(self, filled: MixtureSurvey) -> MixtureSurvey:
        """The survey of the observed cells, from that of rows in which means fill the gaps.

        Such cells have no spread, so the variance is that of the others, if they vary.
        """
        varies = filled.extent.high > filled.extent.low
        share = np.where(varies, self.observed / self.mass, 1.0)
        return replace(filled, variances=filled.variances / share)


def survey_of_cells(engine: Engine, known: CellRange) -> Cells:
    """The means of the columns, over the observed cells."""
    d = len(known.low)
    size = np.where(known.count > 0, np.maximum(np.abs(known.low), np.abs(known.high)), 0.0)
    unit = np.where(size > 0, size, 1.0)  # sums of tiny or huge values stay in range
    total = engine.reduce(mixture_missing_steps.cell_totals, unit).total
    mass, observed = float(total[0]), total[1 : 1 + d]
    with np.errstate(invalid="ignore"):
        means = total[1 + d :] / observed * unit
    # Rounding may not bring a mean past all values: a constant column would no longer be one.
    return Cells(np.clip(means, known.low, known.high), observed, mass)
