"""Full and tied covariances: matrices, one for each component or one for all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from coterie.algorithms.mixture.covariance.family import Family, NotPositiveDefinite
from coterie.algorithms.mixture.covariance.floor import (
    AT_FLOOR,
    NEAR_FLOOR,
    NO_ROOTS,
    Floor,
    Roots,
    above_floor,
    apply_floor,
    eigenvectors,
    inverse_root,
    root_of,
)
from coterie.arrays import Floats
from coterie.kernels import triangles
from coterie.kernels._native import Team
from coterie.kernels.mixture_steps import LOG_2_PI, Densities, Kind, Moments, Standardization


class Matrices(Family):
    """The common part of full and tied covariances: each is a triangle, or becomes one."""

    moments_kind = "full"
    has_matrices = True

    def stack(self, covariances: Floats) -> Floats:
        """(1 or k, d, d) matrices, from standardized ones."""
        raise NotImplementedError

    def unstack(self, matrices: Floats) -> Floats:
        """Standardized covariances, from such a stack of matrices."""
        raise NotImplementedError

    def second_moments(self, variances: Floats) -> Floats:
        return triangles.packed(np.diag(variances)[np.newaxis])

    def at_floor(self, C: Floats, floor: Floor) -> bool:
        return not above_floor(C[np.newaxis], floor, AT_FLOOR)[0]

    def collapsed(self, C: Floats, total: Floats, floor: Floor) -> bool:
        unit = np.outer(np.sqrt(floor.values), np.sqrt(floor.values))
        values, vectors = eigenvectors(triangles.symmetric(C) / unit)
        spread = (vectors * (total / unit @ vectors)).sum(axis=0)
        return bool(np.any((values <= AT_FLOOR) & (spread > NEAR_FLOOR)))

    def total_covariance(self, weights: Floats, means: Floats, covariances: Floats) -> Floats:
        from_mean = means - weights @ means
        between = (from_mean * weights[:, np.newaxis]).T @ from_mean
        return np.asarray(between + self.within(weights, covariances))

    def within(self, weights: Floats, covariances: Floats) -> Floats:
        """(d, d) covariance about the means, on average over the components."""
        raise NotImplementedError

    def variances(self, covariances: Floats, k: int, d: int) -> Floats:
        return np.diagonal(self.matrices(covariances, k, d), axis1=1, axis2=2)

    def projected(self, covariances: Floats, k: int, axes: Floats) -> Floats:
        return np.asarray(axes.T @ self.matrices(covariances, k, len(axes)) @ axes)

    def has_smaller_variance(
        self, covariances: Floats, k: int, unit: Floats, variance: float
    ) -> NDArray[np.bool_]:
        kept = np.flatnonzero(unit)
        units, ones = np.outer(unit[kept], unit[kept]), np.ones(len(kept))
        found = []
        for C in covariances[np.newaxis] if self.shared else covariances:
            own = triangles.packed((C[kept[:, np.newaxis], kept] / units)[np.newaxis])
            # By a factorization: eigenvalues of thousands of columns take a minute.
            found.append(not triangles.wider_than(own, ones, variance)[0])
        return np.broadcast_to(np.array(found), (k,))

    def sampler(self, covariances: Floats, k: int, d: int, c: int) -> Callable[[Floats], Floats]:
        root = root_of(self.matrices(covariances, k, d)[c])
        return lambda points: np.asarray(points @ root.T)

    def coordinates(self, covariances: Floats) -> Floats:
        """Cholesky factors, with the logarithms of their diagonals."""
        L = np.linalg.cholesky(self.stack(covariances))
        rows, columns = np.tril_indices(L.shape[-1], -1)
        logs = np.log(np.diagonal(L, axis1=1, axis2=2))
        return np.concatenate([logs.ravel(), L[:, rows, columns].ravel()])

    def at_coordinates(self, vector: Floats, like: Floats, floor: Floats) -> Floats | None:
        d = len(floor)
        L = np.zeros((len(vector) // triangles.size(d), d, d))
        rows, columns = np.tril_indices(d, -1)
        logs, rest = np.split(vector, [len(L) * d])
        L[:, np.arange(d), np.arange(d)] = np.exp(logs).reshape(len(L), d)
        L[:, rows, columns] = rest.reshape(len(L), -1)
        found = L @ L.transpose(0, 2, 1)
        # Pivots of a matrix that is nowhere below the floor are not below it either.
        pivots = np.diagonal(L, axis1=1, axis2=2) ** 2
        legal = np.isfinite(found).all() and (pivots >= floor).all() and (pivots > 0).all()
        return self.unstack(found) if legal else None


class Full(Matrices):
    """Every component has a covariance matrix of its own: (k, d, d)."""

    kind: ClassVar[Kind] = "full"

    def shape(self, k: int, d: int) -> tuple[int, ...]:
        return (k, d, d)

    def n_covariance_parameters(self, k: int, d: int) -> int:
        return k * triangles.size(d)

    def standardized(self, covariances: Floats, scaling: Standardization) -> Floats:
        k, d = covariances.shape[:2]
        out = triangles.empty((k, triangles.size(d)))
        for c, C in enumerate(covariances):
            out[c] = triangles.packed(np.ldexp(C, -(scaling.exponent[:, None] + scaling.exponent)))
        return out

    def in_data_units(self, covariances: Floats, scaling: Standardization) -> Floats:
        out = triangles.symmetric(covariances)
        return np.asarray(np.ldexp(out, scaling.exponent[:, None] + scaling.exponent, out=out))

    def factors_in_data_units(self, factors: Floats, scaling: Standardization) -> Floats:
        out = triangles.upper(factors)
        return np.asarray(np.ldexp(out, -scaling.exponent[:, None], out=out))

    def standardized_factors(self, factors: Floats, scaling: Standardization) -> Floats:
        out = triangles.empty((len(factors), triangles.size(len(scaling.exponent))))
        for c, U in enumerate(factors):
            out[c] = triangles.packed(np.ldexp(U, scaling.exponent[:, None]))
        return out

    def estimate_with_roots(
        self, moments: Moments, shift: Floats, floor: Floor, team: Team | None = None
    ) -> tuple[Floats, Roots]:
        """Covariances in the memory of the second moments: both at once would be large."""
        assert moments.second is not None
        found = moments.second
        triangles.covariances_about(found, moments.mass, moments.first, shift, found, team)
        return found, apply_floor(found, floor, team)

    def roots(self, covariances: Floats, floor: Floor, team: Team | None = None) -> Roots:
        held = triangles.empty(covariances.shape)
        held[:] = covariances
        return apply_floor(held, floor, team)

    def factors(
        self, covariances: Floats, roots: Roots = NO_ROOTS, team: Team | None = None
    ) -> Floats:
        out = triangles.empty(covariances.shape)
        for c, root in roots.items():
            out[c] = root
        unknown = [c for c in range(len(out)) if c not in roots]
        flat = triangles.inverse_roots(covariances, unknown, out, team)
        if flat is not None:
            raise NotPositiveDefinite(flat)
        return out

    def log_peaks(self, factors: Floats, k: int, d: int) -> Floats:
        return np.asarray(np.log(triangles.diagonals(factors)).sum(axis=1) - 0.5 * d * LOG_2_PI)

    def largest_move(self, factors: Floats, moved: Floats) -> float:
        return triangles.largest_reach(factors, moved)

    def within(self, weights: Floats, covariances: Floats) -> Floats:
        return triangles.symmetric(weights @ covariances)

    def stack(self, covariances: Floats) -> Floats:
        return triangles.symmetric(covariances)

    def unstack(self, matrices: Floats) -> Floats:
        return triangles.packed(matrices)

    def matrices(self, covariances: Floats, k: int, d: int) -> Floats:
        return covariances

    def precisions(self, factors: Floats) -> Floats:
        return np.asarray(factors @ np.swapaxes(factors, -1, -2))

    def inverse(self, matrices: Floats) -> Floats:
        out = triangles.empty(matrices.shape)
        for c, C in enumerate(matrices):
            U = inverse_root(C)
            if U is None:
                raise NotPositiveDefinite(c)
            np.matmul(U, U.T, out=out[c])
        return out


class Tied(Matrices):
    """All components share one covariance matrix: (d, d), standardized too."""

    kind = "tied"
    shared = True

    def shape(self, k: int, d: int) -> tuple[int, ...]:
        return (d, d)

    def n_covariance_parameters(self, k: int, d: int) -> int:
        return triangles.size(d)

    def scaled(self, covariances: Floats, exponent: NDArray[np.int32]) -> Floats:
        return np.asarray(np.ldexp(covariances, exponent[:, None] + exponent))

    def factors_in_data_units(self, factors: Floats, scaling: Standardization) -> Floats:
        return np.asarray(np.ldexp(factors, -scaling.exponent[:, None]))

    def estimate_with_roots(
        self, moments: Moments, shift: Floats, floor: Floor, team: Team | None = None
    ) -> tuple[Floats, Roots]:
        """second : triangles of the components, or of their sum alone."""
        assert moments.second is not None
        cross = moments.first.T @ shift
        total = triangles.symmetric(moments.second.sum(axis=0)) - (cross + cross.T)
        total += (shift * moments.mass[:, None]).T @ shift
        return self._held(total / moments.mass.sum(), floor)

    def roots(self, covariances: Floats, floor: Floor, team: Team | None = None) -> Roots:
        return self._held(covariances, floor)[1]

    def _held(self, C: Floats, floor: Floor) -> tuple[Floats, Roots]:
        one = triangles.packed(C[np.newaxis])
        roots = apply_floor(one, floor)
        return triangles.symmetric(one[0]), roots

    def factors(
        self, covariances: Floats, roots: Roots = NO_ROOTS, team: Team | None = None
    ) -> Floats:
        if roots:
            return triangles.upper(roots[0])
        U = inverse_root(covariances)
        if U is None:
            raise NotPositiveDefinite(None)
        return U

    def log_peaks(self, factors: Floats, k: int, d: int) -> Floats:
        return np.full(k, np.log(np.diagonal(factors)).sum() - 0.5 * d * LOG_2_PI)

    def for_any_centres(self, densities: Densities) -> Densities:
        return densities.untied()

    def largest_move(self, factors: Floats, moved: Floats) -> float:
        return float((moved @ np.abs(factors)).max())

    def each(self, covariances: Floats) -> Sequence[Floats]:
        return [triangles.packed(covariances)]

    def within(self, weights: Floats, covariances: Floats) -> Floats:
        return covariances

    def stack(self, covariances: Floats) -> Floats:
        return covariances[np.newaxis]

    def unstack(self, matrices: Floats) -> Floats:
        return np.asarray(matrices[0])

    def matrices(self, covariances: Floats, k: int, d: int) -> Floats:
        return np.broadcast_to(covariances, (k, d, d))

    def precisions(self, factors: Floats) -> Floats:
        return np.asarray(factors @ factors.T)
