"""Records of Gaussian mixtures and of the runs that find them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from coterie.algorithms.mixture.covariance import Family
from coterie.algorithms.stop import StopReason
from coterie.arrays import Floats
from coterie.kernels.mixture_steps import Standardization


@dataclass(frozen=True)
class Mixture:
    """Parameters of a Gaussian mixture; covariances in the shape of their family."""

    weights: Floats  # (k,) add up to one
    means: Floats  # (k, d)
    covariances: Floats

    def standardized(self, family: Family, scaling: Standardization) -> Mixture:
        means = np.ldexp(
            np.asarray(self.means, dtype=np.float64) - scaling.origin, -scaling.exponent
        )
        weights = np.asarray(self.weights, dtype=np.float64)
        return Mixture(weights, means, family.standardized(self.covariances, scaling))

    def in_data_units(self, family: Family, scaling: Standardization) -> Mixture:
        means = scaling.origin + np.ldexp(self.means, scaling.exponent)
        return Mixture(self.weights, means, family.in_data_units(self.covariances, scaling))


@dataclass(frozen=True)
class FirstMixture:
    """The mixture from which a run started, in the user's units.

    Its covariances stay in standardized units, full matrices as triangles in half the memory.
    `covariances` translates them at every call.
    """

    weights: Floats  # (k,)
    means: Floats  # (k, d)
    standardized_covariances: Floats  # covariances, in standardized units
    family: Family
    scaling: Standardization

    @property
    def covariances(self) -> Floats:
        return self.family.in_data_units(self.standardized_covariances, self.scaling)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Fields by their present names, and by those of 0.1.0."""
        of_0_1_0 = {"in_frame": "standardized_covariances", "frame": "scaling"}
        self.__dict__.update({of_0_1_0.get(name, name): value for name, value in state.items()})


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
    notes: tuple[str, ...]  # sentences for people on components that collapsed or lost all points
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
