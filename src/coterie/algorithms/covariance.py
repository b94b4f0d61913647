"""Families of covariance matrices: what each may look like, and everything that depends on it.

All arithmetic is in the frame of the data (see `coterie.kernels.mixture_steps`), where columns are
centred and near one in size; `to_frame` and `from_frame` translate. There full matrices, one for
each component, are upper triangles, row by row, (k, d (d + 1) / 2): with many columns they are all
that takes memory.
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from coterie.algorithms.floor import NO_ROOTS, Floor, Roots, floored, inverse_root, root_of
from coterie.kernels import triangles
from coterie.kernels.exact import Floats
from coterie.kernels.mixture_steps import Densities, Frame, Kind, Moments

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
    """A family of covariances. Shapes of arrays are scikit-learn's."""

    kind: ClassVar[Kind]
    isotropic: ClassVar[bool] = False  # columns must share one unit

    def __init__(self, *, estimated: bool = True) -> None:
        self.estimated = estimated  # else covariances are given and stay

    def shape(self, k: int, d: int) -> tuple[int, ...]:
        raise NotImplementedError

    def n_covariance_parameters(self, k: int, d: int) -> int:
        raise NotImplementedError

    def n_parameters(self, k: int, d: int) -> int:
        """Free parameters of a mixture, for BIC and AIC."""
        return self.n_covariance_parameters(k, d) + k * d + k - 1

    def estimate(self, moments: Moments, shift: Floats, floor: Floor) -> Floats:
        """Covariances about centre + shift, (k, d). Components without mass give NaN."""
        return self.estimate_with_roots(moments, shift, floor)[0]

    def estimate_with_roots(
        self, moments: Moments, shift: Floats, floor: Floor
    ) -> tuple[Floats, Roots]:
        """The same, and roots of matrices near the floor."""
        raise NotImplementedError

    def roots(self, covariances: Floats, floor: Floor) -> Roots:
        """Roots of matrices near the floor, nowhere below it, if only by rounding."""
        return NO_ROOTS

    def factors(self, covariances: Floats, roots: Roots = NO_ROOTS) -> Floats:
        """precisions_cholesky: U with U U' = C^-1, or 1 / standard deviation."""
        raise NotImplementedError

    def log_peaks(self, factors: Floats, k: int, d: int) -> Floats:
        """(k,) log density at the mean."""
        raise NotImplementedError

    def scaled(self, covariances: Floats, exponent: NDArray[np.int32]) -> Floats:
        """Covariances of columns multiplied by 2^exponent."""
        raise NotImplementedError

    def matrices(self, covariances: Floats, k: int, d: int) -> Floats:
        """(k, d, d) whatever the family."""
        raise NotImplementedError

    def unfolded(self, densities: Densities) -> Densities:
        """The same densities in a richer family whose moments may be taken about any centres."""
        return densities

    def precisions(self, factors: Floats) -> Floats:
        return np.asarray(factors**2)

    def densities(self, weights: Floats, means: Floats, factors: Floats) -> Densities:
        """In the frame's units, log densities too."""
        k, d = means.shape
        with np.errstate(divide="ignore"):  # a component may have lost all its weight
            offsets = np.log(weights) + self.log_peaks(factors, k, d)
        return Densities(self.kind, offsets, np.ascontiguousarray(means), factors)

    def kept(self, covariances: Floats) -> Floats:
        """Covariances in the data's units that are put aside, in little memory."""
        return covariances

    def whole(self, kept: Floats) -> Floats:
        """As they were."""
        return kept

    def inverse(self, matrices: Floats) -> Floats:
        """Of covariances or precisions, in the data's units."""
        return self.precisions(self.factors(matrices))

    def to_frame(self, covariances: Floats, frame: Frame) -> Floats:
        return self.scaled(np.asarray(covariances, dtype=np.float64), -frame.exponent)

    def from_frame(self, covariances: Floats, frame: Frame) -> Floats:
        return self.scaled(covariances, frame.exponent)

    def factors_from_frame(self, factors: Floats, frame: Frame) -> Floats:
        """precisions_cholesky in the data's units."""
        raise NotImplementedError

    def sample(
        self, means: Floats, covariances: Floats, counts: list[int], random: np.random.RandomState
    ) -> Floats:
        """counts[c] points of each component, one component after the other."""
        k, d = means.shape
        parts = []
        for mean, C, count in zip(means, self.matrices(covariances, k, d), counts, strict=True):
            parts.append(mean + random.standard_normal((count, d)) @ root_of(C).T)
        return np.concatenate(parts)


class Full(Family):
    """Every component has a covariance matrix of its own: (k, d, d)."""

    kind: ClassVar[Kind] = "full"

    def shape(self, k: int, d: int) -> tuple[int, ...]:
        return (k, d, d)

    def n_covariance_parameters(self, k: int, d: int) -> int:
        return k * d * (d + 1) // 2

    def estimate_with_roots(
        self, moments: Moments, shift: Floats, floor: Floor
    ) -> tuple[Floats, Roots]:
        assert moments.second is not None
        roots: dict[int, Floats] = {}
        folded = triangles.empty(moments.second.shape)
        for c, delta in enumerate(shift):
            mass, C = float(moments.mass[c]), folded[c]
            triangles.covariance_about(moments.second[c], mass, moments.first[c], delta, C)
            if np.isfinite(C).all():
                folded[c], root = floored(C, floor)
                if root is not None:
                    roots[c] = root
        return folded, roots

    def roots(self, covariances: Floats, floor: Floor) -> Roots:
        found = {c: floored(C, floor)[1] for c, C in enumerate(covariances)}
        return {c: root for c, root in found.items() if root is not None}

    def factors(self, covariances: Floats, roots: Roots = NO_ROOTS) -> Floats:
        out = triangles.empty(covariances.shape)
        for c, C in enumerate(covariances):
            out[c] = roots.get(c, C)
            if c not in roots and not triangles.inverse_root(out[c]):
                raise NotPositiveDefinite(c)
        return out

    def log_peaks(self, factors: Floats, k: int, d: int) -> Floats:
        return np.asarray(np.log(triangles.diagonals(factors)).sum(axis=1) - 0.5 * d * LOG_2_PI)

    def matrices(self, covariances: Floats, k: int, d: int) -> Floats:
        return covariances

    def precisions(self, factors: Floats) -> Floats:
        return np.asarray(factors @ np.swapaxes(factors, -1, -2))

    def to_frame(self, covariances: Floats, frame: Frame) -> Floats:
        k, d = covariances.shape[:2]
        out = triangles.empty((k, triangles.size(d)))
        for c, C in enumerate(covariances):
            out[c] = triangles.folded(np.ldexp(C, -(frame.exponent[:, None] + frame.exponent)))
        return out

    def from_frame(self, covariances: Floats, frame: Frame) -> Floats:
        out = triangles.symmetric(covariances)
        return np.asarray(np.ldexp(out, frame.exponent[:, None] + frame.exponent, out=out))

    def factors_from_frame(self, factors: Floats, frame: Frame) -> Floats:
        out = triangles.upper(factors)
        return np.asarray(np.ldexp(out, -frame.exponent[:, None], out=out))

    def kept(self, covariances: Floats) -> Floats:
        return triangles.folded(covariances)

    def whole(self, kept: Floats) -> Floats:
        return triangles.symmetric(kept)

    def inverse(self, matrices: Floats) -> Floats:
        out = triangles.empty(matrices.shape)
        for c, C in enumerate(matrices):
            U = inverse_root(C)
            if U is None:
                raise NotPositiveDefinite(c)
            np.matmul(U, U.T, out=out[c])
        return out


class Tied(Family):
    """All components share one covariance matrix: (d, d)."""

    kind = "tied"

    def shape(self, k: int, d: int) -> tuple[int, ...]:
        return (d, d)

    def n_covariance_parameters(self, k: int, d: int) -> int:
        return d * (d + 1) // 2

    def estimate_with_roots(
        self, moments: Moments, shift: Floats, floor: Floor
    ) -> tuple[Floats, Roots]:
        """From the moments of full matrices; `pooled` needs only the data's total scatter."""
        live = moments.mass > 0
        means = np.where(live[:, None], shift, 0.0)
        assert moments.second is not None
        cross = moments.first.T @ means
        second = triangles.symmetric(moments.second.sum(axis=0))
        total = second - (cross + cross.T)
        total += (means * moments.mass[:, None]).T @ means
        return _shared(total / moments.mass.sum(), floor)

    def pooled(
        self, scatter: Floats, moments: Moments, means: Floats, floor: Floor
    ) -> tuple[Floats, Roots]:
        """Scatter about the origin of the frame, less what the means explain.

        means : (k, d); moments taken about the origin.
        """
        cross = moments.first.T @ means
        within = scatter - (cross + cross.T) + (means * moments.mass[:, None]).T @ means
        return _shared(within / moments.mass.sum(), floor)

    def roots(self, covariances: Floats, floor: Floor) -> Roots:
        return _shared(covariances, floor)[1]

    def factors(self, covariances: Floats, roots: Roots = NO_ROOTS) -> Floats:
        if roots:
            return triangles.upper(roots[0])
        U = inverse_root(covariances)
        if U is None:
            raise NotPositiveDefinite(None)
        return U

    def log_peaks(self, factors: Floats, k: int, d: int) -> Floats:
        return np.full(k, np.log(np.diagonal(factors)).sum() - 0.5 * d * LOG_2_PI)

    def matrices(self, covariances: Floats, k: int, d: int) -> Floats:
        return np.broadcast_to(covariances, (k, d, d))

    def unfolded(self, densities: Densities) -> Densities:
        k, d = densities.means.shape
        factors = triangles.folded(np.broadcast_to(densities.factors, (k, d, d)))
        return replace(densities, kind="full", factors=factors)

    def scaled(self, covariances: Floats, exponent: NDArray[np.int32]) -> Floats:
        return np.asarray(np.ldexp(covariances, exponent[:, None] + exponent))

    def precisions(self, factors: Floats) -> Floats:
        return np.asarray(factors @ factors.T)

    def factors_from_frame(self, factors: Floats, frame: Frame) -> Floats:
        return np.asarray(np.ldexp(factors, -frame.exponent[:, None]))


class Diag(Family):
    """Every component has a variance for each column: (k, d)."""

    kind = "diag"

    def shape(self, k: int, d: int) -> tuple[int, ...]:
        return (k, d)

    def n_covariance_parameters(self, k: int, d: int) -> int:
        return k * d

    def estimate_with_roots(
        self, moments: Moments, shift: Floats, floor: Floor
    ) -> tuple[Floats, Roots]:
        assert moments.second is not None
        with np.errstate(divide="ignore", invalid="ignore"):
            mass = moments.mass[:, None]
            v = moments.second / mass - 2 * (moments.first / mass) * shift + shift**2
        v = v + floor.values if floor.added else np.maximum(v, floor.values)
        return np.asarray(v), NO_ROOTS

    def factors(self, covariances: Floats, roots: Roots = NO_ROOTS) -> Floats:
        if not np.all(covariances > 0):
            flat = np.argwhere(~(covariances > 0))[0]
            raise NotPositiveDefinite(int(flat[0]))
        return np.asarray(1.0 / np.sqrt(covariances))

    def log_peaks(self, factors: Floats, k: int, d: int) -> Floats:
        return np.asarray(np.log(factors).sum(axis=1) - 0.5 * d * LOG_2_PI)

    def scaled(self, covariances: Floats, exponent: NDArray[np.int32]) -> Floats:
        return np.asarray(np.ldexp(covariances, 2 * exponent))

    def matrices(self, covariances: Floats, k: int, d: int) -> Floats:
        return np.asarray(covariances[:, :, None] * np.eye(d))

    def factors_from_frame(self, factors: Floats, frame: Frame) -> Floats:
        return np.asarray(np.ldexp(factors, -frame.exponent))


class Spherical(Family):
    """Every component has one variance: (k,)."""

    kind = "spherical"
    isotropic = True

    def shape(self, k: int, d: int) -> tuple[int, ...]:
        return (k,)

    def n_covariance_parameters(self, k: int, d: int) -> int:
        return k

    def estimate_with_roots(
        self, moments: Moments, shift: Floats, floor: Floor
    ) -> tuple[Floats, Roots]:
        assert moments.second is not None
        d = shift.shape[1]
        second = moments.second if moments.second.ndim == 1 else moments.second.sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            mean = moments.first / moments.mass[:, None]
            v = (
                second / moments.mass - (2 * mean * shift).sum(axis=1) + (shift**2).sum(axis=1)
            ) / d
        least = float(floor.values.mean())
        return np.asarray(v + least if floor.added else np.maximum(v, least)), NO_ROOTS

    def factors(self, covariances: Floats, roots: Roots = NO_ROOTS) -> Floats:
        if not np.all(covariances > 0):
            raise NotPositiveDefinite(int(np.flatnonzero(~(covariances > 0))[0]))
        return np.asarray(1.0 / np.sqrt(covariances))

    def log_peaks(self, factors: Floats, k: int, d: int) -> Floats:
        return np.asarray(d * np.log(factors) - 0.5 * d * LOG_2_PI)

    def scaled(self, covariances: Floats, exponent: NDArray[np.int32]) -> Floats:
        return np.asarray(np.ldexp(covariances, 2 * int(exponent[0])))

    def matrices(self, covariances: Floats, k: int, d: int) -> Floats:
        return np.asarray(np.broadcast_to(covariances, k)[:, None, None] * np.eye(d))

    def unfolded(self, densities: Densities) -> Densities:
        k, d = densities.means.shape
        factors = np.ascontiguousarray(np.broadcast_to(densities.factors[:, None], (k, d)))
        return replace(densities, kind="diag", factors=factors)

    def factors_from_frame(self, factors: Floats, frame: Frame) -> Floats:
        return np.asarray(np.ldexp(factors, -int(frame.exponent[0])))


FAMILIES: dict[str, Family] = {
    "full": Full(),
    "tied": Tied(),
    "diag": Diag(),
    "spherical": Spherical(),
}


def fixed(shape_of: str) -> Family:
    """Covariances that are given and stay, in the shape of a family (P15)."""
    return type(FAMILIES[shape_of])(estimated=False)


def _shared(C: Floats, floor: Floor) -> tuple[Floats, Roots]:
    C, root = floored(triangles.folded(C), floor)
    return triangles.symmetric(C), NO_ROOTS if root is None else {0: root}
