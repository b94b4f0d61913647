"""Acceleration of EM: extrapolated steps, kept only where the log-likelihood does not fall.

EM is a fixed-point iteration t -> G(t) that converges slowly where clusters overlap. Anderson
acceleration (Walker and Ni 2011) combines the last few steps to the smallest residual; SQUAREM
(Varadhan and Roland 2008) squares two plain steps. Either only proposes. Every sweep returns the
log-likelihood, which decides: a proposal below the last accepted point is rejected. Then the plain
EM step from that point is taken, under which the log-likelihood never falls.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, Literal, Protocol, TypeVar

import numpy as np

from coterie.arrays import Floats

MEMORY = 8  # differences of steps in Anderson acceleration
RIDGE = 1e-8  # of its least squares, relative: steps that are nearly parallel say little
MOST_REJECTIONS = 2  # recent ones, after which SQUAREM takes over
FORGIVEN = 0.25  # of a rejection, by every proposal that was kept
SQUAREM_CYCLES = 5  # before Anderson acceleration is tried again
STEP_LENGTH = 4.0  # the longest of SQUAREM at first, and the factor by which that grows

Point = TypeVar("Point")
Method = Literal["anderson", "squarem"]


class Parametrization(Protocol[Point]):
    """Points as vectors without constraints, in units in which all coordinates are alike."""

    def vector(self, point: Point) -> Floats | None:
        """None where the point has no coordinates, such as a cluster without weight."""
        ...

    def point(self, vector: Floats, like: Point) -> Point | None:
        """None where the vector is no point that EM could have reached."""
        ...


@dataclass(frozen=True)
class Step:
    """A point that was kept, and where plain EM goes from it."""

    at: Floats
    to: Floats

    @property
    def residual(self) -> Floats:
        return self.to - self.at


class Acceleration(Generic[Point]):
    """Proposals beyond EM steps, by Anderson acceleration or SQUAREM.

    A driver asks for a proposal after every EM step, and reports a proposal that it rejected.
    """

    def __init__(self, parametrization: Parametrization[Point]) -> None:
        self.parametrization = parametrization
        self.n_rejected = 0
        self._steps: list[Step] = []
        self._on_trial: Method | None = None  # the method of the last proposal
        self._recent_rejections = 0.0
        self._squarem_cycles = 0  # still to come
        self._longest = STEP_LENGTH

    def propose(self, before: Point, after: Point, log_likelihood: float) -> Point | None:
        """A point to try instead of `after`, the EM step from `before`; None: take `after`.

        `before` was kept, so a proposal on trial has passed.
        """
        if self._on_trial is not None:
            self._recent_rejections = max(0.0, self._recent_rejections - FORGIVEN)
            self._on_trial = None
        start, end = self.parametrization.vector(before), self.parametrization.vector(after)
        if start is None or end is None:
            self._steps.clear()
            return None
        self._steps.append(Step(start, end))
        method: Method = "squarem" if self._squarem_cycles else "anderson"
        vector = self._squarem() if method == "squarem" else self._anderson()
        trial = None if vector is None else self.parametrization.point(vector, after)
        if trial is not None:
            self._on_trial = method
        return trial

    def reject(self) -> None:
        """Note that the proposal lowered the log-likelihood: the plain EM step was taken."""
        method, self._on_trial = self._on_trial, None
        self.n_rejected += 1
        if method == "squarem":
            self._longest = max(STEP_LENGTH, self._longest / STEP_LENGTH)
            return
        del self._steps[:-1]
        self._recent_rejections += 1
        if self._recent_rejections >= MOST_REJECTIONS:
            self._recent_rejections = 0.0
            self._squarem_cycles = SQUAREM_CYCLES
            self._steps.clear()

    def _anderson(self) -> Floats | None:
        """Anderson acceleration: the last steps combined to the smallest residual.

        With residuals f_i = G(t_i) - t_i, the weights gamma minimise |f_n - sum gamma df_i|. The
        proposal is G(t_n) - sum gamma dG_i.
        """
        del self._steps[: -MEMORY - 1]
        if len(self._steps) < 2:
            return None
        residuals = np.stack([step.residual for step in self._steps])
        ends = np.stack([step.to for step in self._steps])
        df, dg = np.diff(residuals, axis=0), np.diff(ends, axis=0)
        lengths = np.sqrt((df * df).sum(axis=1))
        if not np.all(lengths > 0):
            return None
        unit = df / lengths[:, np.newaxis]
        gram = unit @ unit.T + RIDGE * np.eye(len(unit))
        gamma = np.linalg.solve(gram, unit @ residuals[-1]) / lengths
        proposal: Floats = ends[-1] - gamma @ dg
        return proposal

    def _squarem(self) -> Floats | None:
        """SQUAREM: from two plain steps t, G(t), G(G(t)) the point t + 2 a r + a^2 v.

        Here r is the first step, and v the change from the first to the second. The step length
        is a = |r| / |v|, the scheme S3 of the paper.
        """
        if len(self._steps) < 2:
            return None  # a plain step first
        first, second = self._steps[-2:]
        r = first.residual
        v = second.residual - r
        curvature = float(np.sqrt((v * v).sum()))
        length = float(np.sqrt((r * r).sum())) / curvature if curvature > 0 else 1.0
        if length >= self._longest:
            length = self._longest
            self._longest *= STEP_LENGTH
        self._steps.clear()
        self._squarem_cycles -= 1
        if length <= 1.01:
            return None
        return first.at + 2 * length * r + length * length * v
