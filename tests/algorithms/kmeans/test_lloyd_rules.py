"""Rules of a run: relocation, means of length one, deadlines, callbacks and traces."""

from __future__ import annotations

import time
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from support.kmeans_cases import (
    Case,
    assert_same,
    bits,
    cases,
    definition,
    errors_of,
    fit,
    make_case,
    rounding,
    thorough,
)

from coterie.algorithms.kmeans.lloyd import Rules, lloyd
from coterie.algorithms.kmeans.survey import survey
from coterie.engines.memory import MemoryEngine
from coterie.kernels import reference


def assert_consistent(run, case):
    """Labels and errors are those of the means, by the definition."""
    X = case.dense
    w = np.ones(len(X)) if case.weights is None else case.weights
    np.testing.assert_array_equal(run.labels, reference.nearest(X, run.means))
    np.testing.assert_array_equal(run.active, np.isin(np.arange(len(run.means)), run.labels))
    squares = reference.exact_squares(X, w, run.means, run.labels)
    assert run.inertia == float(squares)
    mass = sum(map(Fraction, w.tolist()))
    assert run.clustering_error == float(squares / mass)


@given(cases(max_n=60))
@thorough(600)
def test_relocation_is_that_of_the_definition(case):
    run = fit(case, Rules(relocate=True, max_iter=50))
    assert_same(run, definition(case, relocate=True, max_iter=50))
    assert_consistent(run, case)
    other = fit(case, Rules(relocate=True, max_iter=50), n_threads=3, block_rows=7)
    assert_same(other, run)
    assert [step.moved for step in other.history] == [step.moved for step in run.history]


@given(cases(max_n=60, weights=("none", "whole", "float", "tiny", "huge", "equal")))
@thorough(600)
def test_relocation_never_raises_the_error_and_leaves_no_cluster_empty(case):
    run = fit(case, Rules(relocate=True))
    assert run.stopped == "no assignment changed"
    assert run.history[-1].moved == 0
    errors = np.array([*errors_of(run), run.clustering_error])
    assert np.all(errors[1:] <= errors[:-1] + rounding(case, errors))
    distinct = len(np.unique(case.dense + 0.0, axis=0))
    assert run.active.sum() == min(len(case.means), distinct)


@pytest.mark.parametrize(
    ("X", "means"),
    [
        # The error of the second iteration once was that of old sums with relocated means.
        ([9, 4, 6, 8, 4, 10, 10, 0, 10], [2.34, -1.45, 7.46, 2.84, 12.3]),
        # The run once ended with a cluster still empty.
        ([4, 9, 3, 0, 0], [7.867346035550538, 4.106047397864598, 1.41970111, 1.78441606]),
    ],
)
def test_relocation_in_cases_that_failed_before(X, means):
    case = Case(np.array(X, dtype=float)[:, np.newaxis], np.array(means)[:, np.newaxis])
    run = fit(case, Rules(relocate=True))
    assert run.active.all()
    assert list(errors_of(run)) == sorted(errors_of(run), reverse=True)
    assert errors_of(run)[-1] == run.clustering_error
    assert_same(run, definition(case, relocate=True))


def test_relocation_fills_an_empty_cluster():
    X = np.array([[0.0], [1.0], [2.0], [10.0]])
    far = Case(X, np.array([[1.0], [1e6]]))
    assert fit(far).active.tolist() == [True, False]
    run = fit(far, Rules(relocate=True))
    assert run.active.all()
    assert run.means.tolist() == [[1.0], [10.0]]
    assert run.labels.tolist() == [0, 0, 0, 1]


def test_relocation_takes_the_farthest_points_with_their_weight():
    # 9 and 7 lie farthest from the only mean in use; the two empty clusters get them.
    X, w = np.array([[0.0], [1.0], [7.0], [9.0]]), np.array([2.0, 1.5, 3.0, 1.0])
    case = Case(X, np.array([[1.0], [1e6], [2e6]]), w)
    run = fit(case, Rules(relocate=True, max_iter=1))
    assert run.means.tolist() == [[1.5 / 3.5], [9.0], [7.0]]
    assert_consistent(run, case)


def test_relocation_has_nothing_to_do_where_every_point_is_a_mean():
    X = np.repeat([[0.0], [5.0]], 10, axis=0)
    run = fit(Case(X, np.array([[0.0], [5.0], [1e6]])), Rules(relocate=True))
    assert run.active.tolist() == [True, True, False]
    assert run.inertia == 0


@given(cases(max_n=60))
@thorough(150)
def test_means_of_unit_length(case):
    run = fit(case, Rules(unit_length=True, max_iter=20))
    np.testing.assert_array_equal(run.labels, reference.nearest(case.dense, run.means))
    lengths = np.sqrt((run.means[run.active] ** 2).sum(axis=1))
    moved = bits(run.means[run.active]) != bits(case.means[run.active])
    np.testing.assert_allclose(lengths[moved.any(axis=1)], 1.0, rtol=1e-12)


def test_a_deadline():
    case = make_case(np.random.default_rng(0), 3000, 3, 40)
    run = fit(case, Rules(deadline=time.perf_counter()))
    assert run.stopped == "max_seconds reached"
    assert run.n_iter == 1
    assert not run.converged
    assert_same(run, fit(case, Rules(max_iter=1)))


def test_an_observer_sees_every_iteration_and_may_stop():
    case = make_case(np.random.default_rng(1), 300, 2, 12)
    engine = MemoryEngine(case.X)
    seen = []

    def observe(iteration, record, means):
        seen.append((iteration, record.error, means.copy()))
        return iteration == 2

    run = lloyd(engine, survey(engine), case.means, Rules(), observe)
    assert run.stopped == "the callback asked to stop"
    assert [s[0] for s in seen] == [1, 2]
    assert [s[1] for s in seen] == list(errors_of(run))
    np.testing.assert_array_equal(seen[-1][2], run.means)
    assert_same(run, definition(case, max_iter=2))


@given(cases(max_n=60))
@thorough(100)
def test_a_trace_holds_every_change_of_labels(case):
    run = fit(case, Rules(trace=True))
    assert len(run.trace) == run.n_iter
    labels = np.full(case.X.shape[0], -1)
    for frame, record in zip(run.trace, run.history, strict=True):
        assert np.all(labels[frame.rows] != frame.labels)
        assert len(frame.rows) == record.moved
        labels[frame.rows] = frame.labels
        np.testing.assert_array_equal(labels, reference.nearest(case.dense, frame.means))
    np.testing.assert_array_equal(labels, run.labels)


@pytest.mark.parametrize("k", [1, 5])
def test_the_record_prints_as_a_sentence(k):
    run = fit(make_case(np.random.default_rng(2), 50, 2, k))
    assert str(run).startswith(f"{k} clusters ({k} active), clustering error ")
    assert str(run).endswith("no assignment changed")
