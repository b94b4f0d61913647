"""Sweeps against the formulas in long double, and the same bits for all threads and blocks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.kmeans_cases import LEVELS, level
from support.mixture_cases import (
    KINDS,
    assert_same_bits,
    check,
    check_somewhere,
    expected,
    in_kind,
    model,
    rows,
)

from coterie.engines.memory import MemoryEngine
from coterie.kernels import _native, mixture_steps
from coterie.kernels.mixture_steps import Densities, Kind, Standardization


@given(
    kind=st.sampled_from(KINDS),
    k=st.integers(1, 9),
    d=st.integers(1, 14),
    n=st.integers(1, 300),
    weighted=st.booleans(),
    simd=st.sampled_from(LEVELS),
    seed=st.integers(0, 2**20),
)
@settings(max_examples=300, deadline=None)
def test_sweep_equals_the_formulas(
    kind: Kind, k: int, d: int, n: int, weighted: bool, simd: str, seed: int
) -> None:
    X, q = rows(n, d, seed), model(kind, k, d, seed)
    check_somewhere(X, q, weighted, simd, seed)


@pytest.mark.parametrize("simd", LEVELS)
def test_small_degrees_are_as_exact_as_large_ones(simd: str) -> None:
    """Degrees down to 1e-290 keep their last digits: every level has its own exponential."""
    X = np.linspace(-27.8, 27.8, 5003)[:, np.newaxis]
    q = Densities("spherical", np.zeros(2), np.array([[-12.0], [12.0]]), np.ones(2))
    wanted = expected(X, None, q)[1].astype(float)
    assert wanted.min() < 1e-285
    with level(simd):
        found = MemoryEngine(X).gather(mixture_steps.responsibilities, Standardization.plain(1), q)
    np.testing.assert_allclose(found, wanted, rtol=5e-13, atol=0)


@pytest.mark.parametrize("simd", LEVELS)
@pytest.mark.parametrize("d", [25, 31, 45, 60, 64, 67, 77, 130])
def test_many_columns(d: int, simd: str) -> None:
    """Blocks of a second moment are filled, or have an edge of any width."""
    X, q = rows(300, d, 5), model("full", 3, d, 5)
    with level(simd):
        check(X, None, q, MemoryEngine(X, n_threads=2))


def apart(k: int, d: int, distance: float, seed: int, each: int = 40) -> tuple[Any, Densities]:
    """Rows around distant means, in order of the means: nearly all densities are negligible."""
    random = np.random.default_rng(seed)
    q = model("full", k, d, seed)
    means = random.normal(size=(k, d)) * distance
    X = np.repeat(means, each, axis=0) + random.normal(size=(each * k, d))
    return X, Densities("full", q.offsets, means, q.factors, negligible=np.full(k, -64.0))


@given(
    k=st.integers(2, 7) | st.just(18),
    d=st.integers(14, 40) | st.sampled_from([64, 130, 201]),
    each=st.sampled_from([5, 40]),
    distance=st.sampled_from([0.1, 0.5, 1.0, 3.0, 30.0, 1e4, 1e12, 1e30]),
    stretch=st.sampled_from([0, 2, 6]),
    simd=st.sampled_from(LEVELS),
    seed=st.integers(0, 2**20),
)
@settings(max_examples=200, deadline=None)
def test_densities_left_out_are_negligible(
    k: int, d: int, each: int, distance: float, stretch: int, simd: str, seed: int
) -> None:
    """Sums of a sweep agree with those of responsibilities, for which nothing is left out.

    Where components are of different size, the nearest mean is often not that of the likeliest
    component. For few rows the screen has no directions towards other means.
    """
    X, q = apart(k, d, distance, seed, each)
    sizes = np.exp2(np.random.default_rng(seed).integers(-stretch, stretch + 1, k))
    q = replace(q, factors=q.factors * sizes[:, None], offsets=q.offsets + d * np.log(sizes))
    scaling = Standardization.plain(d)
    with level(simd):
        engine = MemoryEngine(X)
        degrees = engine.gather(mixture_steps.responsibilities, scaling, q)
        largest = degrees.max(axis=1, keepdims=True)
        kept = np.where(degrees > 2.0**-64 * largest, degrees, 0.0)
        found = engine.reduce(mixture_steps.sweep, scaling, q).moments
        np.testing.assert_allclose(found.mass, kept.sum(axis=0), rtol=1e-13, atol=1e-18)
        labels = engine.gather(mixture_steps.labels, scaling, q)
        np.testing.assert_array_equal(labels, degrees.argmax(axis=1))
        given = engine.reduce(mixture_steps.degree_moments, scaling, "full", kept, q.means).moments
        size = np.abs(given.second).max()
        np.testing.assert_allclose(found.second, given.second, rtol=1e-12, atol=1e-15 * size)


@pytest.mark.parametrize("simd", LEVELS)
@pytest.mark.parametrize("each", [1, 40, 200])
@pytest.mark.parametrize(("d", "distance"), [(16, 1.0), (16, 1.8), (30, 1.0), (30, 4.0), (70, 0.6)])
def test_densities_left_out_change_no_bit(d: int, distance: float, each: int, simd: str) -> None:
    """Rows of overlapping components come first, so that the sweep goes on with all densities.

    Blocks that are swept one by one have the same sums.
    """
    size = mixture_steps.chunk_rows(d)
    near, q = apart(8, d, 0.01, 3, each)
    far, q = apart(8, d, distance, 3, each)
    random = np.random.default_rng(4)
    X = np.concatenate([np.resize(near, (size, d)), np.resize(far, (size + 77, d))])
    X += random.normal(size=X.shape) * 0.01
    w = random.uniform(0.5, 2, len(X))
    scaling = Standardization.plain(d)
    with level(simd):
        whole = MemoryEngine(X, w).reduce(mixture_steps.sweep, scaling, q)
        blocks = MemoryEngine(X, w, block_rows=size, align=size)
        assert len(blocks.blocks) == 3
        parts = blocks.reduce(mixture_steps.sweep, scaling, q)
        assert_same_bits(parts.moments, whole.moments)
        for visit in (mixture_steps.score_samples, mixture_steps.labels):
            np.testing.assert_array_equal(
                MemoryEngine(X).gather(visit, scaling, q),
                MemoryEngine(X[::-1].copy()).gather(visit, scaling, q)[::-1],
            )


@pytest.mark.parametrize("d", [7, 20])
def test_the_label_is_the_first_of_equal_components(d: int) -> None:
    X, q = apart(6, d, 3.0, 1)
    for part in (q.offsets, q.means, q.factors):
        part[4] = part[1]
    labels = MemoryEngine(X).gather(mixture_steps.labels, Standardization.plain(d), q)
    np.testing.assert_array_equal(np.unique(labels), [0, 1, 2, 3, 5])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("d", [2, 3, 7, 70])
def test_same_bits_for_threads_and_blocks(kind: Kind, d: int) -> None:
    size = mixture_steps.chunk_rows(d)
    X, q = rows(5 * size + 77, d, 1), model(kind, 4, d, 1)
    w = np.random.default_rng(2).uniform(0.5, 2, len(X))
    scaling = Standardization(X.mean(axis=0), np.ones(d, dtype=np.int32))
    whole = MemoryEngine(X, w).reduce(mixture_steps.sweep, scaling, q).moments
    engines = [MemoryEngine(X, w, n_threads=t) for t in (2, 3, 5, 64)]
    engines += [MemoryEngine(X, w, block_rows=b, align=size) for b in (1, 2 * size - 5)]
    for engine in engines:
        found = engine.reduce(mixture_steps.sweep, scaling, q).moments
        assert_same_bits(found, whole)


@given(
    kind=st.sampled_from(KINDS),
    k=st.integers(1, 6),
    d=st.integers(1, 30),
    chunks=st.floats(0.01, 3.5),
    weighted=st.booleans(),
    narrow=st.booleans(),
    seed=st.integers(0, 2**20),
)
@settings(max_examples=150, deadline=None)
def test_same_bits_in_many_cases(
    kind: Kind, k: int, d: int, chunks: float, weighted: bool, narrow: bool, seed: int
) -> None:
    """Threads, blocks, float32 of the same values: 1,200 sweeps, each equal to the first."""
    size = mixture_steps.chunk_rows(d)
    tile = rows(1 + seed % 500, d, seed).astype(np.float32).astype(np.float64)
    X = np.resize(tile, (max(1, int(chunks * size)), d))
    w = np.random.default_rng(seed).uniform(0.5, 2, len(X)) if weighted else None
    q, scaling = (
        model(kind, k, d, seed),
        Standardization(tile.mean(axis=0), np.zeros(d, dtype=np.int32)),
    )
    first = MemoryEngine(X, w).reduce(mixture_steps.sweep, scaling, q).moments
    same = X.astype(np.float32) if narrow else X
    engines = [MemoryEngine(same, w, n_threads=t) for t in (1, 2, 3, 5, 64)]
    engines += [MemoryEngine(same, w, block_rows=b, align=size) for b in (1, 7, 2 * size)]
    for engine in engines:
        found = engine.reduce(mixture_steps.sweep, scaling, q).moments
        assert_same_bits(found, first)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("d", [2, 7, 20, 70])
def test_the_likelihood_alone_is_that_of_a_sweep(kind: Kind, d: int) -> None:
    size = mixture_steps.chunk_rows(d)
    X, q = rows(2 * size + 4500, d, 3), model(kind, 4, d, 3)
    scaling = Standardization(X.mean(axis=0), np.ones(d, dtype=np.int32))
    whole = MemoryEngine(X).reduce(mixture_steps.sweep, scaling, q).log_likelihood
    for engine in (MemoryEngine(X, n_threads=3), MemoryEngine(X, block_rows=1, align=size)):
        assert engine.reduce(mixture_steps.sweep, scaling, q, moments=False).log_likelihood == whole


def test_blocks_may_be_added_in_any_order() -> None:
    X, q = rows(7 * 8192 + 3, 2, 4), model("full", 3, 2, 4)
    scaling = Standardization.plain(2)
    blocks = MemoryEngine(X, block_rows=8192).blocks
    parts = [mixture_steps.sweep(block, scaling, q) for block in blocks]
    whole = MemoryEngine(X).reduce(mixture_steps.sweep, scaling, q).moments
    for order in ([3, 0, 7, 1, 6, 2, 5, 4], [7, 6, 5, 4, 3, 2, 1, 0]):
        total = parts[order[0]]
        for i in order[1:]:
            total = total + parts[i]
        assert total.moments.log_likelihood == whole.log_likelihood
        assert np.array_equal(total.moments.second, whole.second)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("d", [1, 2, 3, 5, 9])
def test_float32_equals_float64_of_the_same_values(kind: Kind, d: int) -> None:
    X, q = rows(1000, d, 3).astype(np.float32), model(kind, 3, d, 3)
    scaling = Standardization.plain(d)
    narrow = MemoryEngine(X).reduce(mixture_steps.sweep, scaling, q).moments
    wide = MemoryEngine(X.astype(np.float64)).reduce(mixture_steps.sweep, scaling, q).moments
    assert narrow.log_likelihood == wide.log_likelihood
    assert np.array_equal(narrow.first, wide.first)


@pytest.mark.parametrize("kind", ["full", "diag", "spherical"])
@pytest.mark.parametrize("d", [2, 6])
def test_moments_of_labels_and_degrees(kind: Kind, d: int) -> None:
    X, labels = rows(700, d, 8), (np.arange(700) % 3).astype(np.int32)
    centres, scaling = rows(3, d, 9), Standardization.plain(d)
    engine = MemoryEngine(X)
    by_label = engine.reduce(mixture_steps.label_moments, scaling, kind, labels, centres).moments
    degrees = np.eye(3)[labels]
    by_degree = engine.reduce(mixture_steps.degree_moments, scaling, kind, degrees, centres).moments
    z = X[labels == 1] - centres[1]
    np.testing.assert_allclose(by_label.mass, np.bincount(labels))
    np.testing.assert_allclose(by_label.first[1], z.sum(axis=0), atol=1e-10)
    wanted = in_kind(np.einsum("ni,nj->ij", z, z)[None], kind)[0]
    np.testing.assert_allclose(by_label.second[1], wanted, atol=1e-10)
    assert np.array_equal(by_label.second, by_degree.second)


def test_moments_about_other_centres() -> None:
    X = rows(500, 6, 3)
    for kind in ("full", "diag"):
        q = model(kind, 3, 6, 3)
        moved = Densities(kind, q.offsets, q.means, q.factors, q.means + 0.5)
        check(X, None, moved, MemoryEngine(X))


def test_a_component_without_weight_gets_exactly_nothing() -> None:
    X, q = rows(400, 3, 1), model("full", 3, 3, 1)
    q.offsets[1] = -np.inf
    found = MemoryEngine(X).reduce(mixture_steps.sweep, Standardization.plain(3), q).moments
    assert found.mass[1] == 0
    assert np.isfinite(found.log_likelihood)


@pytest.mark.parametrize("labels", [[0, 1, 2], [0, -1], [0, 3]])
def test_labels_that_do_not_fit_are_refused(labels: list[int]) -> None:
    X = rows(2, 2, 0)
    with pytest.raises(ValueError, match="expected"):
        _native.Mixture(
            _native.Team(1),
            "full",
            np.zeros(2),
            np.ones(2),
            np.zeros(3),
            np.zeros((3, 2)),
            np.zeros(9),
            None,
        ).sums_of_labels(MemoryEngine(X).blocks[0].rows, 0, np.array(labels, dtype=np.int32))
