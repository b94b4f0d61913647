"""The M step: the likeliest mixture for given degrees of belonging.

Mixtures are in standardized units, and come with the factors of their covariances.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from coterie.algorithms.mixture.covariance import Family
from coterie.algorithms.mixture.covariance.floor import Floor
from coterie.algorithms.mixture.records import Mixture
from coterie.algorithms.mixture.survey import MixtureSurvey
from coterie.arrays import Floats
from coterie.kernels import triangles
from coterie.kernels._native import Team
from coterie.kernels.mixture_steps import Moments

FAR = 100.0  # standard deviations; a mean that moved farther wants its moments taken again
UNEXPLAINED = 1e6  # scatter may exceed the shared covariance this many times before digits run out


class Estimate(NamedTuple):
    """A mixture, and the factors of its covariances."""

    mixture: Mixture
    factors: Floats


@dataclass(frozen=True)
class MStep:
    """The M step of a run, with all that stays the same through the run."""

    survey: MixtureSurvey
    family: Family
    floor: Floor
    fixed: frozenset[str]  # of "weights", "means", "covariances"
    team: Team

    @property
    def estimates_covariances(self) -> bool:
        return self.family.estimated and "covariances" not in self.fixed

    @cached_property
    def _scatter(self) -> Floats:
        """(d, d) scatter of the whole data, for covariances that are shared."""
        assert self.survey.scatter is not None
        return triangles.symmetric(self.survey.scatter[0])

    def maximised(self, old: Estimate, moments: Moments, centres: Floats | None = None) -> Estimate:
        """Weights, means and covariances from moments about the old means, or other centres."""
        weights, means = (
            self.weights(old.mixture, moments),
            self.means(old.mixture, moments, centres),
        )
        if not self.estimates_covariances:
            return Estimate(Mixture(weights, means, old.mixture.covariances), old.factors)
        base = old.mixture.means if centres is None else centres
        if moments.second is not None:
            shift = means - base
        else:  # a shared covariance needs the scatter about the origin alone
            first, shift = moments.first + moments.mass[:, None] * base, means
            moments = replace(moments, first=first, second=self.survey.scatter)
        covariances, roots = self.family.estimate_with_roots(moments, shift, self.floor, self.team)
        covariances = self._kept_where_empty(covariances, moments, old.mixture)
        factors = self.family.factors(covariances, roots, self.team)
        return Estimate(Mixture(weights, means, covariances), factors)

    def weights(self, old: Mixture, moments: Moments) -> Floats:
        """Effective sizes as shares of the total: the cluster probabilities."""
        if "weights" in self.fixed:
            return old.weights
        return np.asarray(moments.mass / moments.mass.sum())

    def means(self, old: Mixture, moments: Moments, centres: Floats | None = None) -> Floats:
        """Means of the components; a component that lost all its mass keeps its mean."""
        base = old.means if centres is None else centres
        if "means" in self.fixed:
            return old.means
        mass = moments.mass[:, None]
        return np.where(mass > 0, base + moments.first / np.where(mass > 0, mass, 1.0), base)

    def _kept_where_empty(self, covariances: Floats, moments: Moments, old: Mixture) -> Floats:
        empty = ~(moments.mass > 0)
        if self.family.shared or not empty.any():
            return covariances
        where = empty.reshape(-1, *[1] * (covariances.ndim - 1))
        return np.where(where, old.covariances, covariances)

    def is_far(self, old: Mixture, moments: Moments, found: Estimate) -> bool:
        """True if a mean moved so far that moments about the old one have lost digits."""
        if not self.estimates_covariances:
            return False
        if moments.second is None:
            total = (found.factors * (self._scatter @ found.factors)).sum(axis=0)
            return bool(total.max() > UNEXPLAINED * self.survey.mass)
        moved = np.abs(found.mixture.means - old.means)
        return self.family.largest_move(found.factors, moved) > FAR
