"""What a driver may ask of a family of covariances, and what all families answer alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from coterie.algorithms.mixture.covariance.floor import NO_ROOTS, Floor, Roots
from coterie.kernels._native import Team
from coterie.kernels.exact import Floats
from coterie.kernels.mixture_steps import Densities, Kind, Moments, Standardization

VALUES_AT_ONCE = 1 << 18  # of random points
LOG_2_PI = float(np.log(2 * np.pi))


class NotPositiveDefinite(ValueError):
    """A covariance matrix has a direction without any spread."""

    def __init__(self, component: int | None) -> None:
        self.component = component  # None: the one that all components share
        whose = "the shared covariance" if component is None else f"component {component}"
        super().__init__(
            f"expected covariances that spread in every direction, but {whose} is flat: its "
            "points lie (nearly) in a plane, or are too few. Use fewer components, reg_covar=None "
            "or a larger reg_covar, or covariance_type='diag' or 'spherical'."
        )


class Family:
    """A family of covariances. In the data's units, shapes of arrays are scikit-learn's."""

    kind: ClassVar[Kind]  # of densities, as the kernels know them
    moments_kind: ClassVar[Kind]  # of second moments from which all of it can be estimated
    whole: ClassVar[bool]  # matrices; else variances, of columns that do not depend on each other
    shared: ClassVar[bool] = False  # one for all components, and a survey takes the whole scatter
    isotropic: ClassVar[bool] = False  # columns must share one unit

    def __init__(self, *, estimated: bool = True) -> None:
        self.estimated = estimated  # else covariances are given and stay

    # Sizes

    def shape(self, k: int, d: int) -> tuple[int, ...]:
        raise NotImplementedError

    def n_covariance_parameters(self, k: int, d: int) -> int:
        raise NotImplementedError

    def n_parameters(self, k: int, d: int) -> int:
        """Free parameters of a mixture, for BIC and AIC."""
        return self.n_covariance_parameters(k, d) + k * d + k - 1

    # Between the data's units and standardized ones

    def scaled(self, covariances: Floats, exponent: NDArray[np.int32]) -> Floats:
        """Covariances of columns multiplied by 2^exponent."""
        raise NotImplementedError

    def standardized(self, covariances: Floats, scaling: Standardization) -> Floats:
        return self.scaled(np.asarray(covariances, dtype=np.float64), -scaling.exponent)

    def in_data_units(self, covariances: Floats, scaling: Standardization) -> Floats:
        return self.scaled(covariances, scaling.exponent)

    def factors_in_data_units(self, factors: Floats, scaling: Standardization) -> Floats:
        """precisions_cholesky in the data's units."""
        raise NotImplementedError

    def standardized_factors(self, factors: Floats, scaling: Standardization) -> Floats:
        """And back, to the last bit."""
        return self.factors_in_data_units(
            factors, Standardization(scaling.origin, -scaling.exponent)
        )

    # EM, in standardized units

    def estimate(
        self, moments: Moments, shift: Floats, floor: Floor, team: Team | None = None
    ) -> Floats:
        """Covariances about centre + shift, (k, d). Components without mass give NaN. A team, if
        there is one, shares out the matrices, here and below."""
        return self.estimate_with_roots(moments, shift, floor, team)[0]

    def estimate_with_roots(
        self, moments: Moments, shift: Floats, floor: Floor, team: Team | None = None
    ) -> tuple[Floats, Roots]:
        """The same, and roots of matrices near the floor."""
        raise NotImplementedError

    def second_moments(self, variances: Floats) -> Floats:
        """Of one component as wide as columns of these variances, (d,)."""
        raise NotImplementedError

    def roots(self, covariances: Floats, floor: Floor, team: Team | None = None) -> Roots:
        """Roots of matrices near the floor, nowhere below it, if only by rounding."""
        return NO_ROOTS

    def factors(
        self, covariances: Floats, roots: Roots = NO_ROOTS, team: Team | None = None
    ) -> Floats:
        """precisions_cholesky: U with U U' = C^-1, or 1 / standard deviation."""
        raise NotImplementedError

    def log_peaks(self, factors: Floats, k: int, d: int) -> Floats:
        """(k,) log density at the mean."""
        raise NotImplementedError

    def densities(self, weights: Floats, means: Floats, factors: Floats) -> Densities:
        """In standardized units, log densities too."""
        k, d = means.shape
        with np.errstate(divide="ignore"):  # a component may have lost all its weight
            offsets = np.log(weights) + self.log_peaks(factors, k, d)
        return Densities(self.kind, offsets, np.ascontiguousarray(means), factors)

    def unfolded(self, densities: Densities) -> Densities:
        """The same densities in a richer family whose moments may be taken about any centres."""
        return densities

    def reach(self, factors: Floats, moved: Floats) -> float:
        """How far the farthest mean went, in standard deviations; moved : (k, d), none negative."""
        raise NotImplementedError

    # Collapse, in standardized units

    def each(self, covariances: Floats) -> Sequence[Floats] | Floats:
        """One covariance after the other, of every component or the shared one."""
        return covariances

    def at_floor(self, C: Floats, floor: Floor) -> bool:
        """Is one covariance so small somewhere that its spread is the floor's, not the data's?"""
        raise NotImplementedError

    def flat(self, C: Floats, total: Floats, floor: Floor) -> bool:
        """Is one covariance at the floor in a direction in which the total is far above it?"""
        raise NotImplementedError

    def total(self, weights: Floats, means: Floats, covariances: Floats) -> Floats:
        """(d, d) covariance of a whole mixture, between the components and within them; (d,)
        variances where the family has nothing but these."""
        raise NotImplementedError

    # Coordinates without constraints, for acceleration

    def coordinates(self, covariances: Floats) -> Floats:
        """A vector; LinAlgError where a matrix has none."""
        raise NotImplementedError

    def at_coordinates(self, vector: Floats, like: Floats, floor: Floats) -> Floats | None:
        """Covariances shaped as `like`; None where EM could not have reached them."""
        raise NotImplementedError

    # What people ask of a fitted mixture, in the data's units

    def matrices(self, covariances: Floats, k: int, d: int) -> Floats:
        """(k, d, d) whatever the family."""
        raise NotImplementedError

    def precisions(self, factors: Floats) -> Floats:
        raise NotImplementedError

    def inverse(self, matrices: Floats) -> Floats:
        """Of covariances or precisions."""
        return self.precisions(self.factors(matrices))

    def variances(self, covariances: Floats, k: int, d: int) -> Floats:
        """(k, d) of columns."""
        raise NotImplementedError

    def along(self, covariances: Floats, k: int, axes: Floats) -> Floats:
        """(k, a, a) as seen along some axes, (d, a)."""
        raise NotImplementedError

    def thinner(
        self, covariances: Floats, k: int, unit: Floats, variance: float
    ) -> NDArray[np.bool_]:
        """(k,) whether there is less variance than this in some direction, of columns in these
        units, (d,); those that have none are left out."""
        raise NotImplementedError

    def sample(
        self, means: Floats, covariances: Floats, counts: list[int], random: np.random.RandomState
    ) -> Floats:
        """counts[c] points of each component, one component after the other."""
        k, d = means.shape
        points = np.empty((sum(counts), d))
        at_once = max(1, VALUES_AT_ONCE // d)  # Ctrl-C is heard between two pieces
        end = 0
        for c, count in enumerate(counts):
            spread_out = self.spreader(covariances, k, d, c)
            start, end = end, end + count
            for first in range(start, end, at_once):
                piece = points[first : min(first + at_once, end)]
                piece[:] = means[c] + spread_out(random.standard_normal(piece.shape))
        return points

    def spreader(self, covariances: Floats, k: int, d: int, c: int) -> Callable[[Floats], Floats]:
        """A function from standard normal points, (n, d), to points as component c of k has them
        about its mean."""
        raise NotImplementedError
