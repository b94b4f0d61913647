"""Several runs from different initial means; the one with the smallest error is kept."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from coterie.algorithms.kmeans.lloyd import Observer, Rules, lloyd
from coterie.algorithms.kmeans.records import Floats, Iteration, Run
from coterie.algorithms.random_words import RandomWords
from coterie.algorithms.stop import StopReason
from coterie.engines.protocol import Engine
from coterie.kernels.scan_steps import Survey

STREAM = 0x72756E  # of the words that become the seeds of runs


class Stopped(Protocol):
    """A run with the reason for its end."""

    @property
    def stopped(self) -> str: ...

    @property
    def reason(self) -> StopReason | None: ...


class Limits(Protocol):
    """The rules that every method has."""

    @property
    def deadline(self) -> float | None: ...

    @property
    def keep_on_interrupt(self) -> bool: ...


AnyRun = TypeVar("AnyRun", bound=Stopped)
AnyRecord = TypeVar("AnyRecord")
Start = Callable[[int], Floats]  # seed of a run -> its initial means
Watch = Callable[[int], Observer | None]  # number of a run -> its observer


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


@dataclass(frozen=True)
class Restarts(Generic[AnyRun, AnyRecord]):
    """The best run, and the record of all that were made."""

    best: AnyRun
    records: tuple[AnyRecord, ...]
    planned: int
    cut_short: StopReason | None  # the reason for fewer runs, or for an early end of the last one
    skipped: tuple[str, ...] = ()  # the errors of runs that could not start

    @property
    def stopped(self) -> str:
        """The reason for which the best run stopped, and that for fewer runs than planned."""
        if self.cut_short is None or len(self.records) == self.planned:
            return self.best.stopped
        made = f"{self.cut_short} after {len(self.records)} of {self.planned} runs"
        return made if self.best.stopped == self.cut_short else f"{self.best.stopped}; {made}"


def seed_of_run(seed: int, number: int) -> int:
    """The seed of a run: a random word, which no number of runs changes."""
    return RandomWords(seed).word(STREAM, number)


def best_of(
    n_init: int,
    seed: int,
    rules: Limits,
    make: Callable[[int, int], AnyRun],
    error: Callable[[AnyRun], float],
    record: Callable[[AnyRun, int], AnyRecord],
    cannot_start: type[Exception] | tuple[type[Exception], ...] = (),
) -> Restarts[AnyRun, AnyRecord]:
    """Make `n_init` runs and keep the smallest error, the first among equals.

    The seed of a run depends on `seed` and its number alone, so more runs leave the first ones as
    they are.

    make : (number of the run, its seed) -> run
    record : (run, its seed) -> the record of the run
    cannot_start : errors of a run that cannot start; it is skipped. If no run can start, the first
        error is raised.
    """
    best: AnyRun | None = None
    records: list[AnyRecord] = []
    cut_short: StopReason | None = None
    skipped: list[Exception] = []
    for number in range(n_init):
        if best is not None and _deadline_passed(rules):
            cut_short = StopReason.MAX_SECONDS
            break
        own_seed = seed_of_run(seed, number)
        try:
            run = make(number, own_seed)
        except KeyboardInterrupt:
            if best is None or not rules.keep_on_interrupt:
                raise
            cut_short = StopReason.INTERRUPTED
            break
        except cannot_start as error_of_run:
            skipped.append(error_of_run)
            continue
        records.append(record(run, own_seed))
        if best is None or error(run) < error(best):
            best = run
        if run.reason is not None and run.reason.ends_all_runs:
            cut_short = run.reason
            break
    if best is None:
        raise skipped[0]
    return Restarts(best, tuple(records), n_init, cut_short, tuple(map(str, skipped)))


def restarts(
    engine: Engine,
    survey: Survey,
    start: Start,
    rules: Rules,
    *,
    n_init: int,
    seed: int,
    watch: Watch | None = None,
) -> Restarts[Run, RunRecord]:
    """Run k-means `n_init` times and keep the smallest error."""

    def make(number: int, own_seed: int) -> Run:
        observe = None if watch is None else watch(number)
        return lloyd(engine, survey, start(own_seed), rules, observe)

    return best_of(n_init, seed, rules, make, lambda run: run.inertia, RunRecord.of)


def _deadline_passed(rules: Limits) -> bool:
    return rules.deadline is not None and time.perf_counter() >= rules.deadline
