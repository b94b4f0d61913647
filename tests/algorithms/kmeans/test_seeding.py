"""Initial means: those of the definition, and a function of the weighted set of points alone."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from support.kmeans_cases import DATA, DRAWN, LEVELS, as_dense, cases, level, make_case, thorough

from coterie.algorithms.kmeans.seeding import SEEDINGS
from coterie.algorithms.kmeans.survey import survey
from coterie.algorithms.random_words import RandomWords
from coterie.engines.memory import MemoryEngine
from coterie.kernels import reference

ENGINES = ({"n_threads": 3}, {"block_rows": 1}, {"block_rows": 7})


def seeds(name, X, k, seed=0, weights=None, **engine):
    memory = MemoryEngine(X, weights, **engine)
    return SEEDINGS[name](memory, survey(memory), k, RandomWords(seed))


@given(cases(formats=("float64", "float32")), st.integers(0, 2**64 - 1), st.sampled_from(LEVELS))
@thorough(800)
def test_plusplus_is_that_of_the_definition(case, seed, simd):
    k = len(case.means)
    with level(simd):
        found = seeds("k-means++", case.X, k, seed, case.weights)
    expected = reference.kmeans_plusplus(case.dense, k, seed, case.weights)
    np.testing.assert_array_equal(found, expected)


@given(cases(formats=("csr64", "csr32")), st.integers(0, 2**64 - 1))
@thorough(200)
def test_plusplus_of_sparse_rows(case, seed):
    X = case.X.tolil()
    X[0] = 0  # a zero in every column: see below for data without
    X, k = X.tocsr(), len(case.means)
    found = seeds("k-means++", X, k, seed, case.weights)
    expected = reference.kmeans_plusplus(as_dense(X), k, seed, case.weights)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("simd", LEVELS)
@pytest.mark.parametrize(("d", "entries"), [(9, 2), (300, 8), (5000, 40)])
def test_plusplus_of_rows_with_few_entries(d, entries, simd):
    rng = np.random.default_rng(d)
    X = np.zeros((400, d), dtype=np.float32)
    for row in X:  # a few columns are common, most are rare
        row[(d * rng.random(entries) ** 3).astype(int)] = rng.normal(size=entries)
    X[7] = 0
    for seed in range(4):
        with level(simd):
            dense, sparse = (seeds("k-means++", x, 12, seed) for x in (X, csr_matrix(X)))
        np.testing.assert_array_equal(dense, sparse)


def test_sparse_storage_of_columns_without_zeros():
    X = 1e6 + np.random.default_rng(0).normal(size=(60, 2))
    for seed in range(20):
        dense, sparse = (seeds("k-means++", x, 5, seed) for x in (X, csr_matrix(X)))
        np.testing.assert_array_equal(dense, sparse)


@given(cases(formats=("float64", "float32"), max_n=100), st.integers(0, 2**64 - 1))
@thorough(300)
def test_parallel_is_that_of_the_definition(case, seed):
    k = min(len(case.means), 8)
    found = seeds("k-means||", case.X, k, seed, case.weights)
    expected = reference.kmeans_parallel(case.dense, k, seed, case.weights)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("d", [1, 2, 3, 4, 5, 30])
def test_plusplus_with_more_rows_than_a_chunk(d):
    case = make_case(np.random.default_rng(d), 9001, d, 6, "normal", "float32")
    expected = reference.kmeans_plusplus(case.X, 6, 3)
    for simd in LEVELS:
        with level(simd):
            np.testing.assert_array_equal(seeds("k-means++", case.X, 6, 3, n_threads=3), expected)


def test_points_that_float32_cannot_tell_apart():
    rng = np.random.default_rng(0)
    for weights in (None, rng.integers(1, 4, size=200).astype(float)):
        X = rng.integers(0, 2, size=(200, 1)) + 1e-7 * rng.normal(size=(200, 3))
        sampler = reference.D2Sampler(reference.distinct_points(X, weights))
        sampler.add([X[0]])
        sampler.add([X[0], X[np.argmax(np.abs(X - X[0]).sum(axis=1))]])
        assert not sampler.coarse  # float64 distances: the case of this test
        for seed in range(10):
            np.testing.assert_array_equal(
                seeds("k-means++", X, 8, seed, weights),
                reference.kmeans_plusplus(X, 8, seed, weights),
            )


def test_units_that_all_round_to_zero_are_counted_finer():
    # So much weight leaves 9 bits to a distance: with seeds at 0 and 1, that of 0.04 is no unit.
    n, values = 1_050_000, np.array([[0.0], [0.04], [1.0]], dtype=np.float32)
    X, w = np.zeros((n, 1), dtype=np.float32), np.full(n, 2.0**31 - 1)
    X[:2] = values[1:]
    np.testing.assert_array_equal(np.sort(seeds("k-means++", X, 3, 0, w), axis=0), values)

    distinct = reference.distinct_points(values)
    copies = np.array([(n if h == reference.hash_row(np.zeros(1)) else 1) for h in distinct.hashes])
    sampler = reference.D2Sampler(replace(distinct, copies=copies.astype(object) * (2**31 - 1)))
    assert sampler.bits == 9
    sampler.add([values[0].astype(float)])
    sampler.add([values[0].astype(float), values[2].astype(float)])
    assert sampler.units(sampler.near, sampler.shift).sum() > 0


@given(cases(max_n=60), st.integers(0, 2**64 - 1))
@thorough(300)
def test_random_points_are_those_of_the_definition(case, seed):
    distinct = len(reference.distinct_points(case.dense).hashes)
    k = min(len(case.means), distinct)
    found = seeds("random", case.X, k, seed, case.weights)
    np.testing.assert_array_equal(found, reference.random_points(case.dense, k, seed))
    assert len(np.unique(found, axis=0)) == k
    with pytest.raises(ValueError, match=f"only {distinct} distinct rows"):
        seeds("random", case.X, distinct + 1, seed)


@pytest.mark.parametrize("data", [kind for kind in DATA if kind not in ("constant", "powers")])
@pytest.mark.parametrize("weights", ["none", "float"])
def test_principal_means_are_those_of_the_definition(data, weights):
    for seed, form in enumerate(("float64", "float32", "csr64", "csr32")):
        rng = np.random.default_rng(seed)
        case = make_case(rng, 700, 3, 5, data, form, weights)
        expected = reference.principal(case.dense, 5, case.weights)
        for engine in ({}, {"n_threads": 3}):
            found = seeds("principal", case.X, 5, 0, case.weights, **engine)
            scale = np.abs(expected).max()
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9 * scale)


def test_principal_means_by_hand():
    # Points t (3, 4) / 5 with t from 0 to 10: v = (0.6, 0.8), and the middles are 1, 3, 5, 7, 9.
    t = np.array([0.0, 1.0, 2.5, 6.0, 10.0])
    found = seeds("principal", np.outer(t, [0.6, 0.8]), 5)
    np.testing.assert_allclose(found, np.outer([1, 3, 5, 7, 9], [0.6, 0.8]), atol=1e-12)


@pytest.mark.parametrize("name", DRAWN)
@pytest.mark.parametrize("data", ["normal", "lattice", "blobs", "scales"])
def test_seeds_belong_to_values_not_to_places(name, data):
    rng = np.random.default_rng(11)
    case = make_case(rng, 400, 3, 6, data, weights="whole")
    X, w = case.X, case.weights
    order = rng.permutation(400)
    copies = np.repeat(np.arange(400), w.astype(int))
    for seed in range(5):
        expected = seeds(name, X, 6, seed, w)
        for X_other, w_other in (
            (X[order], w[order]),
            (X[copies], None),
            (X[rng.permutation(copies)], None),
        ):
            np.testing.assert_array_equal(seeds(name, X_other, 6, seed, w_other), expected)


@pytest.mark.parametrize("name", DRAWN)
@pytest.mark.parametrize("weights", ["none", "whole", "float"])
def test_seeds_do_not_depend_on_the_engine(name, weights):
    rng = np.random.default_rng(12)
    case = make_case(rng, 70, 5, 7, "normal", "csr32", weights)
    w = case.weights
    for seed in range(2):
        expected = seeds(name, case.X, 7, seed, w)
        for X in (case.X, case.X.astype(np.float64), case.X.toarray(), case.dense):
            for simd, engine in itertools.product(LEVELS, ENGINES):
                with level(simd):
                    np.testing.assert_array_equal(seeds(name, X, 7, seed, w, **engine), expected)


def test_blocks_of_whole_weights_beside_others():
    rng = np.random.default_rng(0)
    X, w = rng.normal(size=(60, 2)), np.r_[np.full(30, 2.0), rng.uniform(0.1, 2, size=30)]
    for seed in range(5):
        expected = reference.kmeans_plusplus(X, 5, seed, w)
        np.testing.assert_array_equal(seeds("k-means++", X, 5, seed, w), expected)
        np.testing.assert_array_equal(seeds("k-means++", X, 5, seed, w, block_rows=10), expected)


def test_weights_of_at_most_one():
    rng = np.random.default_rng(0)
    X, w = rng.normal(size=(60, 2)), rng.choice([0.001, 1.0], size=60)
    for seed in range(5):
        expected = reference.kmeans_plusplus(X, 5, seed, w)
        np.testing.assert_array_equal(seeds("k-means++", X, 5, seed, w), expected)


@pytest.mark.parametrize("n", [5, 10, 20, 200])
def test_parallel_seeds_are_different_points_of_few(n):
    X = np.random.default_rng(n).normal(size=(n, 2))
    for seed in range(5):
        assert len(np.unique(seeds("k-means||", X, 3, seed), axis=0)) == 3


def test_parallel_seeds_are_good():
    # Twenty far blobs: one seed in each.
    rng = np.random.default_rng(0)
    centres = 100.0 * np.array(list(itertools.product(range(5), range(4))))
    X = centres[rng.integers(20, size=3000)] + rng.normal(size=(3000, 2))
    for seed in range(5):
        found = seeds("k-means||", X, 20, seed)
        assert len(np.unique(reference.nearest(found, centres))) == 20


def test_fewer_points_than_seeds_repeat_the_first():
    X = np.array([[0.0], [1.0], [1.0], [5.0]])
    found = seeds("k-means++", X, 6, 1)
    assert set(found[:3, 0]) == {0.0, 1.0, 5.0}
    assert np.all(found[3:] == found[0])


def test_the_first_seed_is_drawn_by_weight():
    X, w = np.arange(3.0)[:, np.newaxis], np.array([3.0, 1.0, 2.0])
    first = np.array([seeds("k-means++", X, 1, seed, w)[0, 0] for seed in range(1500)])
    share = np.bincount(first.astype(int)) / 1500
    assert np.all(np.abs(share - w / 6) < 0.06)  # more than four standard deviations


def test_every_set_of_random_points_is_equally_likely():
    X = np.arange(4.0)[:, np.newaxis]
    sets = [tuple(sorted(seeds("random", X, 2, seed)[:, 0])) for seed in range(1200)]
    counts = [sets.count(pair) for pair in itertools.combinations(range(4), 2)]
    assert sum(counts) == 1200
    assert all(130 < count < 270 for count in counts)  # 200 expected, standard deviation 13


def golden_points():
    i = np.arange(500)
    return np.stack([i * 37 % 101, i * 53 % 89 / 4, i * 71 % 97 / 8], axis=1).astype(float)


GOLDEN = {
    ("k-means++", 0): [
        [6.0, 12.0, 10.75],
        [74.0, 4.25, 5.625],
        [40.0, 6.5, 8.625],
        [100.0, 0.25, 10.75],
        [20.0, 19.25, 3.0],
    ],
    ("k-means++", 42): [
        [1.0, 9.5, 10.875],
        [45.0, 12.25, 7.625],
        [90.0, 8.25, 7.5],
        [72.0, 8.0, 2.0],
        [15.0, 1.0, 1.375],
    ],
    ("k-means||", 0): [
        [48.97478991596638, 11.092436974789916, 8.4359243697479],
        [29.012048192771083, 11.331325301204819, 4.575301204819277],
        [72.24509803921569, 12.014705882352942, 3.1776960784313726],
        [10.981132075471699, 10.891509433962264, 5.501179245283019],
        [90.95555555555555, 10.808333333333334, 7.861111111111111],
    ],
    ("k-means||", 42): [
        [91.3225806451613, 10.564516129032258, 7.897849462365591],
        [45.0462962962963, 12.0, 8.582175925925926],
        [69.1328125, 11.25, 3.80859375],
        [7.51948051948052, 12.275974025974026, 6.845779220779221],
        [23.73404255319149, 9.60372340425532, 3.8523936170212765],
    ],
    ("random", 0): [
        [38.0, 19.5, 8.5],
        [6.0, 15.25, 9.875],
        [46.0, 12.0, 9.0],
        [58.0, 10.0, 1.125],
        [42.0, 12.5, 9.625],
    ],
    ("random", 42): [
        [38.0, 19.5, 8.5],
        [51.0, 8.0, 10.625],
        [41.0, 12.75, 8.25],
        [17.0, 10.25, 1.5],
        [64.0, 15.5, 1.5],
    ],
}


@pytest.mark.parametrize("name", DRAWN)
def test_seeds_stay_the_same_in_every_release(name):
    X = golden_points()
    for seed in (0, 42):
        found = seeds(name, X, 5, seed).tolist()
        assert (name, seed) in GOLDEN, f"GOLDEN lacks {name!r} with seed {seed}: {found}"
        assert found == GOLDEN[name, seed]
