"""Guards kernels/kmeans_seeding_steps.py: every distance and every count of units, bit for bit.

A wrong last bit would hardly ever change the seeds; it changes the numbers compared here.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from support.kmeans_cases import FORMATS, LEVELS, level, make_case

from coterie.algorithms.kmeans.survey import survey
from coterie.engines.memory import MemoryEngine
from coterie.kernels import kmeans_seeding_steps, reference
from coterie.kernels.kmeans_seeding_steps import Seeds


def begin(case, **settings):
    """An engine, an empty list of seeds, and the reference's sampler over the same points."""
    engine = MemoryEngine(case.X, case.weights, **settings)
    seeds = Seeds.none_yet(engine.begin(), survey(engine), 8)
    begun = engine.reduce(kmeans_seeding_steps.count_rows, seeds)
    sampler = reference.D2Sampler(reference.distinct_points(case.dense, case.weights))
    assert begun.copies == sampler.points.copies.sum()
    assert begun.by_bucket.sum() == begun.copies
    return engine, seeds, sampler


def followed(engine, seeds, point, shift):
    """The seeds with one more, and the distances from all of them."""
    since, seeds = len(seeds), seeds.followed_by(point[np.newaxis])
    return seeds, engine.reduce(kmeans_seeding_steps.add_seeds, seeds, since, shift)


def assert_same_units(engine, seeds, distances, sampler, shift):
    units = sampler.units(sampler.near, shift)
    assert distances.largest.tolist() == [sampler.near.max()]
    bits = len(distances.units).bit_length() - 1
    expected = np.zeros(1 << bits, dtype=np.int64)
    buckets = [h >> (64 - bits) for h in sampler.points.hashes]
    np.add.at(expected, buckets, units.astype(np.int64))
    np.testing.assert_array_equal(distances.units, expected)
    held = engine.reduce(
        kmeans_seeding_steps.values_in_buckets, seeds, np.arange(1 << bits, dtype=np.int32), shift
    )
    some = units > 0
    assert held.hashes.tolist() == [
        h for h, u in zip(sampler.points.hashes, some, strict=True) if u
    ]
    assert held.units.tolist() == units[some].tolist()
    np.testing.assert_array_equal(held.values, sampler.points.values[some])


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("d", [1, 2, 3, 4, 5, 13, 70])
@pytest.mark.parametrize("simd", LEVELS)
def test_distances_and_units(form, d, simd):
    kinds = itertools.product(("normal", "scales", "duplicates"), ("none", "whole"))
    for seed, (data, weights) in enumerate(kinds):
        case = make_case(np.random.default_rng(seed), 203, d, 6, data, form, weights)
        with level(simd):
            block_rows = None if seed % 2 else 50
            engine, seeds, sampler = begin(case, n_threads=2, block_rows=block_rows)
            for count, point in enumerate(case.means, start=1):
                sampler.add(list(case.means[:count]))
                seeds, distances = followed(engine, seeds, point, sampler.shift)
                assert_same_units(engine, seeds, distances, sampler, sampler.shift)
                other = sampler.shift - 3  # the same distances, counted anew
                distances = engine.reduce(kmeans_seeding_steps.add_seeds, seeds, count, other)
                assert_same_units(engine, seeds, distances, sampler, other)
                check_potentials(engine, seeds, sampler, case.dense[:: 203 // 5])


def check_potentials(engine, seeds, sampler, candidates):
    shift = min(sampler.bits, 24) - math.frexp(float(sampler.near.max()))[1]
    for count in (1, 3, len(candidates)):
        left = engine.reduce(
            kmeans_seeding_steps.potentials, seeds, candidates[:count].copy(), shift
        )
        assert left.tolist() == [sampler.potential(c) for c in candidates[:count]]
    many = np.tile(candidates, (20, 1))
    found = engine.reduce(kmeans_seeding_steps.potentials, seeds, many, shift)
    assert found.tolist() == left.tolist() * 20


@pytest.mark.parametrize("simd", LEVELS)
@pytest.mark.parametrize("weights", ["none", "whole"])
def test_distances_of_float64(weights, simd):
    case = make_case(np.random.default_rng(5), 203, 3, 6, "normal", "float64", weights)
    with level(simd):
        engine, seeds, sampler = begin(case, n_threads=2)
        sampler.coarse = False
        sampler.near = reference.squared_distances(sampler.points.values, case.means).min(axis=1)
        seeds = seeds.followed_by(case.means).refined()
        for shift in (0, 40):
            distances = engine.reduce(kmeans_seeding_steps.add_seeds, seeds, len(seeds), shift)
            assert_same_units(engine, seeds, distances, sampler, shift)
        sampler.add([*case.means, case.X[100]])
        seeds, distances = followed(engine, seeds, case.X[100], 40)
        assert_same_units(engine, seeds, distances, sampler, 40)
        check_potentials(engine, seeds, sampler, case.X[::40])


def test_many_seeds_added_in_one_pass_give_the_bits_of_one_by_one():
    case = make_case(np.random.default_rng(6), 203, 3, 6, "normal", "float64", "whole")
    engine, seeds, _ = begin(case)
    one_by_one = []
    for point in case.means:
        seeds, distances = followed(engine, seeds, point, 20)
        one_by_one += distances.largest.tolist()
    other, none, _ = begin(case, block_rows=50)
    together = other.reduce(kmeans_seeding_steps.add_seeds, none.followed_by(case.means), 0, 20)
    assert together.largest.tolist() == one_by_one
    np.testing.assert_array_equal(together.units, distances.units)


def test_hashes_of_rows():
    for form in FORMATS:
        case = make_case(np.random.default_rng(1), 40, 6, 1, "normal", form)
        expected = [reference.hash_row(row) for row in case.dense]
        assert MemoryEngine(case.X).blocks[0].rows.hashes().tolist() == expected


def test_zeros_of_both_signs_have_one_hash():
    X = np.array([[0.0, 1.0], [-0.0, 1.0], [0.0, -1.0]])
    a, b, c = MemoryEngine(X).blocks[0].rows.hashes()
    assert a == b != c


@pytest.mark.parametrize("simd", LEVELS)
@pytest.mark.parametrize("d", [1, 2, 3, 5, 8])
def test_rows_that_were_moved_together_count_as_before(d, simd):
    """Rows in blocks of a thousand keep their order; in one block they move after eight seeds."""
    for seed, (form, weights) in enumerate(
        [("float64", "none"), ("float32", "whole"), ("csr64", "none"), ("float64", "float")]
    ):
        data = ("normal", "duplicates", "scales")[(seed + d) % 3]
        case = make_case(np.random.default_rng(seed), 30_011, d, 14, data, form, weights)
        with level(simd):
            whole = MemoryEngine(case.X, case.weights, n_threads=2)
            parts = MemoryEngine(case.X, case.weights, block_rows=1000)
            seeds = Seeds.none_yet(1, survey(whole), 100)
            begun = [e.reduce(kmeans_seeding_steps.count_rows, seeds) for e in (whole, parts)]
            shift = 40 - begun[0].copies.bit_length()
            for count, point in enumerate(case.means):
                seeds = seeds.followed_by(point[np.newaxis])
                a, b = (
                    e.reduce(kmeans_seeding_steps.add_seeds, seeds, count, shift)
                    for e in (whole, parts)
                )
                assert a.largest.tolist() == b.largest.tolist()
                np.testing.assert_array_equal(a.units, b.units)
                near = 20 - math.frexp(a.largest[0])[1]
                a, b = (
                    e.reduce(
                        kmeans_seeding_steps.potentials, seeds, case.dense[:5000:999].copy(), near
                    )
                    for e in (whole, parts)
                )
                np.testing.assert_array_equal(a, b)
            some = np.arange(0, len(begun[0].by_bucket), 700, dtype=np.int32)
            a, b = (
                e.reduce(kmeans_seeding_steps.values_in_buckets, seeds, some, shift)
                for e in (whole, parts)
            )
            assert (a.hashes.tolist(), a.units.tolist()) == (b.hashes.tolist(), b.units.tolist())
            np.testing.assert_array_equal(a.values, b.values)


@pytest.mark.parametrize(("n", "bits"), [(1, 4), (100, 4), (1000, 7), (10**6, 13), (10**9, 13)])
def test_buckets_follow_the_number_of_rows(n, bits):
    assert kmeans_seeding_steps.bucket_bits(n) == bits


@pytest.mark.parametrize("bucket", [-1, 16, 2**31 - 1])
def test_a_bucket_that_does_not_exist_is_refused(bucket):
    engine, seeds, _ = begin(make_case(np.random.default_rng(0), 20, 2, 3))
    with pytest.raises(IndexError, match=f"bucket {bucket} is out of range: expected 0 to 15,"):
        engine.reduce(
            kmeans_seeding_steps.values_in_buckets, seeds, np.array([3, bucket], dtype=np.int32), 0
        )
