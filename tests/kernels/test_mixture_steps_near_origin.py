"""Components near the origin: no mean is subtracted, and moments are moved to the means."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.kmeans_cases import LEVELS, level
from support.mixture_cases import (
    KINDS,
    assert_same_bits,
    check_somewhere,
    expected,
    in_kind,
    near,
    rows,
)

from coterie.engines.memory import MemoryEngine
from coterie.kernels import mixture_steps, triangles
from coterie.kernels.mixture_steps import Densities, Kind, Standardization


def identity(kind: Kind, k: int, d: int) -> Any:
    """Factors of components as wide as one in all directions."""
    if kind == "full":
        return triangles.packed(np.broadcast_to(np.eye(d), (k, d, d)))
    return np.ones((k, d) if kind == "diag" else k)


@given(
    kind=st.sampled_from(KINDS),
    d=st.integers(1, 26),
    k=st.integers(1, 20),
    n=st.integers(1, 700),
    within=st.sampled_from([0.1, 1.0, 3.0, 7.9, 8.1]),
    weighted=st.booleans(),
    simd=st.sampled_from(LEVELS),
    seed=st.integers(0, 2**20),
)
@settings(max_examples=200, deadline=None)
def test_components_near_the_origin(
    kind: Kind, d: int, k: int, n: int, within: float, weighted: bool, simd: str, seed: int
) -> None:
    X, q = rows(n, d, seed), near(kind, k, d, seed, within)
    check_somewhere(X, q, weighted, simd, seed)


@pytest.mark.parametrize("simd", LEVELS)
@pytest.mark.parametrize("d", [8, 16, 24])
@pytest.mark.parametrize("k", [12, 13, 24, 25, 50])
def test_moments_of_more_components_than_registers_hold(k: int, d: int, simd: str) -> None:
    """As many components as a kernel sums together, one more, and more than twice as many."""
    for n in (255, 300):
        check_somewhere(rows(n, d, k), near("full", k, d, k, 1.0), n == 300, simd, k)


@pytest.mark.parametrize("kind", ["full", "diag", "spherical"])
@pytest.mark.parametrize("d", [3, 8, 16])
@pytest.mark.parametrize("simd", LEVELS)
def test_moments_about_the_origin_are_taken_where_they_keep_their_digits(
    kind: Kind, d: int, simd: str
) -> None:
    """Last bits tell the path of the sums: wrong ones would be taken again on the slow path.

    One more component, farther off than eight deviations and next to empty, asks for that path.
    """
    k, engine = 8, MemoryEngine(0.3 * rows(600, d, 5))
    q = Densities(kind, np.zeros(k), np.eye(k, d), identity(kind, k, d))
    far = np.full((1, d), 12 / np.sqrt(d))
    more = Densities(kind, np.r_[q.offsets, -150.0], np.r_[q.means, far], identity(kind, k + 1, d))
    with level(simd):
        fast, slow = (
            engine.reduce(mixture_steps.sweep, Standardization.plain(d), each).moments
            for each in (q, more)
        )
    assert fast.second is not None
    assert slow.second is not None
    np.testing.assert_allclose(fast.second, slow.second[:k], rtol=0, atol=1e-12 * 600)
    assert not np.array_equal(fast.second, slow.second[:k])


@pytest.mark.parametrize("kind", ["full", "diag", "spherical"])
@pytest.mark.parametrize("d", [2, 3, 8])
@pytest.mark.parametrize("width", [1e-1, 1e-3, 1e-6])
def test_moments_about_the_origin_are_not_taken_where_they_would_lose_digits(
    kind: Kind, d: int, width: float
) -> None:
    """Wide components whose rows lie close to their means: after this step they are narrow."""
    k = 4
    random = np.random.default_rng(1)
    means = np.zeros((k, d))
    means[range(k), [0, 0, 1, 1]] = [7.8, -7.8, 7.8, -7.8]
    X = np.repeat(means, 500, axis=0) + width * random.normal(size=(500 * k, d))
    q = Densities(kind, np.zeros(k), means, identity(kind, k, d))
    found = MemoryEngine(X).reduce(mixture_steps.sweep, Standardization.plain(d), q).moments
    wanted = in_kind(expected(X, None, q)[4], kind).astype(float)
    assert found.second is not None
    np.testing.assert_allclose(found.second, wanted, rtol=0, atol=1e-13 * wanted.max())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("simd", LEVELS)
def test_rows_whose_distance_overflows_do_so_to_one_side(kind: Kind, simd: str) -> None:
    """Near the origin, products with means could overflow to the other side."""
    q = near(kind, 3, 3, 2, 5.0)
    sizes = [1e155, 1e200, 1e300, 1e306, 1.7e308]
    X = np.concatenate([size * (q.means / np.abs(q.means).max()) for size in sizes])
    X = np.concatenate([X, -X, np.eye(3) * 1e308, np.ones((9, 3))])
    with level(simd):
        found = MemoryEngine(X).gather(mixture_steps.score_samples, Standardization.plain(3), q)
    assert np.all(np.isneginf(found[:-9]))
    np.testing.assert_allclose(found[-9:], expected(X[-9:], None, q)[0].astype(float))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("k", "d"), [(5, 2), (3, 5), (8, 13), (20, 16), (12, 24)])
def test_same_bits_for_threads_and_blocks_near_the_origin(kind: Kind, k: int, d: int) -> None:
    size = mixture_steps.chunk_rows(d)
    X, q = np.resize(rows(999, d, 1), (3 * size + 77, d)), near(kind, k, d, 1)
    scaling = Standardization.plain(d)
    whole = MemoryEngine(X).reduce(mixture_steps.sweep, scaling, q).moments
    engines = [MemoryEngine(X, n_threads=t) for t in (2, 5)]
    engines += [MemoryEngine(X, block_rows=size, align=size)]
    for engine in engines:
        found = engine.reduce(mixture_steps.sweep, scaling, q).moments
        assert_same_bits(found, whole)
