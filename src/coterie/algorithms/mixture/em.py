"""Soft clustering: Algorithm 3 of the paper, EM for a Gaussian mixture, over any engine.

The paper's degrees of belonging are the responsibilities of the field, and its soft clustering
error is the negative log-likelihood.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import count
from typing import Protocol

import numpy as np

from coterie.algorithms.mixture.collapse import notes_of_collapse, notes_of_loss
from coterie.algorithms.mixture.covariance import Family, NotPositiveDefinite
from coterie.algorithms.mixture.covariance.floor import NO_ROOTS, Floor
from coterie.algorithms.mixture.m_step import Estimate, MStep
from coterie.algorithms.mixture.records import FirstMixture, Mixture, MixtureIteration, MixtureRun
from coterie.algorithms.mixture.survey import MixtureSurvey
from coterie.algorithms.stop import Stop, StopReason, stop_at_limit
from coterie.arrays import Floats
from coterie.engines.protocol import Engine
from coterie.kernels import mixture_steps
from coterie.kernels.mixture_steps import Densities, Moments


class Accelerator(Protocol):
    """A source of proposals beyond one EM step; all mixtures are in standardized units."""

    def propose(self, before: Mixture, after: Mixture, log_likelihood: float) -> Mixture | None:
        """A mixture to try instead of `after`, the plain EM step from `before`, whose
        log-likelihood is given. None: take `after`."""
        ...

    def reject(self) -> None:
        """Note that the last proposal was less likely than `before`; `after` was taken."""
        ...


@dataclass(frozen=True)
class EmRules:
    """The rules of a run: for its end, and for its steps."""

    max_iter: int | None = 100
    tol: float = 1e-3  # on the change of the log-likelihood by unit of weight
    deadline: float | None = None  # on time.perf_counter
    reg_covar: float | None = None  # None: a floor relative to the data
    fixed: frozenset[str] = frozenset()  # of "weights", "means", "covariances"
    keep_on_interrupt: bool = False
    trace: bool = False
    bound_before: float | None = None  # log-likelihood by unit of weight of the round before these


Observer = Callable[[int, MixtureIteration, Mixture], bool]  # (iteration, record, mixture) -> stop?


def em(
    engine: Engine,
    survey: MixtureSurvey,
    family: Family,
    start: Mixture,
    rules: EmRules,
    observe: Observer | None = None,
    accelerator: Accelerator | None = None,
    sweep: Callable[..., mixture_steps.Sums] = mixture_steps.sweep,
) -> MixtureRun:
    """Run EM from the given mixture."""
    run = Em(engine, survey, family, start, rules, sweep)
    del start  # its matrices may be large
    started = time.perf_counter()
    if rules.max_iter == 0:
        return run.finish(StopReason.MAX_ITER.stop(0), started)
    stop = None
    try:
        for iteration in count(1):
            # 1. E step: degrees of belonging, kept only as the sums that the M step needs.
            moments = run.expectation()
            if run.reject_if_lower(moments):
                assert accelerator is not None
                accelerator.reject()
                moments = run.expectation()
            # 2. M step: effective sizes, cluster probabilities, means, covariances.
            try:
                after = run.maximised(moments)
            except NotPositiveDefinite as flat:
                stop = StopReason.FLAT_COVARIANCE.stop(iteration, flat)
                break
            # 3. Soft clustering error and its change.
            run.record(moments, after)
            stop = run.reason_to_stop(iteration)
            run.advance(moments, after, None if stop else accelerator)
            del moments, after  # matrices may be large, and the next sweep brings more
            if observe is not None and observe(iteration, run.history[-1], run.in_data_units()):
                stop = stop or StopReason.CALLBACK.stop()
            if stop:
                break
    except KeyboardInterrupt:
        if not rules.keep_on_interrupt or not run.history:
            raise
        stop = StopReason.INTERRUPTED.stop()
    assert stop is not None
    return run.finish(stop, started)


class Em:
    """The state of one run: current mixture, history, trace. Mixtures are in standardized units."""

    def __init__(
        self,
        engine: Engine,
        survey: MixtureSurvey,
        family: Family,
        start: Mixture,
        rules: EmRules,
        sweep: Callable[..., mixture_steps.Sums],
    ) -> None:
        self.engine, self.survey, self.family, self.rules = engine, survey, family, rules
        self.sweep = sweep
        self.floor: Floor = survey.floor(rules.reg_covar)
        self.m_step = MStep(survey, family, self.floor, rules.fixed, engine.team)
        self.mixture = start.standardized(family, survey.scaling)
        self.start = FirstMixture(
            start.weights, start.means, self.mixture.covariances, family, survey.scaling
        )
        self.factors = self._factors(self.mixture)
        self.plain_step: Estimate | None = None  # while a proposal is on trial
        self.log_likelihood = float("nan")  # of the last round, in standardized units
        if rules.bound_before is not None:
            self.log_likelihood = survey.mass * (rules.bound_before + survey.scaling.log_unit)
        self.history: list[MixtureIteration] = []
        self.trace: list[Mixture] = []
        self.empty: list[int] = []  # components to which no row belongs
        self.sweeps = 0
        self._clock = time.perf_counter()

    def _factors(self, mixture: Mixture) -> Floats:
        """Factors of covariances nowhere below the floor, not even by rounding.

        From below the floor, a step could raise the error.
        """
        C, family = mixture.covariances, self.family
        held = self.m_step.estimates_covariances and not self.floor.added
        held = held and self.rules.max_iter != 0 and bool(np.isfinite(C).all())
        roots = family.roots(C, self.floor, self.engine.team) if held else NO_ROOTS
        return family.factors(C, roots, self.engine.team)

    def densities(self) -> Densities:
        """The present mixture for a sweep."""
        m = self.mixture
        # Degrees count for nothing below 2^-64 of a row, or of a component that has less than one.
        with np.errstate(divide="ignore"):
            size = np.log2(m.weights * self.survey.extent.n_rows)
        return replace(
            self.family.densities(m.weights, m.means, self.factors),
            negligible=np.minimum(size, 0.0) - 64.0,
        )

    def expectation(self, densities: Densities | None = None) -> Moments:
        """E step: one sweep over the data."""
        self.sweeps += 1
        return self.engine.reduce(
            self.sweep, self.survey.scaling, densities or self.densities()
        ).moments

    def error(self, log_likelihood: float) -> float:
        """Soft clustering error in the data's units: that in standardized units and a constant."""
        return self.survey.mass * self.survey.scaling.log_unit - log_likelihood

    def reject_if_lower(self, moments: Moments) -> bool:
        """Take the plain EM step if the proposal is less likely than the mixture before it.

        Returns True if the plain step was taken. It is False without a proposal on trial.
        """
        if self.plain_step is None:
            return False
        plain, self.plain_step = self.plain_step, None
        if moments.log_likelihood >= self.log_likelihood:
            return False
        self.mixture, self.factors = plain
        return True

    def maximised(self, moments: Moments) -> Estimate:
        """M step: the likeliest mixture for these degrees of belonging."""
        self.empty = np.flatnonzero(~(moments.mass > 0)).tolist()
        step, old = self.m_step, Estimate(self.mixture, self.factors)
        try:
            found = step.maximised(old, moments)
            if not step.is_far(old.mixture, moments, found):
                return found
            centres = found.mixture.means
        except NotPositiveDefinite:
            if not step.estimates_covariances:
                raise
            centres = step.means(old.mixture, moments)
        # Moments about a far centre have lost digits: take them again, about the new means.
        densities = self.family.for_any_centres(self.densities())
        again = self.expectation(replace(densities, centres=np.ascontiguousarray(centres)))
        return step.maximised(old, again, centres)

    def record(self, moments: Moments, after: Estimate) -> None:
        """Add a round to the history."""
        now, error = time.perf_counter(), self.error(moments.log_likelihood)
        decrease = moments.log_likelihood - self.log_likelihood
        self.log_likelihood = moments.log_likelihood
        moved = np.ldexp(
            np.abs(after.mixture.means - self.mixture.means), self.survey.scaling.exponent
        )
        self.history.append(
            MixtureIteration(error, decrease, float(moved.max()), now - self._clock, self.sweeps)
        )
        if self.rules.trace:
            self.trace.append(self.in_data_units())
        self._clock, self.sweeps = now, 0

    def reason_to_stop(self, iteration: int) -> Stop | None:
        """The reason for which the run ends here, or None."""
        rules = self.rules
        if abs(self.history[-1].decrease) / self.survey.mass < rules.tol:
            return StopReason.LIKELIHOOD_SETTLED.stop(f"{rules.tol:g}")
        return stop_at_limit(iteration, rules.max_iter, rules.deadline)

    def advance(self, moments: Moments, after: Estimate, accelerator: Accelerator | None) -> None:
        """Go on from `after`, or from a proposal beyond it."""
        before, (self.mixture, self.factors) = self.mixture, after
        if accelerator is None:
            return
        farther = accelerator.propose(before, after.mixture, moments.log_likelihood)
        if farther is None:
            return
        try:
            factors = self._factors(farther)
        except NotPositiveDefinite:
            accelerator.reject()
            return
        self.plain_step, self.mixture, self.factors = after, farther, factors

    def in_data_units(self) -> Mixture:
        return self.mixture.in_data_units(self.family, self.survey.scaling)

    def finish(self, stop: Stop, started: float) -> MixtureRun:
        """The record of the run, with the error of the last mixture.

        Factors and covariances may be large: those in standardized units go once those in the
        data's units are there.
        """
        if self.plain_step is not None:
            self.mixture, self.factors = self.plain_step
            self.plain_step = None
        last = self.engine.reduce(self.sweep, self.survey.scaling, self.densities(), moments=False)
        error = self.error(last.log_likelihood)
        family, scaling = self.family, self.survey.scaling
        notes = notes_of_loss(self.empty, weights_stay="weights" in self.rules.fixed)
        if self.history and "covariances" not in self.rules.fixed:
            notes += notes_of_collapse(family, self.mixture, self.floor)
        factors = family.factors_in_data_units(self.factors, scaling)
        del self.factors
        mixture = self.in_data_units()
        del self.mixture
        return MixtureRun(
            weights=mixture.weights,
            means=mixture.means,
            covariances=mixture.covariances,
            precisions_cholesky=factors,
            soft_clustering_error=error,
            log_likelihood=-error / self.survey.mass,
            n_iter=len(self.history),
            converged=stop.reason.converged,
            stopped=stop.words,
            history=tuple(self.history),
            notes=tuple(notes),
            seconds=time.perf_counter() - started,
            start=self.start,
            trace=tuple(self.trace) if self.rules.trace else None,
        )
