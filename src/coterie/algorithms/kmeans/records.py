"""Records of runs of k-means. They are frozen, so that parts of different runs never mix."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coterie.algorithms.stop import StopReason
from coterie.arrays import Floats


@dataclass(frozen=True)
class Iteration:
    """One round of assignment update and mean update."""

    error: float  # clustering error after the mean update
    moved: int  # points whose cluster changed
    largest_move: float  # of a mean
    seconds: float
    active: int  # clusters with at least one point


@dataclass(frozen=True)
class TraceStep:
    """One iteration for a picture: the means, and the points that changed cluster."""

    means: Floats  # (k, d) of the assignment
    rows: NDArray[np.int64]
    labels: NDArray[np.int32]  # new labels of those rows


Frame = TraceStep  # its name in pickles of 0.1.0


@dataclass(frozen=True)
class Run:
    """One run of k-means, from its initial means to its last."""

    means: Floats  # (k, d)
    labels: NDArray[np.int32]  # (n,) the nearest of these means
    active: NDArray[np.bool_]  # (k,)
    counts: Floats  # (k,) weight of the points of each cluster
    inertia: float
    clustering_error: float
    n_iter: int
    converged: bool
    stopped: str  # the reason, in words
    history: tuple[Iteration, ...]
    seconds: float
    initial_means: Floats
    trace: tuple[TraceStep, ...] | None = None

    @property
    def reason(self) -> StopReason | None:
        """The reason for which the run stopped; None if its words come from another version."""
        return StopReason.of(self.stopped)

    def __str__(self) -> str:
        return (
            f"{len(self.means)} clusters ({int(self.active.sum())} active), clustering error "
            f"{self.clustering_error:.6g} after {self.n_iter} iterations in {self.seconds:.3g} s: "
            f"{self.stopped}"
        )


@dataclass(frozen=True)
class RunRecord:
    """The record of one run, the best or another: all but its labels and trace."""

    seed: int
    initial_means: Floats  # (k, d)
    means: Floats  # (k, d)
    inertia: float
    clustering_error: float
    n_iter: int
    converged: bool
    stopped: str
    seconds: float  # of the run, without its seeding
    history: tuple[Iteration, ...]

    @classmethod
    def of(cls, run: Run, seed: int) -> RunRecord:
        return cls(
            seed,
            run.initial_means,
            run.means,
            run.inertia,
            run.clustering_error,
            run.n_iter,
            run.converged,
            run.stopped,
            run.seconds,
            run.history,
        )
