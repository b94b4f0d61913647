"""Blocks and answers that break the contract are errors, never wrong sums."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from support.hostile_engine import leaves_of

from coterie.engines.memory import MemoryEngine
from coterie.engines.protocol import (
    LEAF_ROWS,
    BrokenContract,
    Partial,
    by_row,
    joined,
    own_arguments,
    total,
)
from coterie.engines.select import engine_over, engines_made_by
from coterie.kernels import mixture_missing_steps, mixture_steps, scan_steps
from coterie.kernels.mixture_steps import Densities, Standardization
from coterie.kernels.tree_sum import TreeSum

X = np.random.default_rng(0).normal(size=(24_626, 2))
ONE = Densities("diag", np.zeros(1), np.zeros((1, 2)), np.ones((1, 2)))


@pytest.mark.parametrize("step", [mixture_steps.sweep, mixture_missing_steps.sweep])
def test_blocks_that_would_share_a_leaf_are_refused(step) -> None:
    engine = MemoryEngine(X, block_rows=1000)
    with pytest.raises(BrokenContract, match=r"begins at row 1000, .* at multiples of"):
        engine.reduce(step, Standardization.plain(2), ONE)
    labels = np.zeros(len(X), dtype=np.int32)
    with pytest.raises(BrokenContract, match="begins at row 1000"):
        engine.reduce(
            mixture_steps.label_moments,
            Standardization.plain(2),
            "diag",
            by_row(labels),
            np.zeros((1, 2)),
        )


def test_second_moments_need_whole_leaves() -> None:
    with pytest.raises(BrokenContract, match="begins at row 1000"):
        MemoryEngine(X, block_rows=1000).reduce(scan_steps.second_moments)
    with leaves_of(1000):
        whole, parts = (MemoryEngine(X, block_rows=b) for b in (None, 3000))
        one, other = (e.reduce(scan_steps.second_moments).total for e in (whole, parts))
    np.testing.assert_array_equal(one, other)
    np.testing.assert_allclose(one, X.T @ X, rtol=1e-12)


def test_an_aligned_engine_counts_every_row() -> None:
    for engine in (MemoryEngine(X), MemoryEngine(X, block_rows=1000, align=8192)):
        assert engine.reduce(mixture_steps.sweep, Standardization.plain(2), ONE).moments.mass == [
            len(X)
        ]


@pytest.mark.parametrize("d", [1, 2, 5, 16, 24, 64, 65, 256, 1000])
def test_leaves_of_mixtures_divide_those_of_the_contract(d: int) -> None:
    assert LEAF_ROWS % mixture_steps.chunk_rows(d) == 0


def partial(first: int, end: int, answer=1) -> Partial:
    return Partial(((first, end),), answer)


def test_a_block_that_is_counted_twice_is_refused() -> None:
    with pytest.raises(BrokenContract, match="rows 10 to 19 were counted twice"):
        total([partial(0, 20), partial(10, 30)], 30)
    with pytest.raises(BrokenContract, match="rows 0 to 4 were counted twice"):
        joined([partial(0, 5, np.zeros(5)), partial(0, 5, np.zeros(5))], 5)


@pytest.mark.parametrize("first", [0, 5, 20])
def test_a_block_that_is_left_out_is_refused(first: int) -> None:
    ranges = [(0, 5), (5, 20), (20, 30)]
    parts = [partial(a, b) for a, b in ranges if a != first]
    with pytest.raises(BrokenContract, match="should count rows 0 to 29: an engine must ask every"):
        total(parts, 30)
    arrays = [partial(a, b, np.zeros(b - a)) for a, b in ranges if a != first]
    with pytest.raises(BrokenContract, match="should count rows 0 to 29"):
        joined(arrays, 30)


def test_partial_answers_are_added_in_any_order() -> None:
    parts = [partial(i, i + 1, 10**i) for i in range(5)]
    for order in itertools.permutations(parts):
        assert total(order, 5) == 11111
    pair = parts[3] + parts[1]
    assert pair.ranges == ((1, 2), (3, 4))
    assert total([pair, parts[0], parts[4] + parts[2]], 5) == 11111


def test_arrays_are_joined_in_the_order_of_the_rows() -> None:
    parts = [partial(i, i + 2, np.arange(i, i + 2)) for i in (4, 0, 2)]
    assert joined(parts, 6).tolist() == [0, 1, 2, 3, 4, 5]


def test_every_block_gets_its_own_rows_of_an_argument() -> None:
    labels = np.arange(10)
    assert own_arguments(3, 4, (by_row(labels), "other"))[0].tolist() == [3, 4, 5, 6]
    assert own_arguments(3, 4, (by_row(labels), "other"))[1] == "other"


def test_sums_of_leaves_do_not_depend_on_the_order() -> None:
    rng = np.random.default_rng(1)
    for n in range(1, 12):
        leaves = [(i, rng.normal(size=3) * 2.0 ** rng.integers(-40, 40)) for i in range(n)]
        expected = TreeSum.of_leaves(leaves).total
        for _ in range(20):
            order = rng.permutation(n)
            cut = int(rng.integers(0, n + 1))
            parts = [
                TreeSum.of_leaves(leaves[i] for i in some) for some in (order[:cut], order[cut:])
            ]
            np.testing.assert_array_equal((parts[0] + parts[1]).total, expected)


def test_a_leaf_that_is_added_twice_is_refused() -> None:
    one = np.ones(1)
    tree = TreeSum.of_leaves([(0, one), (2, one)])
    with pytest.raises(BrokenContract, match="leaves from 2 to 2 were added twice"):
        tree + TreeSum.of_leaves([(2, one)])
    joined_leaves = TreeSum.of_leaves((i, one) for i in range(4))
    for leaf in range(4):
        again = TreeSum.of_leaves([(leaf, one)])
        for both in ((joined_leaves, again), (again, joined_leaves)):
            with pytest.raises(BrokenContract, match=f"leaves from {leaf} to {leaf} were added"):
                both[0] + both[1]


def test_engines_are_made_where_they_are_asked_for() -> None:
    made = []

    def maker(rows, weights, team):
        made.append((rows, weights, team))
        return MemoryEngine(rows, weights, team=team)

    with engines_made_by(maker):
        assert engine_over(X).n_rows == len(X)
    engine_over(X)
    assert len(made) == 1
