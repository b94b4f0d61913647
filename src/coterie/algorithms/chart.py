"""Mixtures as vectors: logarithms of weights, means, and Cholesky factors with the logarithms of
their diagonals. Every vector is a mixture, so extrapolation cannot leave the legal ones."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from coterie.algorithms.covariance import Family
from coterie.algorithms.mixture import Mixture
from coterie.kernels import triangles
from coterie.kernels.exact import Floats


@dataclass(frozen=True)
class MixtureChart:
    """Coordinates of those parts of a mixture that are free, in the units of a frame."""

    family: Family
    floor: Floats  # (d,) variances that EM never falls below
    fixed: Collection[str] = ()

    def vector(self, mixture: Mixture) -> Floats | None:
        coordinates = []
        if "weights" not in self.fixed:
            if not np.all(mixture.weights > 0):
                return None
            coordinates.append(np.log(mixture.weights))
        if "means" not in self.fixed:
            coordinates.append(mixture.means.ravel())
        if self._shapes_are_free:
            try:
                coordinates.append(self._shape_vector(mixture.covariances))
            except np.linalg.LinAlgError:
                return None
        vector = np.concatenate(coordinates) if coordinates else np.zeros(0)
        return vector if vector.size and np.all(np.isfinite(vector)) else None

    def point(self, vector: Floats, like: Mixture) -> Mixture | None:
        if not np.all(np.isfinite(vector)):
            return None
        k, d = like.means.shape
        weights, means, covariances = like.weights, like.means, like.covariances
        if "weights" not in self.fixed:
            logs, vector = vector[:k], vector[k:]
            weights = np.exp(logs - logs.max())
            weights = weights / weights.sum()
        if "means" not in self.fixed:
            means, vector = vector[: k * d].reshape(k, d), vector[k * d :]
        if self._shapes_are_free:
            found = self._shapes(vector, covariances.shape)
            if found is None:
                return None
            covariances = found
        return Mixture(weights, means, covariances)

    @property
    def _shapes_are_free(self) -> bool:
        return self.family.estimated and "covariances" not in self.fixed

    @property
    def _whole_matrices(self) -> bool:
        return self.family.kind in ("full", "tied")

    def _shape_vector(self, covariances: Floats) -> Floats:
        if not self._whole_matrices:
            return np.asarray(np.log(covariances).ravel() / 2)
        tied = self.family.kind == "tied"
        L = np.linalg.cholesky(covariances[None] if tied else triangles.symmetric(covariances))
        rows, columns = np.tril_indices(L.shape[-1], -1)
        logs = np.log(np.diagonal(L, axis1=1, axis2=2))
        return np.concatenate([logs.ravel(), L[:, rows, columns].ravel()])

    def _shapes(self, vector: Floats, shape: tuple[int, ...]) -> Floats | None:
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            if self._whole_matrices:
                d = len(self.floor)
                L = np.zeros((len(vector) // (d * (d + 1) // 2), d, d))
                rows, columns = np.tril_indices(d, -1)
                logs, rest = np.split(vector, [len(L) * d])
                L[:, np.arange(d), np.arange(d)] = np.exp(logs).reshape(len(L), d)
                L[:, rows, columns] = rest.reshape(len(L), -1)
                least = np.diagonal(L, axis1=1, axis2=2) ** 2
                found = L @ L.transpose(0, 2, 1)
                found = found[0] if self.family.kind == "tied" else triangles.folded(found)
            else:
                found = np.exp(2 * vector).reshape(shape)
                least = found.reshape(shape[0], -1)
        floor = self.floor if self.family.kind != "spherical" else self.floor.mean()
        # Pivots of a matrix that is nowhere below the floor are not below it either.
        legal = np.all(np.isfinite(found)) and np.all(least >= floor) and np.all(least > 0)
        return found if legal else None
