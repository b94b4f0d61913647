"""k-means: Algorithm 2 of the paper, Gray's fixed-point algorithm, over any engine."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import count

import numpy as np
from numpy.typing import NDArray

from coterie.algorithms.results import Floats, Frame, Iteration, Run
from coterie.engines.protocol import Engine
from coterie.kernels import exact, steps
from coterie.kernels.exact import COUNTING
from coterie.kernels.steps import Assignment, Survey

UNCHANGED = "no assignment changed"


@dataclass(frozen=True)
class Rules:
    """When to stop, and what to do on the way."""

    max_iter: int | None = None  # None: until no assignment changes
    tol: float = 0.0  # on the squared move of the means, relative to the mean variance
    rel_tol: float = 0.0  # on the relative decrease of the clustering error
    deadline: float | None = None  # on time.perf_counter
    relocate: bool = False  # move empty clusters to the farthest points
    unit_length: bool = False  # spherical k-means: means have length one
    keep_on_interrupt: bool = False
    trace: bool = False
    algorithm: str = "auto"


Observer = Callable[[int, Iteration, Floats], bool]  # (iteration, record, means) -> stop?


def lloyd(
    engine: Engine,
    survey: Survey,
    means: Floats,
    rules: Rules,
    observe: Observer | None = None,
) -> Run:
    """Run k-means from the given initial means."""
    run = Lloyd(engine, survey, means, rules)
    started = time.perf_counter()
    stopped = UNCHANGED
    try:
        for iteration in count(1):
            # 1. Update cluster assignments: the nearest mean, the lowest index among equals.
            assignment = run.assign()
            if assignment.moved == 0 and iteration > 1:
                run.record(assignment, run.means)
                if observe is not None:
                    observe(iteration, run.history[-1], run.means)
                break
            # 2., 3. Update activity indicators, and the means of the active clusters.
            means = run.updated_means(assignment)
            run.record(assignment, means)
            if stop := run.reason_to_stop(iteration, means):
                stopped = stop
            run.means = means
            if observe is not None and observe(iteration, run.history[-1], means):
                stopped = "the callback asked to stop"
            if stopped != UNCHANGED:
                break
    except KeyboardInterrupt:
        if not rules.keep_on_interrupt or not run.history:
            raise
        stopped = "interrupted"
        run.token = object()  # what the interrupted step left behind cannot be used
    return run.finish(stopped, time.perf_counter() - started)


class Lloyd:
    """The state of one run: current means, history, trace."""

    def __init__(self, engine: Engine, survey: Survey, means: Floats, rules: Rules) -> None:
        self.engine, self.survey, self.rules = engine, survey, rules
        self.initial_means = self.means = np.ascontiguousarray(means, dtype=np.float64)
        self.mass_grid = survey.mass_grid or COUNTING
        self.history: list[Iteration] = []
        self.frames: list[Frame] = []
        self.token = object()  # names this run's caches
        self.active = np.zeros(len(means), dtype=bool)
        self._clock = time.perf_counter()
        self._labels: NDArray[np.int32] | None = None
        self._last: Assignment
        self._tol = rules.tol * survey.moments.mean_variance if rules.tol > 0 else 0.0

    def assign(self) -> Assignment:
        self._last = self.engine.reduce(
            steps.assign, self.survey, self.means, self.token, self.rules.algorithm
        )
        if self.rules.trace:
            self._add_frame()
        return self._last

    def updated_means(self, assignment: Assignment) -> Floats:
        """The mean of every active cluster; an inactive one keeps its mean, or is relocated."""
        self.active = self._active(assignment)
        if self.rules.relocate and not self.active.all():
            assignment = self._relocated(assignment)
        means = exact.exact_means(
            assignment.sums, self.survey.grid, assignment.mass, self.mass_grid, self.means
        )
        return unit_rows(means, self.means) if self.rules.unit_length else means

    def _active(self, assignment: Assignment) -> NDArray[np.bool_]:
        # Weights are positive, and so is the leading nonzero limb of a positive sum.
        return np.asarray(assignment.mass.any(axis=1))

    def _relocated(self, assignment: Assignment) -> Assignment:
        """Each empty cluster gets one of the points farthest from their means."""
        empty = np.flatnonzero(~self.active)
        far = self.engine.reduce(steps.farthest, self.means, len(empty))
        sums, mass = assignment.sums.copy(), assignment.mass.copy()
        for c, point in zip(empty, far.points, strict=False):
            if point.distance == 0:
                break  # every point lies on its mean: nothing is gained by moving
            one = steps.single_row(self.survey, point.value, point.weight)
            sums[point.label] -= one.sums[0]
            mass[point.label] -= one.mass[0]
            sums[c] += one.sums[0]
            mass[c] += one.mass[0]
        return replace(assignment, sums=sums, mass=mass)

    def sum_of_squares(self, assignment: Assignment, means: Floats) -> Fraction:
        """Sum of w |x - m|^2 over the points, exactly, from the sums alone."""
        return self.survey.moments.squares - exact.saved_by_means(
            assignment.sums, self.survey.grid, assignment.mass, self.mass_grid, means
        )

    def record(self, assignment: Assignment, means: Floats) -> None:
        error = self.sum_of_squares(assignment, means) / self.survey.moments.mass
        now = time.perf_counter()
        moves = np.sqrt(((means - self.means) ** 2).sum(axis=1))
        self.history.append(
            Iteration(
                exact.to_float(error),
                assignment.moved,
                float(moves.max()),
                now - self._clock,
                int(self._active(assignment).sum()),
            )
        )
        self._clock = now

    def reason_to_stop(self, iteration: int, means: Floats) -> str | None:
        rules, history = self.rules, self.history
        if rules.tol > 0:
            # Added up in the order of rows and columns, so that no summation trick of NumPy's
            # decides when to stop.
            shift = float(np.cumsum((means - self.means).ravel() ** 2)[-1])
            if shift <= self._tol:
                return f"the means moved less than tol={rules.tol:g}"
        if rules.rel_tol > 0 and iteration > 1:
            before, now = history[-2].error, history[-1].error
            if before - now < rules.rel_tol * before:
                return f"the error fell by less than rel_tol={rules.rel_tol:g}"
        if rules.max_iter is not None and iteration >= rules.max_iter:
            return f"max_iter={rules.max_iter} reached"
        if rules.deadline is not None and time.perf_counter() >= rules.deadline:
            return "max_seconds reached"
        return None

    def finish(self, stopped: str, seconds: float) -> Run:
        """Labels and error of the last means."""
        n_iter = len(self.history)
        assignment = self._last if stopped == UNCHANGED else self.assign()
        squares = self.sum_of_squares(assignment, self.means)
        return Run(
            means=self.means,
            labels=self.engine.gather(steps.labels),
            active=self._active(assignment),
            inertia=exact.to_float(squares),
            clustering_error=exact.to_float(squares / self.survey.moments.mass),
            n_iter=n_iter,
            converged=stopped == UNCHANGED or "tol=" in stopped,
            stopped=stopped,
            history=tuple(self.history),
            seconds=seconds,
            initial_means=self.initial_means,
            trace=tuple(self.frames) if self.rules.trace else None,
        )

    def _add_frame(self) -> None:
        labels = self.engine.gather(steps.labels).copy()
        if self._labels is None:
            rows = np.arange(len(labels))
        else:
            rows = np.flatnonzero(labels != self._labels)
        self.frames.append(Frame(self.means, rows, labels[rows]))
        self._labels = labels


def unit_rows(rows: Floats, fallback: Floats) -> Floats:
    """Rows scaled to length one; a row of length zero has no direction and keeps its fallback."""
    # Squares are added column by column: the same bits with every build of NumPy.
    lengths = np.sqrt(np.cumsum(rows**2, axis=1)[:, -1:])
    return np.where(lengths > 0, rows / np.where(lengths > 0, lengths, 1), fallback)
