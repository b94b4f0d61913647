"""Several runs from different initial means; the one with the smallest error is kept."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from coterie.algorithms.draws import Draws
from coterie.algorithms.lloyd import Observer, Rules, lloyd
from coterie.algorithms.results import Floats, Iteration, Run
from coterie.engines.protocol import Engine
from coterie.kernels.steps import Survey

STREAM = 0x72756E  # of the words that become the seeds of runs
LAST_WORDS = ("max_seconds reached", "interrupted", "the callback asked to stop")

Start = Callable[[int], Floats]  # seed of a run -> its initial means
Watch = Callable[[int], Observer | None]  # number of a run -> who observes it


@dataclass(frozen=True)
class RunRecord:
    """What is kept of every run, the best and the others: all but labels and trace."""

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
class Restarts:
    """The best run, and the record of all that were made."""

    best: Run
    records: tuple[RunRecord, ...]
    planned: int
    cut_short: str | None  # why no further run was made, or why the last one ended early

    @property
    def stopped(self) -> str:
        """Why the best run stopped, and why there were no more runs where more were planned."""
        if self.cut_short is None or len(self.records) == self.planned:
            return self.best.stopped
        made = f"{self.cut_short} after {len(self.records)} of {self.planned} runs"
        return made if self.best.stopped == self.cut_short else f"{self.best.stopped}; {made}"


def seed_of_run(seed: int, number: int) -> int:
    return Draws(seed).word(STREAM, number)


def restarts(
    engine: Engine,
    survey: Survey,
    start: Start,
    rules: Rules,
    *,
    n_init: int,
    seed: int,
    watch: Watch | None = None,
) -> Restarts:
    """Run k-means `n_init` times and keep the smallest error, the first among equals.

    The seed of a run depends on `seed` and its number alone, so the first runs are the same
    however many follow.
    """
    best: Run | None = None
    records: list[RunRecord] = []
    cut_short = None
    for number in range(n_init):
        if best is not None and _too_late(rules):
            cut_short = "max_seconds reached"
            break
        own_seed = seed_of_run(seed, number)
        try:
            observe = None if watch is None else watch(number)
            run = lloyd(engine, survey, start(own_seed), rules, observe)
        except KeyboardInterrupt:
            if best is None or not rules.keep_on_interrupt:
                raise
            cut_short = "interrupted"
            break
        records.append(RunRecord.of(run, own_seed))
        if best is None or run.inertia < best.inertia:
            best = run
        if run.stopped in LAST_WORDS:
            cut_short = run.stopped
            break
    assert best is not None
    return Restarts(best, tuple(records), n_init, cut_short)


def _too_late(rules: Rules) -> bool:
    return rules.deadline is not None and time.perf_counter() >= rules.deadline
