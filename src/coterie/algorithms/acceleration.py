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

from coterie.algorithms.results import Floats

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
class Step(Generic[Point]):
    """A point that was kept, and where plain EM goes from it."""

    at: Floats
    to: Floats
    plain: Point
    height: float  # log-likelihood at the point

    @property
    def residual(self) -> Floats:
        return self.to - self.at


class Acceleration(Generic[Point]):
    """Asked after every sweep: keep this point? and where to next?"""

    def __init__(self, chart: Chart[Point]) -> None:
        self.chart = chart
        self.steps: list[Step[Point]] = []
        self.plain: Point | None = None  # plain EM step of the point kept last
        self.height = -np.inf  # of the point kept last
        self.trying: Method | None = None  # whose proposal the next sweep is at
        self.n_dropped = 0
        self._impatience = 0.0
        self._cycles = 0  # of SQUAREM that are left
        self._longest = LONGEST

    def accepts(self, height: float) -> bool:
        """Whether the point of the last sweep is kept, by its log-likelihood."""
        if self.trying is None:
            return True
        method, self.trying = self.trying, None
        if height >= self.height:
            self._impatience = max(0.0, self._impatience - FORGIVEN)
            return True
        self.n_dropped += 1
        self._change_after_drop(method)
        return False

    def fall_back(self) -> Point:
        """The plain EM step from the point kept last."""
        assert self.plain is not None
        return self.plain

    def propose(self, at: Point, plain: Point, height: float) -> Point:
        """Where to go from `at`, which was kept and from which EM goes to `plain`."""
        self.plain, self.height = plain, height
        start, end = self.chart.vector(at), self.chart.vector(plain)
        if start is None or end is None:
            self.steps.clear()
            return plain
        self.steps.append(Step(start, end, plain, height))
        method: Method = "squarem" if self._cycles else "anderson"
        vector = self._squared() if method == "squarem" else self._anderson()
        trial = None if vector is None else self.chart.point(vector, plain)
        if trial is None:
            return plain
        self.trying = method
        return trial

    def _change_after_drop(self, method: Method) -> None:
        if method == "squarem":
            self._longest = max(LONGEST, self._longest / LONGEST)
            return
        del self.steps[:-1]
        self._impatience += 1
        if self._impatience >= PATIENCE:
            self._impatience = 0.0
            self._cycles = CYCLES
            self.steps.clear()

    def _anderson(self) -> Floats | None:
        """Where a combination of the last steps would come to rest.

        With residuals f_i = G(t_i) - t_i, the weights gamma minimise |f_n - sum gamma df_i|.
        """
        del self.steps[: -MEMORY - 1]
        if len(self.steps) < 2:
            return None
        residuals = np.stack([step.residual for step in self.steps])
        ends = np.stack([step.to for step in self.steps])
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
        if len(self.steps) < 2:
            return None  # a plain step first
        first, second = self.steps[-2:]
        r = first.residual
        v = second.residual - r
        curvature = float(np.sqrt((v * v).sum()))
        length = float(np.sqrt((r * r).sum())) / curvature if curvature > 0 else 1.0
        if length >= self._longest:
            length = self._longest
            self._longest *= LONGEST
        self.steps.clear()
        self._cycles -= 1
        if length <= 1.01:
            return None
        return first.at + 2 * length * r + length * length * v
