"""Restarts of k-means, without an estimator around them."""

from __future__ import annotations

import time

import numpy as np
import pytest

from coterie.algorithms.kmeans.lloyd import Rules
from coterie.algorithms.kmeans.restarts import restarts
from coterie.algorithms.kmeans.survey import survey
from coterie.engines.memory import MemoryEngine

X = np.array([[0.0], [1.0], [10.0], [11.0], [20.0], [21.0]])
GOOD, BAD = np.array([[0.5], [10.5], [20.5]]), np.array([[0.0], [1.0], [15.0]])


def run(starts, rules=None, **named):
    """Runs that start from each of `starts` in turn; an exception among them is raised."""
    engine = MemoryEngine(X)
    coming = iter(starts)

    def start(seed):
        following = next(coming)
        if isinstance(following, BaseException):
            raise following
        return following

    return restarts(
        engine, survey(engine), start, rules or Rules(), n_init=len(starts), seed=3, **named
    )


@pytest.mark.parametrize("starts", [[GOOD, BAD], [BAD, GOOD], [BAD, GOOD, BAD]])
def test_the_smallest_error_wins(starts):
    found = run(starts)
    assert found.best.inertia == 1.5
    assert [r.inertia for r in found.records] == [1.5 if s is GOOD else 101.0 for s in starts]
    assert found.stopped == "no assignment changed"
    assert found.cut_short is None


def test_the_first_wins_among_equals():
    found = run([GOOD, GOOD[::-1].copy()])
    assert found.records[0].inertia == found.records[1].inertia
    np.testing.assert_array_equal(found.best.means, GOOD)


def test_seeds_depend_on_the_number_of_the_run_alone():
    two, three = run([GOOD] * 2), run([GOOD] * 3)
    assert [r.seed for r in two.records] == [r.seed for r in three.records][:2]
    assert len({r.seed for r in three.records}) == 3


def test_an_interrupt_keeps_the_best_or_raises():
    with pytest.raises(KeyboardInterrupt):
        run([GOOD, KeyboardInterrupt()])
    with pytest.raises(KeyboardInterrupt):
        run([KeyboardInterrupt(), GOOD], Rules(keep_on_interrupt=True))
    found = run([GOOD, KeyboardInterrupt(), GOOD], Rules(keep_on_interrupt=True))
    assert found.best.inertia == 1.5
    assert found.stopped == "no assignment changed; interrupted after 1 of 3 runs"


def test_a_deadline_in_the_past_allows_one_run():
    found = run([BAD, GOOD], Rules(deadline=time.perf_counter()))
    assert len(found.records) == 1
    assert found.cut_short == "max_seconds reached"


def test_observers_are_asked_for_by_run():
    seen = []

    def watch(number):
        return lambda iteration, record, means: seen.append((number, iteration))

    found = run([BAD, GOOD], watch=watch)
    assert seen == [(r, i + 1) for r in (0, 1) for i in range(found.records[r].n_iter)]


def test_a_run_that_is_told_to_stop_is_the_last():
    found = run([BAD, GOOD], watch=lambda number: lambda *event: True)
    assert len(found.records) == 1
    assert found.stopped == "the callback asked to stop after 1 of 2 runs"
