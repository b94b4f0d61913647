"""k-means: Algorithm 2 of the paper, Gray's fixed-point algorithm, over any engine."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from coterie.algorithms.kmeans.empty_clusters import (
    Relocation,
    count_moved,
    empty_clusters,
    relocated,
)
from coterie.algorithms.kmeans.records import Iteration, Run, TraceStep
from coterie.algorithms.stop import Stop, StopReason, stop_at_limit
from coterie.arrays import Floats
from coterie.engines.protocol import Engine
from coterie.kernels import exact, kmeans_steps
from coterie.kernels.exact import ClusterSums
from coterie.kernels.kmeans_steps import Assignment
from coterie.kernels.scan_steps import Survey


@dataclass(frozen=True)
class Rules:
    """The rules of a run: for its end, and for its steps."""

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
    with closing(Lloyd(engine, survey, means, rules)) as run:
        return _until_it_stops(run, rules, observe)


def _until_it_stops(run: Lloyd, rules: Rules, observe: Observer | None) -> Run:
    """Algorithm 2, from the first assignment to the record of the run."""
    started = time.perf_counter()
    stop: Stop | None = None
    try:
        while stop is None:
            # 1. Update cluster assignments: the nearest mean, the lowest index among equals.
            assignment = run.assign()
            # 2., 3. Update activity indicators, and the means of the active clusters.
            update = run.update(assignment)
            run.record(update)
            # Until no assignment changes, or another rule holds.
            stop = run.reason_to_stop(update)
            run.means = update.means
            if observe is not None:
                asked = observe(len(run.history), run.history[-1], run.means)
                if asked and (stop is None or stop.reason is not StopReason.UNCHANGED):
                    stop = StopReason.CALLBACK.stop()
    except KeyboardInterrupt:
        if not rules.keep_on_interrupt or not run.history:
            raise
        stop = StopReason.INTERRUPTED.stop()
    return run.finish(stop, time.perf_counter() - started)


@dataclass(frozen=True)
class Update:
    """The result of steps 2 and 3 for an assignment."""

    sums: ClusterSums  # of the assignment; the means follow from them
    means: Floats  # (k, d)
    moved: int  # points that changed cluster
    squares: Floats  # (k, d) squared moves of the means, column by column


class Lloyd:
    """The state of one run: current means, history, trace."""

    def __init__(self, engine: Engine, survey: Survey, means: Floats, rules: Rules) -> None:
        self.engine, self.survey, self.rules = engine, survey, rules
        self.initial_means = self.means = np.ascontiguousarray(means, dtype=np.float64)
        self._squares = exact.in_wide_units(survey.totals.squares)
        self.history: list[Iteration] = []
        self.trace: list[TraceStep] = []
        self._run = engine.begin()
        self._clock = time.perf_counter()
        self._labels: NDArray[np.int32] | None = None
        self._last: Assignment
        self._before: Floats | None = None  # the means of the last assignment but one
        self._assigned: Floats | None = None  # the means of the last assignment
        self._relocation = Relocation()  # of the last update
        self._summed: tuple[ClusterSums, Floats, int] | None = None  # sums, means, their squares
        self._tol = rules.tol * survey.totals.mean_variance if rules.tol > 0 else 0.0

    def close(self) -> None:
        """Let the engine forget labels and bounds: the run has ended."""
        self.engine.end(self._run)

    def assign(self) -> Assignment:
        """Assignment update by the present means."""
        self._last = self.engine.reduce(
            kmeans_steps.assign,
            self.survey,
            self.means,
            self._run,
            self.rules.algorithm,
            self._assigned,
        )
        self._before, self._assigned = self._assigned, self.means
        if self.rules.trace:
            self._add_to_trace()
        return self._last

    def update(self, assignment: Assignment) -> Update:
        """The mean of every active cluster; an inactive one keeps its mean, or gets a point."""
        relocation = Relocation()
        sums = assignment.sums
        means = self._means_of(sums)
        if self.rules.relocate and not sums.active.all():
            count = len(empty_clusters(sums))
            far = self.engine.reduce(
                kmeans_steps.farthest, self.survey, self.means, self._run, count
            )
            other, proposal = relocated(sums, far, self.survey)
            others = self._means_of(other)
            if self.sum_of_squares(other, others) < self.sum_of_squares(sums, means):
                sums, means, relocation = other, others, proposal
        moved = assignment.moved
        if self._before is not None:
            moved = count_moved(moved, self._relocation, relocation, self._before, self.means)
        self._relocation = relocation
        return Update(sums, means, moved, np.square(means - self.means))

    def _means_of(self, sums: ClusterSums) -> Floats:
        means = sums.means(self.engine.team, self.means)
        if self.rules.unit_length:
            means = np.where(sums.active[:, np.newaxis], unit_rows(means, self.means), means)
        return means

    def sum_of_squares(self, sums: ClusterSums, means: Floats) -> int:
        """Sum of w |x - m|^2 over the points, exactly and from the sums alone.

        It is a whole number of the units of `exact.wide_ratio`.
        """
        known = self._summed  # record and finish ask for the same sums
        if known is None or known[0] is not sums or known[1] is not means:
            squares = self._squares - sums.saved(self.engine.team, means)
            known = self._summed = (sums, means, squares)
        return known[2]

    def record(self, update: Update) -> None:
        """Add an iteration to the history."""
        squares = self.sum_of_squares(update.sums, update.means)
        now = time.perf_counter()
        moves = np.add.reduce(update.squares, axis=1)
        self.history.append(
            Iteration(
                exact.wide_ratio(squares, self.survey.totals.mass),
                update.moved,
                math.sqrt(np.maximum.reduce(moves)),
                now - self._clock,
                int(np.count_nonzero(update.sums.active)),
            )
        )
        self._clock = now

    def reason_to_stop(self, update: Update) -> Stop | None:
        """The reason for which the run ends here, or None."""
        rules, history = self.rules, self.history
        iteration = len(history)
        if update.moved == 0 and iteration > 1:
            return StopReason.UNCHANGED.stop()
        if rules.tol > 0:
            # One after the other: pairwise summation differs between builds of NumPy, and the
            # last bits decide the iteration that stops.
            shift = float(np.add.accumulate(update.squares.ravel())[-1])
            if shift <= self._tol:
                return StopReason.MEANS_SETTLED.stop(f"{rules.tol:g}")
        if rules.rel_tol > 0 and iteration > 1:
            before, now = history[-2].error, history[-1].error
            if before - now < rules.rel_tol * before:
                return StopReason.ERROR_SETTLED.stop(f"{rules.rel_tol:g}")
        return stop_at_limit(iteration, rules.max_iter, rules.deadline)

    def finish(self, stop: Stop, seconds: float) -> Run:
        """The record of the run, with labels and error of the last means."""
        n_iter = len(self.history)
        known = stop.reason is StopReason.UNCHANGED
        sums = (self._last if known else self.assign()).sums
        squares = self.sum_of_squares(sums, self.means)
        return Run(
            means=self.means,
            labels=self._gather_labels(),
            active=sums.active,
            counts=sums.weights,
            inertia=exact.wide_ratio(squares, Fraction(1)),
            clustering_error=exact.wide_ratio(squares, self.survey.totals.mass),
            n_iter=n_iter,
            converged=stop.reason.converged,
            stopped=stop.words,
            history=tuple(self.history),
            seconds=seconds,
            initial_means=self.initial_means,
            trace=tuple(self.trace) if self.rules.trace else None,
        )

    def _gather_labels(self) -> NDArray[np.int32]:
        return self.engine.gather(kmeans_steps.labels, self.survey, self.means, self._run)

    def _add_to_trace(self) -> None:
        labels = self._gather_labels().copy()
        if self._labels is None:
            rows = np.arange(len(labels))
        else:
            rows = np.flatnonzero(labels != self._labels)
        self.trace.append(TraceStep(self.means, rows, labels[rows]))
        self._labels = labels


def unit_rows(rows: Floats, fallback: Floats) -> Floats:
    """Rows scaled to length one; a row of length zero has no direction and keeps its fallback."""
    # Squares are added column by column, which gives the same bits with every build of NumPy.
    lengths = np.sqrt(np.cumsum(rows**2, axis=1)[:, -1:])
    return np.where(lengths > 0, rows / np.where(lengths > 0, lengths, 1), fallback)
