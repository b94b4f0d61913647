"""One assignment update after the other: caches between them change no label.

A step is a pure function of rows and means, so it may be given any sequence of means: slow ones
that let bounds skip most rows, jumps, means that leave the data. Counts of the rows that were
looked at show that the shortcuts were taken.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray
from support.kmeans_cases import FORMATS, LEVELS, Case, fit, level, make_case, same_bits

from coterie.algorithms.kmeans.survey import survey
from coterie.arrays import Floats
from coterie.engines.memory import MemoryEngine
from coterie.kernels import _native, kmeans_steps, reference, scan_steps
from coterie.kernels.exact import ClusterSums

RUN = 1  # the number of the run whose cache is looked at


@dataclass
class Stepper:
    """Assignment updates of one block; `evaluated` and `settled` count rows of the last step."""

    case: Case
    algorithm: str = "auto"
    n_threads: int = 1

    def __post_init__(self) -> None:
        self.engine = MemoryEngine(self.case.X, self.case.weights, n_threads=self.n_threads)
        self.survey = survey(self.engine)
        self.block = self.engine.blocks[0]
        self.evaluated = self.settled = self.moved = 0
        kmeans_steps.assign(self.block, self.survey, self.case.means, RUN, self.algorithm)

    def step(self, means: Floats) -> NDArray[np.int32]:
        self.moved, self.evaluated, self.settled = self.block.cache(RUN)["lloyd"].step(means)
        found: NDArray[np.int32] = self.block.cache(RUN)["labels"]
        return found

    def updated(self, means: Floats) -> Floats:
        sums, mass = self.block.cache(RUN)["lloyd"].totals()
        totals = ClusterSums(sums, mass, self.survey.grid, self.survey.weight_grid)
        return totals.means(self.engine.team, means)


def wandering(case: Case, rng: np.random.Generator, count: int) -> Iterator[Floats]:
    """Means that drift, rest, jump and now and then leave the data by far."""
    X, m = case.dense, case.means
    spread = X.std(axis=0) + 1e-9 * np.abs(X).max(axis=0)
    for _ in range(count):
        mood = rng.random()
        if mood < 0.5:
            moving = rng.random((len(m), 1)) < 0.4
            m = m + moving * rng.normal(size=m.shape) * spread * 10.0 ** rng.integers(-9, -1)
        elif mood < 0.8:
            m = reference.updated_means(
                X, np.ones(len(X)), y := reference.nearest(X, m), np.isin(np.arange(len(m)), y), m
            )
        elif mood < 0.9:
            m = m.copy()
            m[rng.integers(len(m))] = X[rng.integers(len(X))]
        elif mood < 0.95:
            m = m.copy()
            m[rng.integers(len(m))] *= 1e6
        yield m


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("data", ["normal", "lattice", "blobs", "offset", "scales", "halves"])
@pytest.mark.parametrize("simd", LEVELS)
def test_any_sequence_of_means(form, data, simd):
    shapes = [(1, 30), (2, 9), (3, 60), (8, 26), (9, 20), (10, 40), (17, 33), (80, 30), (270, 9)]
    for seed, (d, k) in enumerate(shapes):
        rng = np.random.default_rng(1000 * seed + 17)
        case = make_case(rng, 311, d, k, data, form, means="near")
        with level(simd):
            steppers = [Stepper(case, "bounds", 2), Stepper(case, "brute")]
            for means in wandering(case, rng, 12):
                expected = reference.nearest(case.dense, means)
                for stepper in steppers:
                    np.testing.assert_array_equal(stepper.step(means), expected)
                assert same_bits(*(stepper.updated(means) for stepper in steppers))


LONG = [
    # d, k, kind of data. Few means:
    (2, 10, "normal"),
    (20, 15, "blobs"),
    (64, 10, "blobs"),
    # Few columns, many means: lists of neighbours.
    (1, 30, "normal"),
    (2, 60, "normal"),
    (5, 40, "blobs"),
    (8, 30, "blobs"),
    (3, 40, "clumps"),
    (6, 60, "clumps"),
    # Many columns: panels of means in groups.
    (9, 40, "blobs"),
    (12, 90, "blobs"),
    (20, 50, "blobs"),
    (10, 40, "clumps"),
    (13, 70, "clumps"),
    (40, 150, "blobs"),
    # Very many columns: a bound for every mean.
    (66, 7, "blobs"),
    (70, 20, "blobs"),
    (90, 44, "blobs"),
    (150, 12, "blobs"),
    # As many columns, and few means: sketches.
    (256, 3, "blobs"),
    (300, 4, "clumps"),
    (263, 4, "normal"),
]


@pytest.mark.parametrize(("d", "k", "data"), LONG)
@pytest.mark.parametrize("simd", LEVELS)
def test_long_runs_skip_most_rows_and_miss_nothing(d, k, data, simd):
    n = 1201
    rng = np.random.default_rng(d * k)
    case = make_case(rng, n, d, k, data)
    with level(simd):
        bounds, brute = Stepper(case, "bounds"), Stepper(case, "brute")
        means, evaluated, settled = case.means, [n], 0
        for _ in range(40):
            labels = bounds.step(means)
            np.testing.assert_array_equal(labels, reference.nearest(case.dense, means))
            np.testing.assert_array_equal(labels, brute.step(means))
            assert brute.evaluated == n
            if evaluated[-1] < n / 2:
                settled += bounds.settled
            evaluated.append(bounds.evaluated)
            new = bounds.updated(means)
            assert same_bits(new, brute.updated(means))
            if same_bits(new, means):
                # The end of the run; a few means go elsewhere.
                new = means.copy()
                new[rng.integers(k, size=3)] = case.X[rng.integers(n, size=3)]
            means = new
    assert min(evaluated) < n / 2  # bounds were in use
    if data == "clumps":
        assert settled > 10  # and ties were met then
    run = fit(case)
    np.testing.assert_array_equal(reference.nearest(case.dense, run.means), run.labels)


@pytest.mark.parametrize("d", [2, 8, 10, 19])
@pytest.mark.parametrize("simd", LEVELS)
def test_rows_that_waver_between_two_far_means(d, simd):
    # Pairs of means left and right of rows in the middle. Small moves, which only the definition
    # can judge, alternate with large ones. So a row must return to a mean that was farther by a
    # last bit, although the other means around it are all too far.
    rng = np.random.default_rng(d)
    pairs, n = 20, 600
    means = np.zeros((2 * pairs, d))
    means[:, 0] = np.repeat([-1000.0, 1000.0], pairs)
    means[:, 1] = np.tile(100.0 * np.arange(pairs), 2)
    X = np.zeros((n, d))
    X[:, 1] = 100.0 * rng.integers(pairs, size=n)
    X[:, 2:] = rng.normal(size=(n, d))[:, 2:]
    case = Case(X, means)
    settled = 0
    with level(simd):
        stepper = Stepper(case, "bounds")
        for turn in range(40):
            move = np.zeros_like(means)
            move[:, 0] = rng.normal(size=2 * pairs) * (1e-6 if turn % 2 else 1.0)
            labels = stepper.step(means + move)
            np.testing.assert_array_equal(labels, reference.nearest(X, means + move))
            settled += stepper.settled
    assert settled > 5 * n


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("simd", LEVELS)
def test_rows_of_very_many_columns_are_decided_by_their_sketches(dtype, simd):
    # Means wander so far in every step that no deadline holds, but hardly leave the few directions
    # in which the rows vary.
    rng = np.random.default_rng(5)
    n, d, k = 700, 300, 4
    directions = np.linalg.qr(rng.normal(size=(d, 12)))[0].T
    X = rng.normal(size=(n, 12)) @ directions + 0.001 * rng.normal(size=(n, d))
    case = Case(np.ascontiguousarray(X + 0.5, dtype=dtype), X[:k] + 0.5)
    evaluated = []
    with level(simd):
        stepper = Stepper(case, "bounds", 2)
        for _ in range(16):
            means = case.means + rng.normal(size=(k, 12)) @ directions
            labels = stepper.step(means)
            np.testing.assert_array_equal(labels, reference.nearest(case.dense, means))
            evaluated.append(stepper.evaluated)
    assert min(evaluated[:3]) > 0.9 * n
    assert max(evaluated[-5:]) < 0.2 * n


def test_close_calls_are_settled_by_the_definition():
    # Middles between means, and a step aside that float32 cannot see.
    rng = np.random.default_rng(0)
    for d in (2, 12):
        means = rng.normal(size=(5, d))
        means[:2, 0] += 100  # the first two lie apart from the others
        middle = 0.5 * means[0] + 0.5 * means[1]
        X = middle + 1e-14 * rng.normal(size=(600, d))
        stepper = Stepper(Case(X, means))
        np.testing.assert_array_equal(stepper.step(means + 0.0), reference.nearest(X, means))
        assert stepper.settled == 600


def test_a_clear_case_is_not_settled_by_the_definition():
    for form in FORMATS:
        case = make_case(np.random.default_rng(1), 500, 10, 4, "blobs", form)
        stepper = Stepper(case, "brute")
        stepper.step(case.means)
        assert stepper.settled < 150


def test_a_changed_level_or_number_of_means_starts_anew():
    rng = np.random.default_rng(8)
    case = make_case(rng, 700, 10, 40, "blobs")
    stepper = Stepper(case, "bounds")
    X, means = case.dense, case.means
    for turn in range(9):
        with level(LEVELS[turn % len(LEVELS)]):
            chosen = means[: 40 - 5 * (turn // 3)]
            np.testing.assert_array_equal(stepper.step(chosen), reference.nearest(X, chosen))
            means = means + 0.01 * rng.normal(size=means.shape)


def test_labels_without_sums():
    for form in FORMATS:
        case = make_case(np.random.default_rng(2), 123, 7, 9, "lattice", form, means="near")
        block = MemoryEngine(case.X).blocks[0]
        expected = reference.nearest(case.dense, case.means)
        np.testing.assert_array_equal(kmeans_steps.nearest(block, case.means), expected)


def test_squared_distances_are_those_of_the_definition():
    for form in FORMATS:
        for d, k in ((1, 1), (3, 4), (9, 7), (40, 21)):
            rng = np.random.default_rng(d)
            case = make_case(rng, 57, d, k, "scales", form, means="near")
            for simd in LEVELS:
                with level(simd):
                    found = kmeans_steps.squared_distances(
                        MemoryEngine(case.X).blocks[0], case.means
                    )
                assert same_bits(found, reference.squared_distances(case.dense, case.means))


def test_farthest_rows_come_first_and_the_lower_row_among_equals():
    case = make_case(np.random.default_rng(4), 90, 2, 3, "lattice")
    for block_rows in (None, 7):
        engine = MemoryEngine(case.X, block_rows=block_rows, n_threads=3)
        far = engine.reduce(kmeans_steps.farthest, survey(engine), case.means, object(), 12).points
        s = reference.squared_distances(case.X, case.means).min(axis=1)
        expected = np.lexsort((np.arange(90), -s))[:12]
        assert [point.row for point in far] == expected.tolist()
        assert [point.distance for point in far] == s[expected].tolist()
        assert all(np.array_equal(point.value, case.X[point.row]) for point in far)


def test_the_first_value_that_is_not_finite_is_found():
    for dtype in (np.float32, np.float64):
        X = np.zeros((900, 5), dtype=dtype)
        X[700, 1] = np.nan
        X[300, 3] = -np.inf
        X[300, 4] = np.nan
        for block_rows in (None, 7):
            engine = MemoryEngine(X, n_threads=3, block_rows=block_rows)
            assert engine.reduce(scan_steps.extent).not_finite == (300, 3)


def test_level_names():
    assert LEVELS[0] == "baseline"
    assert not _native.use_simd_level("sparkling")
    assert _native.simd_level() in LEVELS
