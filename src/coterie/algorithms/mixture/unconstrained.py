"""Parameters of mixtures as vectors without constraints, for acceleration.

A vector holds logarithms of weights, means, and the coordinates of the family of covariances.
Every vector is a mixture, so extrapolation cannot leave the legal ones.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from coterie.algorithms.mixture.covariance import Family
from coterie.algorithms.mixture.records import Mixture
from coterie.arrays import Floats


@dataclass(frozen=True)
class UnconstrainedParameters:
    """Coordinates of those parts of a mixture that are free, in standardized units."""

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
                coordinates.append(self.family.coordinates(mixture.covariances))
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
            with np.errstate(over="ignore", under="ignore", invalid="ignore"):
                found = self.family.at_coordinates(vector, covariances, self.floor)
            if found is None:
                return None
            covariances = found
        return Mixture(weights, means, covariances)

    @property
    def _shapes_are_free(self) -> bool:
        return self.family.estimated and "covariances" not in self.fixed
