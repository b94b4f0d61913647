"""Records of Gaussian mixtures, the first look at the data, and mixtures made from labels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.algorithms.mixture.covariance import Family
from coterie.algorithms.mixture.covariance.floor import RELATIVE_FLOOR, Floor
from coterie.algorithms.stop import StopReason
from coterie.engines.protocol import Engine, by_row
from coterie.kernels import mixture_missing_steps, mixture_steps, steps
from coterie.kernels.exact import Floats
from coterie.kernels.mixture_missing_steps import CellRange
from coterie.kernels.mixture_steps import Frame, Moments, Sums
from coterie.kernels.steps import Extent

HIDDEN = 1e-6  # of the squared mean: a smaller variance has lost too many digits beside it
MOST_LOOKS = 6  # at the spread of the data; each finds 16 digits of the mean, and one is usual


@dataclass(frozen=True)
class Mixture:
    """Parameters of a Gaussian mixture; covariances in the shape of their family."""

    weights: Floats  # (k,) add up to one
    means: Floats  # (k, d)
    covariances: Floats

    def to_frame(self, family: Family, frame: Frame) -> Mixture:
        means = np.ldexp(np.asarray(self.means, dtype=np.float64) - frame.origin, -frame.exponent)
        weights = np.asarray(self.weights, dtype=np.float64)
        return Mixture(weights, means, family.to_frame(self.covariances, frame))

    def from_frame(self, family: Family, frame: Frame) -> Mixture:
        means = frame.origin + np.ldexp(self.means, frame.exponent)
        return Mixture(self.weights, means, family.from_frame(self.covariances, frame))


@dataclass(frozen=True)
class FirstMixture:
    """The mixture from which a run started, in the user's units.

    Its covariances stay as the driver has them, full matrices as triangles in half the memory, and
    are translated whenever they are asked for.
    """

    weights: Floats  # (k,)
    means: Floats  # (k, d)
    in_frame: Floats  # covariances, by the frame's units
    family: Family
    frame: Frame

    @property
    def covariances(self) -> Floats:
        return self.family.from_frame(self.in_frame, self.frame)


@dataclass(frozen=True)
class MixtureIteration:
    """One round of E step and M step."""

    error: float  # soft clustering error of the mixture that entered the round
    decrease: float  # of the error since the round before; NaN if there was none
    largest_move: float  # of a mean, in any column
    seconds: float
    sweeps: int  # over the data


@dataclass(frozen=True)
class MixtureRun:
    """One run of EM, from its first mixture to its last."""

    weights: Floats  # (k,)
    means: Floats  # (k, d)
    covariances: Floats
    precisions_cholesky: Floats
    soft_clustering_error: float  # minus the log-likelihood of all rows under this mixture
    log_likelihood: float  # its negative, by unit of weight
    n_iter: int
    converged: bool
    stopped: str  # the reason, in words
    history: tuple[MixtureIteration, ...]
    notes: tuple[str, ...]  # what happened to components that a person should know
    seconds: float
    start: FirstMixture | Mixture  # the latter if the run comes from a file
    trace: tuple[Mixture, ...] | None = None  # the mixture that entered each round

    @property
    def reason(self) -> StopReason | None:
        """The reason for which the run stopped; None if its words come from another version."""
        return StopReason.of(self.stopped)

    @property
    def mixture(self) -> Mixture:
        return Mixture(self.weights, self.means, self.covariances)

    def __str__(self) -> str:
        return (
            f"{len(self.means)} components, soft clustering error {self.soft_clustering_error:.6g} "
            f"after {self.n_iter} iterations in {self.seconds:.3g} s: {self.stopped}"
        )


@dataclass(frozen=True)
class MixtureSurvey:
    """What is known of the whole data before the first sweep."""

    extent: Extent
    frame: Frame
    mass: float  # the sum of weights
    variances: Floats  # (d,) in the frame's units; 1 for a constant column
    scatter: Floats | None  # (1, d (d + 1) / 2) sum of w z z', for covariances that are shared

    def floor(self, reg_covar: float | None) -> Floor:
        """The least spread: `reg_covar` added, or by default relative to the data's own scale."""
        if reg_covar is None:
            return Floor(RELATIVE_FLOOR * self.variances, added=False)
        with np.errstate(over="ignore"):
            values = np.ldexp(float(reg_covar), -2 * self.frame.exponent)
        if not np.isfinite(values).all():
            raise ValueError(
                f"reg_covar={reg_covar:g} is too large for data whose standard deviation is near "
                f"{2.0 ** int(self.frame.exponent.min()):.1g}. Leave reg_covar out to have a floor "
                "that fits the data, or rescale the data."
            )
        return Floor(np.asarray(values), added=True)


def survey(engine: Engine, family: Family, extent: Extent | None = None) -> MixtureSurvey:
    """Find a frame in which columns are centred and near one in size: two or three passes, and a
    few more where rows of next to no weight are far away."""
    extent = extent or engine.reduce(steps.extent)
    d = len(extent.low)
    middle = extent.low / 2 + extent.high / 2
    rough = Frame(middle, _exponents(extent.high / 2 - extent.low / 2))
    zeros = np.zeros((1, d))
    for _ in range(MOST_LOOKS):
        total = engine.reduce(mixture_steps.label_moments, rough, "diag", None, zeros).moments
        assert total.second is not None
        mass = float(total.mass[0])
        mean = total.first[0] / mass
        variances = np.where(extent.high > extent.low, total.second[0] / mass - mean**2, 0.0)
        origin = rough.origin + np.ldexp(mean, rough.exponent)
        # Only a row that is far away and hardly counts brings the mean so far from the middle that
        # the variance is lost in its square: then the next look is from there.
        hidden = (extent.high > extent.low) & (variances < HIDDEN * mean**2)
        if not hidden.any():
            break
        rough = Frame(np.where(hidden, origin, rough.origin), rough.exponent)
    flat = ~(variances > 0)
    exponent = rough.exponent + _exponents(np.sqrt(np.where(flat, 1.0, variances)))
    exponent = np.where(flat, _exponents(np.abs(middle)), exponent).astype(np.int32)
    if family.isotropic:
        exponent = np.full(d, exponent[~flat].max() if not flat.all() else exponent.max())
        exponent = exponent.astype(np.int32)
    frame = Frame(origin, exponent)
    variances = np.where(flat, 1.0, np.ldexp(variances, 2 * (rough.exponent - exponent)))
    scatter = None
    if family.shared:
        whole = engine.reduce(mixture_steps.label_moments, frame, "full", None, zeros).moments
        scatter = whole.second
    return MixtureSurvey(extent, frame, mass, variances, scatter)


def _exponents(values: Floats) -> NDArray[np.int32]:
    """e with value near 2^e; 0 for zero. Kept where 2^e and 2^-e are ordinary numbers."""
    exponents = np.where(values > 0, np.frexp(values)[1], 0)
    return np.clip(exponents, -1000, 1000).astype(np.int32)


@dataclass(frozen=True)
class Cells:
    """Means and weights of the cells that are there, where some are missing."""

    means: Floats  # (d,) of the columns; NaN where a column has no cell
    seen: Floats  # (d,) weight of the rows that have the cell
    mass: float  # weight of all rows

    def of_cells(self, filled: MixtureSurvey) -> MixtureSurvey:
        """The survey of the cells, from that of rows in which means fill the gaps.

        Such cells have no spread, so the variance is that of the others, if they vary.
        """
        varies = filled.extent.high > filled.extent.low
        share = np.where(varies, self.seen / self.mass, 1.0)
        return replace(filled, variances=filled.variances / share)


def survey_of_cells(engine: Engine, known: CellRange) -> Cells:
    """The means of the columns, over the cells that are there."""
    d = len(known.low)
    size = np.where(known.count > 0, np.maximum(np.abs(known.low), np.abs(known.high)), 0.0)
    unit = np.where(size > 0, size, 1.0)  # sums of tiny or huge values stay in range
    total = engine.reduce(mixture_missing_steps.cell_totals, unit).total
    mass, seen = float(total[0]), total[1 : 1 + d]
    with np.errstate(invalid="ignore"):
        means = total[1 + d :] / seen * unit
    # Rounding may not bring a mean past all values: a constant column would no longer be one.
    return Cells(np.clip(means, known.low, known.high), seen, mass)


def mixture_from_labels(
    engine: Engine,
    survey: MixtureSurvey,
    family: Family,
    labels: NDArray[np.int32],
    k: int,
    floor: Floor,
) -> Mixture:
    """Weights, means and covariances of clusters; labels (n,) in 0 .. k - 1."""
    step = mixture_steps.label_moments
    return _from_moments(engine, survey, family, step, by_row(labels), k, floor)


def mixture_from_degrees(
    engine: Engine, survey: MixtureSurvey, family: Family, degrees: Floats, floor: Floor
) -> Mixture:
    """Weights, means and covariances for degrees of belonging (n, k)."""
    k = degrees.shape[1]
    step = mixture_steps.degree_moments
    return _from_moments(engine, survey, family, step, by_row(degrees), k, floor)


def _from_moments(
    engine: Engine,
    survey: MixtureSurvey,
    family: Family,
    step: Callable[..., Sums],
    belonging: Any,
    k: int,
    floor: Floor,
) -> Mixture:
    """Two passes: means, then moments about them. An empty cluster gets the data's own spread."""
    d = len(survey.frame.origin)
    first: Moments = engine.reduce(step, survey.frame, "diag", belonging, np.zeros((k, d))).moments
    empty = ~(first.mass > 0)
    means = np.where(empty[:, None], 0.0, first.first / np.where(empty, 1.0, first.mass)[:, None])
    moments: Moments = engine.reduce(
        step, survey.frame, family.moments_kind, belonging, means
    ).moments
    shift = np.where(empty[:, None], 0.0, moments.first / np.where(empty, 1, moments.mass)[:, None])
    covariances = family.estimate(moments, shift, floor, engine.team)
    if empty.any() and not family.shared:
        second = family.second_moments(survey.variances)
        whole = Moments(0.0, np.ones(1), np.zeros((1, d)), second)
        covariances[empty] = family.estimate(whole, np.zeros((1, d)), floor)[0]
    mixture = Mixture(first.mass / first.mass.sum(), means + shift, covariances)
    return mixture.from_frame(family, survey.frame)
