"""Reasons for which a run stops, and their words."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from enum import StrEnum
from functools import cache


class StopReason(StrEnum):
    """A reason to stop. Its value is its words, in which {} stands for the number of a rule.

    Model files keep the words, so a change of words needs a new reason beside the old one.
    """

    UNCHANGED = "no assignment changed"
    MEANS_SETTLED = "the means moved less than tol={}"
    ERROR_SETTLED = "the error fell by less than rel_tol={}"
    LIKELIHOOD_SETTLED = "the error changed by less than tol={} per point"
    MAX_ITER = "max_iter={} reached"
    MAX_SECONDS = "max_seconds reached"
    CALLBACK = "the callback asked to stop"
    INTERRUPTED = "interrupted"
    FLAT_COVARIANCE = "stopped before iteration {}: {}"
    ONE_BATCH = "partial_fit moves the means by one batch"

    @property
    def converged(self) -> bool:
        """True if the run came to its end by itself."""
        return self in (
            StopReason.UNCHANGED,
            StopReason.MEANS_SETTLED,
            StopReason.ERROR_SETTLED,
            StopReason.LIKELIHOOD_SETTLED,
        )

    @property
    def ends_all_runs(self) -> bool:
        """True if no further run is to be made."""
        return self in (StopReason.MAX_SECONDS, StopReason.CALLBACK, StopReason.INTERRUPTED)

    def stop(self, *values: object) -> Stop:
        """A stop for this reason. values : one for each {} of the words."""
        return Stop(self, self.value.format(*values))

    @classmethod
    def of(cls, words: str) -> StopReason | None:
        """The reason with these words, as records and model files keep them.

        None for words of another version.
        """
        return next((reason for reason, like in _patterns() if like.fullmatch(words)), None)


@cache  # small fits are over before ten patterns are compiled
def _patterns() -> list[tuple[StopReason, re.Pattern[str]]]:
    """Each reason with a pattern of its words."""
    return [
        (reason, re.compile(re.escape(reason.value).replace(r"\{\}", ".+"), re.DOTALL))
        for reason in StopReason
    ]


@dataclass(frozen=True)
class Stop:
    """The reason for which one run stopped, in words with the numbers of its rules."""

    reason: StopReason
    words: str


def stop_at_limit(iteration: int, max_iter: int | None, deadline: float | None) -> Stop | None:
    """A stop after `max_iter` iterations or past the deadline, or None."""
    if max_iter is not None and iteration >= max_iter:
        return StopReason.MAX_ITER.stop(max_iter)
    if is_past(deadline):
        return StopReason.MAX_SECONDS.stop()
    return None


def is_past(deadline: float | None) -> bool:
    """True if a deadline, on time.perf_counter, is past; None is never past."""
    return deadline is not None and time.perf_counter() >= deadline
