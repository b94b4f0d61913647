"""Exact sums: every total is the exact fraction, and every mean the fraction rounded once."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from support.kmeans_cases import LEVELS, level, thorough

from coterie.algorithms.kmeans.survey import survey
from coterie.engines.memory import MemoryEngine
from coterie.kernels import _native, exact, kmeans_steps, reference
from coterie.kernels.exact import ClusterSums, Grid

TEAM = _native.Team(2)

SUBNORMAL = 5e-324
HOSTILE = [0.0, -0.0, 1.0, -1.0, 1 / 3, 1e-300, -1e-300, 1e270, -1e270, 2.0**-1022, SUBNORMAL]

anything = st.one_of(
    st.sampled_from(HOSTILE),
    st.floats(-1e270, 1e270, allow_subnormal=True),
    st.floats(-2, 2),
)
wide = st.one_of(
    st.sampled_from([0.0, -0.0, 1 / 3, 1e-140, -1e-140, 1e140, -1e140]),
    st.floats(-1e140, 1e140).filter(lambda x: x == 0 or abs(x) > 1e-140),
    st.floats(-2, 2).filter(lambda x: x == 0 or abs(x) > 1e-140),
)
moderate = st.floats(-1e100, 1e100).filter(lambda x: x == 0 or abs(x) > 1e-100)
weight = st.one_of(st.sampled_from([1.0, 2.0, 1e-80, 1e80, 1 / 3]), st.floats(1e-80, 1e80))


def tables(values: st.SearchStrategy[float]) -> st.SearchStrategy[np.ndarray]:
    return (
        st.integers(1, 5)
        .flatmap(
            lambda d: st.lists(st.lists(values, min_size=d, max_size=d), min_size=1, max_size=12)
        )
        .map(np.array)
    )


def fraction_sums(X, w):
    return tuple(
        sum((Fraction(a) * Fraction(b) for a, b in zip(column, w, strict=True)), Fraction(0))
        for column in X.T.tolist()
    )


def column_sums(moments):
    return [moments.grid.value(moments.sums[:, c], c) for c in range(moments.sums.shape[1])]


def check_moments(X, w):
    weights = [1.0] * len(X) if w is None else w.tolist()
    mass = sum(map(Fraction, weights))
    sums = fraction_sums(X, weights)
    squares = sum(
        Fraction(b) * Fraction(a) ** 2
        for row, b in zip(X.tolist(), weights, strict=True)
        for a in row
    )
    engine = MemoryEngine(X, w, n_threads=2)
    found = survey(engine).totals
    assert found.mass == mass
    assert column_sums(found) == list(sums)
    assert found.squares == squares
    variance = (squares - sum(s * s for s in sums) / mass) / mass / X.shape[1]
    assert found.mean_variance == exact.to_float(variance)


@given(tables(wide), st.sampled_from(LEVELS))
@thorough(400)
def test_moments_of_hostile_columns(X, simd):
    with level(simd):
        check_moments(X, None)


@given(tables(anything))
@thorough(200)
def test_moments_of_the_widest_columns(X):
    check_moments(X, None)


@given(tables(moderate), st.lists(weight, min_size=12, max_size=12), st.sampled_from(LEVELS))
@thorough(400)
def test_moments_with_weights(X, w, simd):
    w[0] = 3.0
    with level(simd):
        check_moments(X, np.array(w[: len(X)]))


def test_variance_far_from_zero():
    rng = np.random.default_rng(0)
    for weights in (None, rng.uniform(0.5, 2, size=500)):
        X = 1e9 + rng.normal(size=(500, 3))
        found = survey(MemoryEngine(X, weights)).totals.mean_variance
        assert found == reference.exact_mean_variance(X, weights)
        assert 0.8 < found < 1.2


def test_formats_have_the_same_moments():
    rng = np.random.default_rng(1)
    X = (rng.normal(size=(90, 4)) * (rng.random((90, 4)) < 0.5)).astype(np.float32)
    expected = survey(MemoryEngine(X.astype(np.float64))).totals
    for other in (X, csr_matrix(X), csr_matrix(X.astype(np.float64))):
        found = survey(MemoryEngine(other, block_rows=7)).totals
        assert column_sums(found) == column_sums(expected)
        assert (found.mass, found.squares) == (expected.mass, expected.squares)


def single_cluster_mean(X, w=None):
    engine = MemoryEngine(X, w)
    known = survey(engine)
    start = np.zeros((1, X.shape[1]))
    found = engine.reduce(kmeans_steps.assign, known, start, None, "brute")
    return found.sums.means(TEAM, start)[0], known


@given(tables(anything))
@thorough(400)
def test_means_of_hostile_columns(X):
    found, _ = single_cluster_mean(X)
    expected = [float(s / len(X)) for s in fraction_sums(X, [1.0] * len(X))]
    assert found.tolist() == expected


@given(tables(moderate), st.lists(weight, min_size=12, max_size=12))
@thorough(300)
def test_means_with_weights(X, w):
    w[0] = 3.0
    w = w[: len(X)]
    found, _ = single_cluster_mean(X, np.array(w))
    mass = sum(map(Fraction, w))
    assert found.tolist() == [float(s / mass) for s in fraction_sums(X, w)]


def test_cancellation_leaves_the_small_value():
    X = np.array([[1e270], [SUBNORMAL], [-1e270], [1e-300]])
    found, known = single_cluster_mean(X)
    assert known.grid.levels > 60  # far beyond the 128-bit path
    assert found[0] == float((Fraction(SUBNORMAL) + Fraction(1e-300)) / 4)


@pytest.mark.parametrize("largest", [1e290, -3e292])
@pytest.mark.parametrize("smallest", [SUBNORMAL, 2.0**-1060, 2.0**-1022, 1e-300])
def test_the_widest_columns_there_are(largest, smallest):
    X = np.array([[largest], [smallest]])
    check_moments(X, None)
    assert single_cluster_mean(X)[0][0] == largest / 2


@pytest.mark.parametrize(("X", "w"), [(1e300, 1e10), (1e307, 2.0), (1e200, 1e200)])
def test_values_too_large_to_be_summed_are_an_error(X, w):
    engine = MemoryEngine(np.array([[X], [1.0]]), np.array([w, 1.0]))
    with pytest.raises(ValueError, match=r"expected products .* below 2\*\*1001 .* Rescale X"):
        survey(engine)


@pytest.mark.parametrize("count", [2, 3, 4, 5, 6, 7])
def test_means_of_subnormal_values_round_to_even(count):
    X = np.array([[SUBNORMAL]] * (count - 1) + [[0.0]])
    found, _ = single_cluster_mean(X)
    assert found[0] == float(Fraction(SUBNORMAL) * (count - 1) / count)


limb = st.one_of(st.integers(-(2**62), 2**62), st.integers(-5, 5), st.sampled_from([2**62 - 1]))
mass_limb = st.integers(1, 2**40)


@st.composite
def limb_tables(draw):
    """Limbs as sums over billions of rows give them, on grids of one to six levels."""
    k, d = draw(st.integers(1, 3)), draw(st.integers(1, 4))
    levels, mass_levels = draw(st.integers(1, 6)), draw(st.integers(1, 4))
    top = draw(st.lists(st.integers(-300, 300), min_size=d, max_size=d))
    grid = Grid(np.array(top, dtype=np.int32), levels)
    mass_grid = Grid(np.array([draw(st.integers(-100, 100))], dtype=np.int32), mass_levels)
    numbers = draw(st.lists(limb, min_size=k * levels * d, max_size=k * levels * d))
    masses = draw(st.lists(mass_limb, min_size=k * mass_levels, max_size=k * mass_levels))
    sums = np.array(numbers, dtype=np.int64).reshape(k, levels, d)
    return sums, grid, np.array(masses, dtype=np.int64).reshape(k, mass_levels), mass_grid


def value_of(limbs, grid, column=0):
    return sum(
        (
            Fraction(limb) * Fraction(2) ** (int(grid.top[column]) - 30 - 32 * j)
            for j, limb in enumerate(limbs.tolist())
        ),
        Fraction(0),
    )


@given(limb_tables())
@thorough(500)
def test_means_from_limbs(table):
    sums, grid, mass, mass_grid = table
    k, _, d = sums.shape
    found = ClusterSums(sums, mass, grid, mass_grid).means(TEAM, np.full((k, d), 7.0))
    for c in range(k):
        weight = value_of(mass[c], mass_grid)
        for column in range(d):
            total = value_of(sums[c, :, column], grid, column)
            assert grid.value(sums[c, :, column], column) == total
            assert found[c, column] == float(total / weight)


def test_both_paths_to_means_are_taken():
    for levels, native in ((1, True), (3, True), (4, False)):
        sums = np.ones((1, levels, 1), dtype=np.int64)
        mass = np.ones((1, 1), dtype=np.int64)
        top = np.array([30], dtype=np.int32)
        assert _native.means_from_sums(TEAM, sums, top, mass, 30, np.zeros((1, 1))) == native


def test_without_mass_a_mean_stays():
    sums, mass = np.zeros((2, 4, 1), dtype=np.int64), np.array([[0], [3]])
    sums[1, 0] = 6
    for levels in (1, 4):
        grid = Grid(np.array([30], dtype=np.int32), levels)
        of_levels = ClusterSums(sums[:, :levels], mass, grid, exact.COUNTING)
        found = of_levels.means(TEAM, np.array([[-1.5], [0.0]]))
        assert found.tolist() == [[-1.5], [2.0]]


mean_value = st.one_of(
    st.sampled_from([0.0, -0.0, 1.0, 1e150, -1e150, 1e-150, SUBNORMAL, 2.0**-1022]),
    st.floats(-1e150, 1e150),
    st.floats(-2, 2),
)


@given(limb_tables(), st.lists(mean_value, min_size=12, max_size=12))
@thorough(500)
def test_saved_squares_are_those_of_the_formula(table, numbers):
    sums, grid, mass, mass_grid = table
    k, _, d = sums.shape
    means = np.array(numbers[: k * d]).reshape(k, d)
    expected = Fraction(0)
    for c in range(k):
        weight = value_of(mass[c], mass_grid)
        for column in range(d):
            m = Fraction(float(means[c, column]))
            total = value_of(sums[c, :, column], grid, column)
            expected += 2 * m * total - weight * m * m
    saved = ClusterSums(sums, mass, grid, mass_grid).saved(TEAM, means)
    assert saved == exact.in_wide_units(expected)


def test_many_columns_are_shared_out():
    rng = np.random.default_rng(0)
    sums = rng.integers(-(2**40), 2**40, (20, 3, 1000))
    mass = rng.integers(1, 1000, (20, 1))
    grid = Grid(np.full(1000, 3, dtype=np.int32), 3)
    totals = ClusterSums(sums, mass, grid, exact.COUNTING)
    found = []
    for n_threads in (1, 2, 5):
        team = _native.Team(n_threads)
        means = totals.means(team, np.zeros((20, 1000)))
        found.append((means.tobytes(), totals.saved(team, means)))
    assert found[0] == found[1] == found[2]
    c, column = 7, 900
    value = value_of(sums[c, :, column], grid, column) / int(mass[c, 0])
    assert means[c, column] == float(value)


def test_too_large_for_a_float_is_infinite():
    assert exact.to_float(Fraction(10) ** 400) == np.inf
    assert exact.to_float(-(Fraction(10) ** 400)) == -np.inf
    assert exact.to_float(Fraction(1, 3)) == 1 / 3


def test_products_too_small_to_be_exact_are_an_error():
    X, w = np.array([[1e-200], [1.0]]), np.array([1e-200, 1.0])
    with pytest.raises(ValueError, match="expected products above 1e-290"):
        survey(MemoryEngine(X, w))
