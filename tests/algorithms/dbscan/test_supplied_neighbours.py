"""DBSCAN from supplied neighbourhoods, against the definition, and the growth of its clusters."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.kmeans_cases import thorough

from coterie.algorithms.dbscan.supplied_neighbours import (
    NeighbourCache,
    NeighbourLists,
    grow_clusters,
)
from coterie.algorithms.dbscan.trace import waves
from coterie.kernels import reference


@dataclass
class Matrix:
    """Neighbourhoods from a table of flags, which notes the rows of each call."""

    near: np.ndarray
    batch_rows: int = 3
    index: str = "table"
    why: str = "a test gives it"
    asked: list[int] = field(default_factory=list)

    @property
    def n(self) -> int:
        return len(self.near)

    def lists(self, rows):
        assert len(rows) <= self.batch_rows
        self.asked += rows.tolist()
        found = [np.flatnonzero(self.near[i]) for i in rows]
        return NeighbourLists(np.concatenate(found), np.cumsum([len(f) for f in found]))


@st.composite
def tables(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(1, 40))
    near = rng.random((n, n)) < draw(st.sampled_from([0.02, 0.08, 0.2]))
    return near | near.T | np.eye(n, dtype=bool)


@thorough(300)
@given(
    tables(),
    st.integers(1, 6),
    st.sampled_from([None, "whole", "thirds"]),
    st.sampled_from([0.0, 600.0, 1e9]),
    st.integers(1, 50),
)
def test_the_definition(near, min_samples, kind, room, batch_rows):
    rng = np.random.default_rng(len(near))
    weights = None if kind is None else rng.integers(-2, 5, size=len(near)).astype(float)
    if kind == "thirds":
        weights = weights / 3.0
    found = grow_clusters(Matrix(near, batch_rows), min_samples, weights, cache_bytes=room)
    expected = reference.clusters(near, min_samples, weights)
    np.testing.assert_array_equal(found.labels, expected.labels)
    np.testing.assert_array_equal(found.core, expected.core)
    np.testing.assert_array_equal(found.counts, near.sum(axis=1))
    assert found.n_clusters == expected.n_clusters
    assert ((found.depths >= 0) == (found.labels >= 0)).all()


def chain(n):
    """Each point is nearby the one before and the one after."""
    places = np.arange(n)
    return np.abs(places[:, None] - places) <= 1


def test_depth_is_the_number_of_steps():
    found = grow_clusters(Matrix(chain(7)), 2)
    np.testing.assert_array_equal(found.depths, np.arange(7))
    assert [wave.rows.tolist() for wave in waves(found.labels, found.depths)] == [
        [i] for i in range(7)
    ]


def test_neighbourhoods_are_asked_for_once_if_the_cache_holds_them():
    ample, scarce = Matrix(chain(9)), Matrix(chain(9))
    grow_clusters(ample, 2, cache_bytes=1e6)
    assert ample.asked == list(range(9))
    grow_clusters(scarce, 2, cache_bytes=100)
    assert sorted(scarce.asked) == sorted([*range(9), *range(9)])


def test_the_cache_stays_within_its_bytes():
    cache = NeighbourCache(Matrix(chain(30)), bytes_left=300)
    for _ in cache.fill():
        kept = sum(lists.columns.nbytes + lists.ends.nbytes for lists in cache.kept)
        assert kept <= 300
    assert not cache.kept  # too little: nothing is kept at all
    np.testing.assert_array_equal(cache.get(np.array([4])), [3, 4, 5])


def test_steps_are_told():
    told = []
    grow_clusters(Matrix(chain(3)), 2, step=told.append)
    assert told == ["count", "connect"]


def test_the_result_names_its_index():
    found = grow_clusters(Matrix(chain(3)), 2)
    assert (found.index, found.why) == ("table", "a test gives it")
    assert list(found.seconds) == ["count", "connect"]


@pytest.mark.parametrize("labels", [[], [-1, -1]])
def test_no_clusters_no_waves(labels):
    labels = np.array(labels, dtype=np.int64)
    assert waves(labels, labels) == ()
