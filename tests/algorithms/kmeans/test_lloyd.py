"""k-means against its definition: thousands of cases, and not one bit of difference."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.kmeans_cases import (
    DATA,
    FORMATS,
    LEVELS,
    WEIGHTS,
    Case,
    assert_same,
    cases,
    definition,
    errors_of,
    fit,
    level,
    make_case,
    rounding,
    thorough,
)

from coterie.algorithms.kmeans.lloyd import Rules
from coterie.kernels import reference

ALGORITHMS = ("auto", "brute", "bounds")


@given(cases(), st.sampled_from(ALGORITHMS), st.sampled_from(LEVELS))
@thorough(2500)
def test_a_run_is_that_of_the_definition(case, algorithm, simd):
    with level(simd):
        assert_same(fit(case, Rules(algorithm=algorithm)), definition(case))


@given(cases(max_n=40, max_d=40, max_k=40), st.sampled_from(ALGORITHMS), st.sampled_from(LEVELS))
@thorough(500)
def test_many_columns_and_means(case, algorithm, simd):
    with level(simd):
        assert_same(fit(case, Rules(algorithm=algorithm)), definition(case))


@pytest.mark.parametrize("d", [64, 65, 100, 784])
@pytest.mark.parametrize("form", FORMATS)
def test_wide_data(d, form):
    for seed, data in enumerate(("normal", "lattice", "offset", "blobs")):
        rng = np.random.default_rng(100 * d + seed)
        case = make_case(rng, 70, d, 20, data, form, means="near")
        for simd in LEVELS:
            with level(simd):
                assert_same(fit(case), definition(case))


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("weights", WEIGHTS)
def test_weights_on_every_kind_of_data(data, weights):
    for seed in range(4):
        rng = np.random.default_rng(seed)
        case = make_case(rng, 61, 1 + 4 * seed, 6, data, weights=weights, means="near")
        assert_same(fit(case), definition(case))


def test_weights_of_one_are_no_weights():
    case = make_case(np.random.default_rng(0), 30, 3, 4)
    assert_same(fit(Case(case.X, case.means, np.ones(30))), fit(case))


@pytest.mark.parametrize("form", FORMATS)
def test_a_whole_weight_is_a_number_of_copies(form):
    rng = np.random.default_rng(5)
    case = make_case(rng, 80, 5, 7, "lattice", form, "whole")
    copies = np.repeat(np.arange(80), case.weights.astype(int))
    weighted, repeated = fit(case), fit(Case(case.X[copies], case.means))
    np.testing.assert_array_equal(weighted.labels[copies], repeated.labels)
    np.testing.assert_array_equal(weighted.means, repeated.means)
    assert weighted.inertia == repeated.inertia
    assert errors_of(weighted) == errors_of(repeated)


def test_formats_of_the_same_numbers_agree():
    rng = np.random.default_rng(7)
    sparse = make_case(rng, 200, 11, 20, "normal", "csr32", means="near")
    run = fit(sparse)
    for X in (
        sparse.X.astype(np.float64),
        sparse.X.toarray(),
        sparse.X.toarray().astype(np.float64),
    ):
        assert_same(fit(Case(X, sparse.means)), run)


@pytest.mark.parametrize("scale", [1e-140, 1e-40, 1e40, 1e140])
def test_powers_of_two_change_nothing_but_the_scale(scale):
    factor = 2.0 ** np.round(np.log2(scale))
    case = make_case(np.random.default_rng(3), 90, 4, 8, "normal")
    run, large = fit(case), fit(Case(case.X * factor, case.means * factor))
    np.testing.assert_array_equal(run.labels, large.labels)
    np.testing.assert_array_equal(run.means * factor, large.means)
    assert run.n_iter == large.n_iter


@given(cases(max_n=60), st.sampled_from(["max_iter", "tol", "rel_tol"]), st.integers(1, 5))
@thorough(400)
def test_stopping_early(case, rule, strength):
    value = strength if rule == "max_iter" else 10.0**-strength
    run = fit(case, Rules(**{rule: value}))
    assert_same(run, definition(case, **{rule: value}))
    assert rule in run.stopped or run.stopped == "no assignment changed"


def test_every_rule_stops_a_run():
    case = make_case(np.random.default_rng(1), 400, 3, 9, means="near")
    whole = fit(case)
    assert whole.converged
    for rules in (Rules(max_iter=2), Rules(tol=0.05), Rules(rel_tol=0.1)):
        run = fit(case, rules)
        assert run.n_iter < whole.n_iter
        assert run.converged == (rules.max_iter is None)


@given(cases(), st.randoms(use_true_random=False))
@thorough(300)
def test_the_order_of_the_rows_changes_nothing(case, random):
    order = np.array(random.sample(range(case.X.shape[0]), case.X.shape[0]))
    run, other = fit(case), fit(case.permuted(order))
    np.testing.assert_array_equal(run.labels[order], other.labels)
    np.testing.assert_array_equal(run.means, other.means)
    assert errors_of(run) == errors_of(other)
    assert run.inertia == other.inertia


@given(cases(max_n=80))
@thorough(400)
def test_the_error_never_rises(case):
    errors = np.array(errors_of(fit(case)))
    assert np.all(errors[1:] <= errors[:-1] + rounding(case, errors))


@given(cases(max_n=60))
@thorough(150)
def test_the_answer_is_a_fixed_point(case):
    run = fit(case)
    X = case.dense
    np.testing.assert_array_equal(run.labels, reference.nearest(X, run.means))
    again = fit(Case(case.X, run.means, case.weights))
    np.testing.assert_array_equal(again.means, run.means)
    assert again.n_iter == 2
