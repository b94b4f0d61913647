"""Diagonal and spherical covariances: variances, one for each column or one for all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from coterie.algorithms.mixture.covariance.family import Family, NotPositiveDefinite
from coterie.algorithms.mixture.covariance.floor import AT_FLOOR, NEAR_FLOOR, NO_ROOTS, Floor, Roots
from coterie.arrays import Floats
from coterie.kernels._native import Team
from coterie.kernels.mixture_steps import LOG_2_PI, Densities, Moments, Standardization


class Variances(Family):
    """The common part of diagonal and spherical covariances: a factor is 1 / deviation."""

    has_matrices = False

    def least(self, floor: Floats) -> Floats:
        """The floor of one component's variances, from that of the columns, (d,)."""
        raise NotImplementedError

    def spread(self, variances: Floats) -> Floats:
        """One component's variances, from those of the columns, (d,)."""
        raise NotImplementedError

    def factors(
        self, covariances: Floats, roots: Roots = NO_ROOTS, team: Team | None = None
    ) -> Floats:
        if not np.all(covariances > 0):
            raise NotPositiveDefinite(int(np.argwhere(~(covariances > 0))[0][0]))
        return np.asarray(1.0 / np.sqrt(covariances))

    def precisions(self, factors: Floats) -> Floats:
        return np.asarray(factors**2)

    def at_floor(self, C: Floats, floor: Floor) -> bool:
        return bool(np.any(AT_FLOOR * self.least(floor.values) >= C))

    def collapsed(self, C: Floats, total: Floats, floor: Floor) -> bool:
        least = self.least(floor.values)
        return bool(np.any((AT_FLOOR * least >= C) & (self.spread(total) > NEAR_FLOOR * least)))

    def total_covariance(self, weights: Floats, means: Floats, covariances: Floats) -> Floats:
        between = weights @ (means - weights @ means) ** 2
        return np.asarray(between + weights @ covariances)

    def projected(self, covariances: Floats, k: int, axes: Floats) -> Floats:
        variances = self.variances(covariances, k, len(axes))
        return np.asarray(axes.T @ (variances[:, :, np.newaxis] * axes))

    def has_smaller_variance(
        self, covariances: Floats, k: int, unit: Floats, variance: float
    ) -> NDArray[np.bool_]:
        kept = unit > 0
        own = self.variances(covariances, k, len(unit))[:, kept]
        return np.asarray((own / unit[kept] / unit[kept]).min(axis=1) < variance)

    def sampler(self, covariances: Floats, k: int, d: int, c: int) -> Callable[[Floats], Floats]:
        root = np.sqrt(self.variances(covariances, k, d)[c])
        return lambda points: np.asarray(points * root)

    def matrices(self, covariances: Floats, k: int, d: int) -> Floats:
        return np.asarray(self.variances(covariances, k, d)[:, :, None] * np.eye(d))

    def coordinates(self, covariances: Floats) -> Floats:
        """Logarithms of standard deviations."""
        return np.asarray(np.log(covariances).ravel() / 2)

    def at_coordinates(self, vector: Floats, like: Floats, floor: Floats) -> Floats | None:
        found = np.exp(2 * vector).reshape(like.shape)
        legal = np.isfinite(found).all() and (found >= self.least(floor)).all()
        return found if legal and (found > 0).all() else None


class Diag(Variances):
    """Every component has a variance for each column: (k, d)."""

    kind = moments_kind = "diag"

    def shape(self, k: int, d: int) -> tuple[int, ...]:
        return (k, d)

    def n_covariance_parameters(self, k: int, d: int) -> int:
        return k * d

    def scaled(self, covariances: Floats, exponent: NDArray[np.int32]) -> Floats:
        return np.asarray(np.ldexp(covariances, 2 * exponent))

    def factors_in_data_units(self, factors: Floats, scaling: Standardization) -> Floats:
        return np.asarray(np.ldexp(factors, -scaling.exponent))

    def least(self, floor: Floats) -> Floats:
        return floor

    def spread(self, variances: Floats) -> Floats:
        return variances

    def second_moments(self, variances: Floats) -> Floats:
        return variances[np.newaxis]

    def estimate_with_roots(
        self, moments: Moments, shift: Floats, floor: Floor, team: Team | None = None
    ) -> tuple[Floats, Roots]:
        assert moments.second is not None
        with np.errstate(divide="ignore", invalid="ignore"):
            mass = moments.mass[:, None]
            v = moments.second / mass - 2 * (moments.first / mass) * shift + shift**2
        v = v + floor.values if floor.added else np.maximum(v, floor.values)
        return np.asarray(v), NO_ROOTS

    def log_peaks(self, factors: Floats, k: int, d: int) -> Floats:
        return np.asarray(np.log(factors).sum(axis=1) - 0.5 * d * LOG_2_PI)

    def largest_move(self, factors: Floats, moved: Floats) -> float:
        return float((moved * factors).max())

    def variances(self, covariances: Floats, k: int, d: int) -> Floats:
        return covariances


class Spherical(Variances):
    """Every component has one variance: (k,)."""

    kind = moments_kind = "spherical"
    isotropic = True

    def shape(self, k: int, d: int) -> tuple[int, ...]:
        return (k,)

    def n_covariance_parameters(self, k: int, d: int) -> int:
        return k

    def scaled(self, covariances: Floats, exponent: NDArray[np.int32]) -> Floats:
        return np.asarray(np.ldexp(covariances, 2 * int(exponent[0])))

    def factors_in_data_units(self, factors: Floats, scaling: Standardization) -> Floats:
        return np.asarray(np.ldexp(factors, -int(scaling.exponent[0])))

    def least(self, floor: Floats) -> Floats:
        return np.asarray(floor.mean())

    def spread(self, variances: Floats) -> Floats:
        return np.asarray(variances.mean())

    def second_moments(self, variances: Floats) -> Floats:
        return np.asarray(variances.sum(keepdims=True))

    def estimate_with_roots(
        self, moments: Moments, shift: Floats, floor: Floor, team: Team | None = None
    ) -> tuple[Floats, Roots]:
        assert moments.second is not None
        d = shift.shape[1]
        second = moments.second if moments.second.ndim == 1 else moments.second.sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            mean = moments.first / moments.mass[:, None]
            v = (
                second / moments.mass - (2 * mean * shift).sum(axis=1) + (shift**2).sum(axis=1)
            ) / d
        least = self.least(floor.values)
        return np.asarray(v + least if floor.added else np.maximum(v, least)), NO_ROOTS

    def log_peaks(self, factors: Floats, k: int, d: int) -> Floats:
        return np.asarray(d * np.log(factors) - 0.5 * d * LOG_2_PI)

    def for_any_centres(self, densities: Densities) -> Densities:
        k, d = densities.means.shape
        factors = np.ascontiguousarray(np.broadcast_to(densities.factors[:, None], (k, d)))
        return replace(densities, kind="diag", factors=factors)

    def largest_move(self, factors: Floats, moved: Floats) -> float:
        return float((moved * factors[:, None]).max())

    def variances(self, covariances: Floats, k: int, d: int) -> Floats:
        return np.broadcast_to(np.broadcast_to(covariances, k)[:, None], (k, d))
