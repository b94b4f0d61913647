"""EM: agreement with scikit-learn, an error that never rises, far offsets, odd data."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_blobs
from sklearn.mixture import GaussianMixture
from support.mixture import OF_SCIKIT_LEARN

from coterie.algorithms.mixture.covariance import FAMILIES, Family, fixed
from coterie.algorithms.mixture.em import EmRules, em
from coterie.algorithms.mixture.from_labels import mixture_from_labels
from coterie.algorithms.mixture.records import Mixture, MixtureRun
from coterie.algorithms.mixture.survey import survey
from coterie.engines.memory import MemoryEngine
from coterie.kernels.mixture_steps import chunk_rows

NAMES = list(FAMILIES)


def fitted(
    X: Any, labels: Any, k: int, name: str, weights: Any = None, threads: int = 1, **rules: Any
) -> MixtureRun:
    engine, family = MemoryEngine(X, weights, n_threads=threads), FAMILIES[name]
    seen = survey(engine, family)
    floor = seen.floor(rules.get("reg_covar"))
    start = mixture_from_labels(engine, seen, family, labels.astype(np.int32), k, floor)
    return em(engine, seen, family, start, EmRules(**rules))


class FromLabels(GaussianMixture):  # type: ignore[misc]
    labels: Any = None

    def _initialize_parameters(self, X: Any, random_state: Any, **_: Any) -> None:
        self._initialize(X, np.eye(self.n_components)[self.labels])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", OF_SCIKIT_LEARN)
@pytest.mark.parametrize("d", [1, 2, 3, 4, 5, 9])
def test_agrees_with_scikit_learn(name: str, d: int) -> None:
    X, y = make_blobs(2000, d, centers=4, random_state=0, cluster_std=2.0)
    X -= X.mean(axis=0)
    run = fitted(X, y, 4, name, max_iter=15, tol=0.0, reg_covar=1e-6)
    peer = FromLabels(4, covariance_type=name, max_iter=15, tol=0.0)
    peer.labels = y
    peer.fit(X)
    np.testing.assert_allclose(run.weights, peer.weights_, atol=1e-9)
    np.testing.assert_allclose(run.means, peer.means_, atol=1e-9)
    np.testing.assert_allclose(run.covariances, peer.covariances_, atol=1e-9)
    np.testing.assert_allclose(run.precisions_cholesky, peer.precisions_cholesky_, atol=1e-9)
    assert run.history[-1].error == pytest.approx(-2000 * peer.lower_bound_, rel=1e-12)
    assert run.soft_clustering_error == pytest.approx(-2000 * peer.score(X), rel=1e-12)


@given(
    name=st.sampled_from(NAMES),
    n=st.integers(2, 120),
    d=st.integers(1, 7),
    k=st.integers(1, 5),
    lattice=st.booleans(),
    weighted=st.booleans(),
    seed=st.integers(0, 10**6),
)
@settings(max_examples=150, deadline=None)
def test_error_never_rises(
    name: str, n: int, d: int, k: int, lattice: bool, weighted: bool, seed: int
) -> None:
    random = np.random.default_rng(seed)
    X = random.integers(0, 3, (n, d)).astype(float) if lattice else random.normal(size=(n, d))
    w = random.integers(1, 4, n).astype(float) if weighted else None
    run = fitted(X, random.integers(0, k, n), k, name, w, max_iter=12, tol=0.0)
    errors = np.array([*(h.error for h in run.history), run.soft_clustering_error])
    mass = n if w is None else w.sum()
    # Flat components too, although a matrix holds the floor, 1e-12 of the data's spread, to four
    # digits only.
    assert np.all(np.diff(errors) <= 1e-12 * (mass + np.abs(errors[1:])))
    assert np.all(np.isfinite(run.covariances))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("offset", [1e5, 1e7, 1e9])
def test_offsets_cost_no_digits(name: str, offset: float) -> None:
    X, y = make_blobs(3000, 3, centers=3, random_state=1, cluster_std=1.5)
    X = np.round(X * 2**16) / 2**16  # so that adding the offset is exact
    shifts = np.array([offset, -offset, 3 * offset])
    near = fitted(X, y, 3, name, max_iter=10, tol=0.0)
    far = fitted(X + shifts, y, 3, name, max_iter=10, tol=0.0)
    np.testing.assert_allclose(far.covariances, near.covariances, rtol=1e-8)
    np.testing.assert_allclose(far.means - shifts, near.means, atol=1e-15 * offset + 1e-9)
    assert far.soft_clustering_error == pytest.approx(near.soft_clustering_error, rel=1e-10)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("exponent", [-490, -30, 30, 490])
def test_units_do_not_matter(name: str, exponent: int) -> None:
    X, y = make_blobs(1000, 3, centers=3, random_state=1, cluster_std=1.5)
    plain = fitted(X, y, 3, name, max_iter=10, tol=0.0)
    scaled = fitted(np.ldexp(X, exponent), y, 3, name, max_iter=10, tol=0.0)
    np.testing.assert_array_equal(scaled.weights, plain.weights)
    np.testing.assert_array_equal(np.ldexp(scaled.means, -exponent), plain.means)
    np.testing.assert_array_equal(np.ldexp(scaled.covariances, -2 * exponent), plain.covariances)
    assert [h.decrease for h in scaled.history[1:]] == [h.decrease for h in plain.history[1:]]


@pytest.mark.parametrize("name", NAMES)
def test_one_far_outlier(name: str) -> None:
    X, y = make_blobs(1000, 2, centers=2, random_state=1, cluster_std=1.0)
    X[0] = 1e6
    labels = y.copy()
    labels[0] = 2
    run = fitted(X, labels, 3, name, max_iter=10, tol=0.0)
    assert run.weights[2] == pytest.approx(1e-3, rel=1e-12)
    if name == "tied":  # the outlier has a part in the shared covariance: compare with its formula
        y = np.linalg.norm(X[1:, None] - run.means[:2], axis=2).argmin(axis=1)
        z = X[1:] - run.means[y]
        np.testing.assert_allclose(run.covariances, z.T @ z / 1000, rtol=1e-6, atol=1e-6)
        return
    without = fitted(X[1:], y[1:], 2, name, max_iter=10, tol=0.0)
    np.testing.assert_allclose(run.covariances[:2], without.covariances, rtol=1e-9)
    np.testing.assert_allclose(run.means[:2], without.means, rtol=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_odd_data_is_answered(name: str) -> None:
    random = np.random.default_rng(0)
    line = np.outer(random.normal(size=50), [1.0, 2.0, 3.0])
    constant = np.column_stack([random.normal(size=(50, 2)), np.full(50, 7e5)])
    few = random.normal(size=(4, 9))
    same = np.repeat(random.normal(size=(2, 3)), 20, axis=0)
    for X in (line, constant, few, same):
        labels = np.arange(len(X)) % 2
        run = fitted(X, labels, 2, name, max_iter=20)
        assert np.isfinite(run.soft_clustering_error)
        assert run.weights.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("name", NAMES)
def test_a_weight_of_two_is_the_row_twice(name: str) -> None:
    X, y = make_blobs(300, 3, centers=3, random_state=1, cluster_std=2.0)
    w = np.random.default_rng(0).integers(1, 4, 300)
    weighted = fitted(X, y, 3, name, w.astype(float), max_iter=10, tol=0.0)
    repeated = fitted(np.repeat(X, w, axis=0), np.repeat(y, w), 3, name, max_iter=10, tol=0.0)
    np.testing.assert_allclose(weighted.means, repeated.means, rtol=1e-10)
    np.testing.assert_allclose(weighted.covariances, repeated.covariances, rtol=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_same_bits_for_any_threads(name: str) -> None:
    X, y = make_blobs(3 * chunk_rows(3) + 5, 3, centers=3, random_state=1, cluster_std=2.0)
    one = fitted(X, y, 3, name, max_iter=4, tol=0.0)
    for threads in (2, 5):
        many = fitted(X, y, 3, name, threads=threads, max_iter=4, tol=0.0)
        assert np.array_equal(one.covariances, many.covariances)
        assert one.soft_clustering_error == many.soft_clustering_error


def run_with(X: Any, family: Family, start: Mixture, rules: EmRules, **more: Any) -> MixtureRun:
    engine = MemoryEngine(X)
    return em(engine, survey(engine, family), family, start, rules, **more)


@pytest.mark.parametrize("name", NAMES)
def test_a_run_remembers_its_start_to_the_bit(name: str) -> None:
    X, y = make_blobs(300, 2, centers=3, random_state=1)
    start = fitted(1e3 * X, y, 3, name, max_iter=2).mixture
    run = run_with(1e3 * X, FAMILIES[name], start, EmRules(max_iter=3, tol=0.0))
    for part in ("weights", "means", "covariances"):
        assert np.array_equal(getattr(run.start, part), getattr(start, part))


def test_fixed_parts_stay() -> None:
    X, _ = make_blobs(300, 2, centers=3, random_state=1)
    start = Mixture(np.full(3, 1 / 3), X[:3].copy(), np.stack([np.eye(2)] * 3))
    for part in ("weights", "means", "covariances"):
        rules = EmRules(max_iter=5, tol=0.0, fixed=frozenset({part}))
        run = run_with(X, FAMILIES["full"], start, rules)
        changed = {
            name
            for name in ("weights", "means", "covariances")
            if not np.allclose(getattr(run, name), getattr(start, name), rtol=1e-12)
        }
        assert changed == {"weights", "means", "covariances"} - {part}


def test_given_covariances_stay() -> None:
    X, _ = make_blobs(300, 2, centers=3, random_state=1)
    start = Mixture(np.full(3, 1 / 3), X[:3].copy(), np.full(3, 0.5))
    run = run_with(X, fixed("spherical"), start, EmRules(max_iter=5, tol=0.0))
    np.testing.assert_allclose(run.covariances, 0.5)


def test_a_component_far_from_all_points_keeps_its_place() -> None:
    X, _ = make_blobs(300, 2, centers=1, random_state=1)
    start = Mixture(np.full(2, 0.5), np.array([[0.0, 0.0], [1e9, 0.0]]), np.full((2, 2), 1.0))
    run = run_with(X, FAMILIES["diag"], start, EmRules(max_iter=5))
    assert run.weights[1] == 0
    assert np.isfinite(run.means).all()
    assert "component 1" in run.notes[0]
    assert "fewer components" in run.notes[0]


def test_a_collapse_without_a_floor_stops_with_the_remedy() -> None:
    X = np.repeat(np.array([[0.0, 0.0], [5.0, 5.0], [5.0, 6.0], [6.0, 5.5]]), 5, axis=0)
    start = Mixture(np.full(2, 0.5), X[[0, 10]].copy(), np.stack([np.eye(2) * 0.1] * 2))
    run = run_with(X, FAMILIES["full"], start, EmRules(max_iter=50, tol=0.0, reg_covar=0.0))
    assert "component 0" in run.stopped
    assert "reg_covar" in run.stopped
    assert not run.converged


def test_history_trace_and_observer() -> None:
    X, y = make_blobs(500, 2, centers=3, random_state=1, cluster_std=3.0)
    seen = []
    start = fitted(X, y, 3, "full", max_iter=1).mixture
    rules = EmRules(max_iter=9, tol=0.0, trace=True)

    def observe(iteration: int, record: Any, mixture: Mixture) -> bool:
        seen.append((iteration, record))
        return iteration == 4

    run = run_with(X, FAMILIES["full"], start, rules, observe=observe)
    assert run.stopped == "the callback asked to stop"
    assert [i for i, _ in seen] == [1, 2, 3, 4]
    assert run.history == tuple(record for _, record in seen)
    assert run.trace is not None
    assert len(run.trace) == 4
    np.testing.assert_allclose(run.trace[0].means, start.means, rtol=1e-12)
    assert "4 iterations" in str(run)


def test_tol_is_the_change_per_point() -> None:
    X, y = make_blobs(500, 2, centers=3, random_state=1, cluster_std=3.0)
    run = fitted(X, y, 3, "full", max_iter=500, tol=1e-4)
    assert run.converged
    assert abs(run.history[-1].decrease) / 500 < 1e-4 <= abs(run.history[-2].decrease) / 500


def test_a_proposal_that_is_less_likely_is_taken_back() -> None:
    X, y = make_blobs(500, 2, centers=3, random_state=1, cluster_std=3.0)

    class Bad:
        asked = refused = 0

        def propose(self, before: Mixture, after: Mixture, log_likelihood: float) -> Mixture:
            self.asked += 1
            return Mixture(after.weights, after.means + 10.0, after.covariances)

        def reject(self) -> None:
            self.refused += 1

    start, rules, bad = (
        fitted(X, y, 3, "full", max_iter=1).mixture,
        EmRules(max_iter=6, tol=0),
        Bad(),
    )
    plain = run_with(X, FAMILIES["full"], start, rules)
    tried = run_with(X, FAMILIES["full"], start, rules, accelerator=bad)
    assert bad.asked == bad.refused == 5
    assert np.array_equal(plain.means, tried.means)
    # A proposal on trial when a callback stops the run is not kept either.
    third = Bad()
    left = run_with(
        X, FAMILIES["full"], start, rules, accelerator=third, observe=lambda i, *_: i == 3
    )
    assert third.asked == third.refused + 1 == 3
    short = run_with(X, FAMILIES["full"], start, replace(rules, max_iter=3))
    assert np.array_equal(left.means, short.means)
    assert left.soft_clustering_error == short.soft_clustering_error


def test_the_record_of_an_iteration_is_in_the_units_of_the_data() -> None:
    X, y = make_blobs(500, 2, centers=3, random_state=1, cluster_std=3.0)
    X = X * [1.0, 1e5]
    start = fitted(X, y, 3, "full", max_iter=1).mixture
    run = run_with(X, FAMILIES["full"], start, EmRules(max_iter=4, tol=0, trace=True))
    assert run.trace is not None
    means = [mixture.means for mixture in (*run.trace, run.mixture)]
    moves = [np.abs(after - before).max() for before, after in itertools.pairwise(means)]
    np.testing.assert_allclose([r.largest_move for r in run.history], moves, rtol=1e-9)
    errors = [r.error for r in run.history]
    np.testing.assert_allclose([r.decrease for r in run.history[1:]], -np.diff(errors), rtol=1e-6)


def test_an_interrupt_keeps_the_best_so_far_where_asked() -> None:
    X, y = make_blobs(500, 2, centers=3, random_state=1, cluster_std=3.0)
    start = fitted(X, y, 3, "full", max_iter=1).mixture

    def strike(iteration: int, *_: Any) -> bool:
        if iteration == 3:
            raise KeyboardInterrupt
        return False

    kept = EmRules(max_iter=9, tol=0.0, keep_on_interrupt=True)
    run = run_with(X, FAMILIES["full"], start, kept, observe=strike)
    assert (run.stopped, run.n_iter) == ("interrupted", 3)
    with pytest.raises(KeyboardInterrupt):
        run_with(X, FAMILIES["full"], start, EmRules(max_iter=9, tol=0.0), observe=strike)


def test_an_absurd_reg_covar_is_explained() -> None:
    X, y = make_blobs(50, 2, centers=2, random_state=1)
    with pytest.raises(ValueError, match="Leave reg_covar out"):
        fitted(np.ldexp(X, -900), y, 2, "full", reg_covar=1e-6)
