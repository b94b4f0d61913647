"""Mixtures as vectors: logarithms of weights, means, and Cholesky factors with the logarithms of
their diagonals. Every vector is a mixture, so extrapolation cannot leave the legal ones."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from coterie.algorithms.results import Floats


@dataclass(frozen=True)
class Parts:
    """What a mixture is made of."""

    weights: Floats  # (k,)
    means: Floats  # (k, d)
    covariances: Floats  # (k, d, d), (d, d), (k, d) or (k,)


@dataclass(frozen=True)
class MixtureChart:
    """Coordinates of the parts that are free, in units of the columns."""

    family: str
    unit: Floats  # (d,) the size of each column
    floor: Floats  # (d,) variances that EM never falls below
    fixed: Collection[str] = ()

    def vector(self, parts: Parts) -> Floats | None:
        coordinates = []
        if "weights" not in self.fixed:
            if not np.all(parts.weights > 0):
                return None
            coordinates.append(np.log(parts.weights))
        if "means" not in self.fixed:
            coordinates.append((parts.means / self.unit).ravel())
        if self._shapes_are_free:
            try:
                coordinates.append(self._shape_vector(parts.covariances))
            except np.linalg.LinAlgError:
                return None
        vector = np.concatenate(coordinates) if coordinates else np.zeros(0)
        return vector if vector.size and np.all(np.isfinite(vector)) else None

    def point(self, vector: Floats, like: Parts) -> Parts | None:
        if not np.all(np.isfinite(vector)):
            return None
        k, d = like.means.shape
        weights, means, covariances = like.weights, like.means, like.covariances
        if "weights" not in self.fixed:
            logs, vector = vector[:k], vector[k:]
            weights = np.exp(logs - logs.max())
            weights = weights / weights.sum()
        if "means" not in self.fixed:
            means, vector = vector[: k * d].reshape(k, d) * self.unit, vector[k * d :]
        if self._shapes_are_free:
            found = self._shapes(vector, covariances.shape)
            if found is None:
                return None
            covariances = found
        return Parts(weights, means, covariances)

    @property
    def _shapes_are_free(self) -> bool:
        return self.family != "fixed" and "covariances" not in self.fixed

    def _shape_vector(self, covariances: Floats) -> Floats:
        if covariances.shape[-2:] == (len(self.unit),) * 2 and self.family in ("full", "tied"):
            L = np.linalg.cholesky(covariances / np.outer(self.unit, self.unit))
            L = L.reshape(-1, *L.shape[-2:])
            rows, columns = np.tril_indices(L.shape[-1], -1)
            logs = np.log(np.diagonal(L, axis1=1, axis2=2))
            return np.concatenate([logs.ravel(), L[:, rows, columns].ravel()])
        units = self.unit if self.family == "diag" else np.sqrt(np.mean(self.unit**2))
        return np.log(np.sqrt(covariances) / units).ravel()

    def _shapes(self, vector: Floats, shape: tuple[int, ...]) -> Floats | None:
        d = len(self.unit)
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            if self.family in ("full", "tied"):
                n = len(vector) // (d * (d + 1) // 2)
                L = np.zeros((n, d, d))
                rows, columns = np.tril_indices(d, -1)
                L[:, np.arange(d), np.arange(d)] = np.exp(vector[: n * d]).reshape(n, d)
                L[:, rows, columns] = vector[n * d :].reshape(n, -1)
                L *= self.unit[:, np.newaxis]
                least = np.diagonal(L, axis1=1, axis2=2) ** 2
                found = (L @ L.transpose(0, 2, 1)).reshape(shape)
            else:
                diag = self.family == "diag"
                units = self.unit if diag else np.sqrt(np.mean(self.unit**2))
                found = (np.exp(vector).reshape(shape) * units) ** 2
                least = found if diag else found[:, np.newaxis]
        # Pivots of a matrix above the floor are above the floor.
        legal = np.all(np.isfinite(found)) and np.all(least >= self.floor) and np.all(least > 0)
        return found if legal else None
