"""Nearest rows and spanning tree are those of the definition, at every level and thread count."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from support.hostile_points import make_points
from support.kmeans_cases import LEVELS, THREADS, level, thorough

from coterie.algorithms.dbscan.every_eps import Path, build_path
from coterie.kernels import _native, reference
from coterie.kernels.block import Block
from coterie.kernels.dbscan_path_steps import METRICS, Reachability
from coterie.kernels.reference.dbscan_path import distances

KINDS = ("normal", "tenths", "duplicates", "offset", "outlier", "line", "same")


def rows(kind: str, n: int, d: int, seed: int) -> NDArray[np.float64]:
    return make_points(kind, n, d, np.random.default_rng(seed))


def build(
    X: NDArray[Any], min_samples: int, metric: str = "euclidean", threads: int = 1, unit: float = 1
) -> Path:
    block = Block.over(X, None, _native.Team(threads))
    return build_path(block, metric, unit, min_samples)


def arrays(path: Path) -> list[NDArray[Any]]:
    near, chain = path.near, path.chain
    return [near.core, near.member, near.sums, near.neighbours, chain.order, chain.height]


def assert_is_the_definition(path: Path, X: NDArray[Any], min_samples: int, metric: str) -> None:
    expected = reference.thresholds(X, min_samples, metric=metric)
    np.testing.assert_array_equal(path.near.core, expected.core)
    np.testing.assert_array_equal(path.near.member, expected.member)
    np.testing.assert_array_equal(np.sort(path.chain.height)[:-1], expected.merge)
    np.testing.assert_array_equal(np.sort(path.chain.order), np.arange(len(X)))
    # The lists: the smallest distances of each row, and the rows that have them.
    d = distances(X, metric)
    here = np.arange(len(X))[:, np.newaxis]
    np.testing.assert_array_equal(d[here, path.near.neighbours], path.near.sums)
    assert not (path.near.neighbours == here).any()
    np.fill_diagonal(d, -1.0)
    k = path.near.sums.shape[1]
    np.testing.assert_array_equal(np.sort(d, axis=1)[:, 1 : k + 1], path.near.sums)


@thorough(800)
@given(
    kind=st.sampled_from(KINDS),
    n=st.integers(1, 150),
    d=st.one_of(st.integers(1, 6), st.integers(7, 40)),
    min_samples=st.one_of(st.integers(1, 8), st.integers(9, 160)),
    metric=st.sampled_from(METRICS),
    single=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
    name=st.sampled_from(LEVELS),
)
def test_the_definition(
    kind: str, n: int, d: int, min_samples: int, metric: str, single: bool, seed: int, name: str
) -> None:
    X = rows(kind, n, d, seed).astype(np.float32 if single else np.float64)
    with level(name):
        assert_is_the_definition(build(X, min_samples, metric), X, min_samples, metric)


@pytest.mark.parametrize("kind", ["normal", "tenths", "duplicates", "offset"])
@pytest.mark.parametrize(("d", "metric"), [(1, "euclidean"), (3, "manhattan"), (9, "euclidean")])
def test_more_rows(kind: str, d: int, metric: str) -> None:
    X = rows(kind, 1500, d, 5)
    assert_is_the_definition(build(X, 6, metric, threads=2), X, 6, metric)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("d", [2, 7])
def test_threads_do_not_matter(kind: str, d: int) -> None:
    """Threads do not decide between equally short edges either."""
    X = rows(kind, 9000, d, 3)
    expected = arrays(build(X, 5, threads=1))
    for threads in (*THREADS[1:], 2, 3):
        for one, other in zip(arrays(build(X, 5, threads=threads)), expected, strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("power", [-200, 200])
def test_units_do_not_matter(power: int) -> None:
    X = rows("tenths", 400, 3, 1)
    one, other = build(X, 5), build(X, 5, unit=2.0**power)
    np.testing.assert_array_equal(one.near.core * 4.0**power, other.near.core)
    heights, others = np.sort(one.chain.height), np.sort(other.chain.height)
    np.testing.assert_array_equal(heights * 4.0**power, others)


def test_wrong_calls_are_refused() -> None:
    block = Block.over(np.zeros((3, 2)), None, _native.Team(1))
    with pytest.raises(ValueError, match=r"expected metric .* got cosine"):
        Reachability(block, "cosine", 1.0, 2)
    with pytest.raises(ValueError, match="min_samples of at least 1"):
        Reachability(block, "euclidean", 1.0, 0)
    with pytest.raises(ValueError, match=r"nearest\(\) to be called first"):
        Reachability(block, "euclidean", 1.0, 2).span()
