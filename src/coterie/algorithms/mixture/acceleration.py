"""Fewer sweeps to the same mixture: EM steps extrapolated, and kept only where they go uphill.

EM is a fixed-point iteration t -> G(t) that creeps where clusters overlap. Anderson's method
looks at the last few steps and solves for the point where they would come to rest; SQUAREM
squares two plain steps. Either only proposes. The log-likelihood, which every sweep returns
anyway, decides: a proposal below the last accepted point is dropped, and the plain EM step from
that point, which never goes downhill, is taken instead.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, Literal, Protocol, TypeVar

import numpy as np

from coterie.algorithms.kmeans.records import Floats

MEMORY = 8  # steps that Anderson's method looks back on
RIDGE = 1e-8  # of its least squares, relative: steps that are nearly parallel say little
PATIENCE = 2  # proposals dropped in short time, after which SQUAREM takes over
FORGIVEN = 0.25  # of a dropped proposal, by every one that was kept
CYCLES = 5  # of SQUAREM, before Anderson's method is tried again
LONGEST = 4.0  # step length of SQUAREM at first, and the factor by which it grows

Point = TypeVar("Point")
Method = Literal["anderson", "squarem"]


class Chart(Protocol[Point]):
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
    """Asked after every EM step where to go instead; told if that went downhill."""

    def __init__(self, chart: Chart[Point]) -> None:
        self.chart = chart
        self.n_dropped = 0
        self._steps: list[Step] = []
        self._trying: Method | None = None  # whose proposal is on trial
        self._impatience = 0.0
        self._cycles = 0  # of SQUAREM that are left
        self._longest = LONGEST

    def propose(self, before: Point, after: Point, log_likelihood: float) -> Point | None:
        """A point to try instead of `after`, the EM step from `before`; None: take `after`.

        `before` was kept, so a proposal on trial has passed.
        """
        if self._trying is not None:
            self._impatience = max(0.0, self._impatience - FORGIVEN)
            self._trying = None
        start, end = self.chart.vector(before), self.chart.vector(after)
        if start is None or end is None:
            self._steps.clear()
            return None
        self._steps.append(Step(start, end))
        method: Method = "squarem" if self._cycles else "anderson"
        vector = self._squared() if method == "squarem" else self._anderson()
        trial = None if vector is None else self.chart.point(vector, after)
        if trial is not None:
            self._trying = method
        return trial

    def rejected(self) -> None:
        """The proposal went downhill: the plain EM step was taken instead."""
        method, self._trying = self._trying, None
        self.n_dropped += 1
        if method == "squarem":
            self._longest = max(LONGEST, self._longest / LONGEST)
            return
        del self._steps[:-1]
        self._impatience += 1
        if self._impatience >= PATIENCE:
            self._impatience = 0.0
            self._cycles = CYCLES
            self._steps.clear()

    def _anderson(self) -> Floats | None:
        """Where a combination of the last steps would come to rest.

        With residuals f_i = G(t_i) - t_i, the weights gamma minimise |f_n - sum gamma df_i|.
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
        rest: Floats = ends[-1] - gamma @ dg
        return rest

    def _squared(self) -> Floats | None:
        """From two plain steps t, G(t), G(G(t)) the point t + 2 a r + a^2 v, with r the first
        step, v the change from the first to the second, and a = |r| / |v|."""
        if len(self._steps) < 2:
            return None  # a plain step first
        first, second = self._steps[-2:]
        r = first.residual
        v = second.residual - r
        curvature = float(np.sqrt((v * v).sum()))
        length = float(np.sqrt((r * r).sum())) / curvature if curvature > 0 else 1.0
        if length >= self._longest:
            length = self._longest
            self._longest *= LONGEST
        self._steps.clear()
        self._cycles -= 1
        if length <= 1.01:
            return None
        return first.at + 2 * length * r + length * length * v
