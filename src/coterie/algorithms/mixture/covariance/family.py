"""The questions of drivers to a family of covariances, and the answers that all families share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from coterie.algorithms.mixture.covariance.floor import NO_ROOTS, Floor, Roots
from coterie.arrays import Floats
from coterie.kernels._native import Team
from coterie.kernels.mixture_steps import Densities, Kind, Moments, Standardization

VALUES_AT_ONCE = 1 << 18  # of random points


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
    moments_kind: ClassVar[Kind]  # of the second moments that an estimate needs
    has_matrices: ClassVar[bool]  # False: variances, of independent columns
    shared: ClassVar[bool] = False  # one for all components; a survey takes the total scatter
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
        """precisions_cholesky in standardized units: the inverse, to the last bit."""
        return self.factors_in_data_units(
            factors, Standardization(scaling.origin, -scaling.exponent)
        )

    # EM, in standardized units

    def estimate(
        self, moments: Moments, shift: Floats, floor: Floor, team: Team | None = None
    ) -> Floats:
        """Covariances about centre + shift, (k, d). Components without mass give NaN.

        A team, if there is one, shares out the matrices, here and below; no bit depends on it.
        """
        return self.estimate_with_roots(moments, shift, floor, team)[0]

    def estimate_with_roots(
        self, moments: Moments, shift: Floats, floor: Floor, team: Team | None = None
    ) -> tuple[Floats, Roots]:
        """Covariances as by `estimate`, and roots of matrices near the floor."""
        raise NotImplementedError

    def second_moments(self, variances: Floats) -> Floats:
        """Second moments of one component with these variances, (d,), and mass one."""
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
        """The mixture for a sweep, in standardized units."""
        k, d = means.shape
        with np.errstate(divide="ignore"):  # a component may have lost all its weight
            offsets = np.log(weights) + self.log_peaks(factors, k, d)
        return Densities(self.kind, offsets, np.ascontiguousarray(means), factors)

    def for_any_centres(self, densities: Densities) -> Densities:
        """The same densities in a richer family, with moments about any centres."""
        return densities

    def largest_move(self, factors: Floats, moved: Floats) -> float:
        """The largest move of a mean, in standard deviations; moved : (k, d), none negative."""
        raise NotImplementedError

    # Collapse, in standardized units

    def each(self, covariances: Floats) -> Sequence[Floats] | Floats:
        """The covariances one by one, of every component, or the shared one."""
        return covariances

    def at_floor(self, C: Floats, floor: Floor) -> bool:
        """True if the spread of one covariance is the floor's, not the data's, somewhere."""
        raise NotImplementedError

    def collapsed(self, C: Floats, total: Floats, floor: Floor) -> bool:
        """True if one covariance is at the floor in a direction in which the total is far above."""
        raise NotImplementedError

    def total_covariance(self, weights: Floats, means: Floats, covariances: Floats) -> Floats:
        """(d, d) covariance of a whole mixture: between the components, and within them.

        (d,) variances where the family has no matrices.
        """
        raise NotImplementedError

    # Coordinates without constraints, for acceleration

    def coordinates(self, covariances: Floats) -> Floats:
        """A vector without constraints; LinAlgError where a matrix has none."""
        raise NotImplementedError

    def at_coordinates(self, vector: Floats, like: Floats, floor: Floats) -> Floats | None:
        """Covariances shaped as `like`; None where EM could not have reached them."""
        raise NotImplementedError

    # Questions of people to a fitted mixture, in the data's units

    def matrices(self, covariances: Floats, k: int, d: int) -> Floats:
        """(k, d, d) covariance matrices, for every family."""
        raise NotImplementedError

    def precisions(self, factors: Floats) -> Floats:
        """Inverse covariances, from their factors."""
        raise NotImplementedError

    def inverse(self, matrices: Floats) -> Floats:
        """Inverses of covariances, or of precisions."""
        return self.precisions(self.factors(matrices))

    def variances(self, covariances: Floats, k: int, d: int) -> Floats:
        """(k, d) variances of the columns."""
        raise NotImplementedError

    def projected(self, covariances: Floats, k: int, axes: Floats) -> Floats:
        """(k, a, a) covariances projected on some axes, (d, a)."""
        raise NotImplementedError

    def has_smaller_variance(
        self, covariances: Floats, k: int, unit: Floats, variance: float
    ) -> NDArray[np.bool_]:
        """(k,) True for components with less variance than this in some direction.

        unit : (d,) units of the columns; a column with unit zero is left out.
        """
        raise NotImplementedError

    def sample(
        self, means: Floats, covariances: Floats, counts: list[int], random: np.random.RandomState
    ) -> Floats:
        """counts[c] points of each component, one component after the other."""
        k, d = means.shape
        points = np.empty((sum(counts), d))
        at_once = max(1, VALUES_AT_ONCE // d)  # an interrupt is heard between two pieces
        end = 0
        for c, count in enumerate(counts):
            from_normal = self.sampler(covariances, k, d, c)
            start, end = end, end + count
            for first in range(start, end, at_once):
                piece = points[first : min(first + at_once, end)]
                piece[:] = means[c] + from_normal(random.standard_normal(piece.shape))
        return points

    def sampler(self, covariances: Floats, k: int, d: int, c: int) -> Callable[[Floats], Floats]:
        """A function from standard normal points, (n, d), to points of component c about its mean.

        k : the number of components, which shared covariances do not show.
        """
        raise NotImplementedError
