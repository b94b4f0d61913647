"""Several runs of a method, each with its own seed; the one with the smallest error is kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from coterie.algorithms.kmeans.records import RunRecord  # pickles of 0.1.0 look for it here
from coterie.algorithms.random_words import RandomWords
from coterie.algorithms.stop import StopReason, is_past

__all__ = ["Limits", "Restarts", "RunRecord", "Stopped", "best_of", "seed_of_run"]

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
        if best is not None and is_past(rules.deadline):
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
