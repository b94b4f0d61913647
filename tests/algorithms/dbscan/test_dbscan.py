"""DBSCAN by hand: core, border and noise, numbers of clusters, and the text of a result."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from coterie import DBSCAN
from coterie.algorithms.dbscan.dbscan import NOISE, DbscanResult, PointKind, dbscan, kinds_of
from coterie.kernels import _native
from coterie.kernels.block import Block
from coterie.kernels.dbscan_steps import INDEXES, Measure

BORDER, CORE = PointKind.BORDER, PointKind.CORE


def run(
    X: list[list[float]] | NDArray[np.float64],
    eps: float,
    min_samples: int,
    weights: list[float] | None = None,
    index: str = "auto",
) -> DbscanResult:
    w = None if weights is None else np.array(weights)
    block = Block.over(np.array(X, dtype=np.float64), w, _native.Team(1))
    return dbscan(block, Measure(eps), min_samples, index=index, counts=True)


@pytest.mark.parametrize("index", INDEXES)
def test_core_border_noise(index: str) -> None:
    #     0    1    2    3         4         5
    X = [[0.0], [1.0], [2.0], [3.0], [9.0], [4.0]]
    found = run(X, 1.0, 3, index=index)
    assert found.counts is not None
    assert found.counts.tolist() == [2, 3, 3, 3, 1, 2]
    assert kinds_of(found.labels, found.core).tolist() == [
        BORDER,
        CORE,
        CORE,
        CORE,
        PointKind.NOISE,
        BORDER,
    ]
    assert found.labels.tolist() == [0, 0, 0, 0, -1, 0]


def test_noise_as_a_kind_is_not_noise_as_a_label() -> None:
    kinds = kinds_of(np.array([NOISE, 0, 3]), np.array([False, False, True]))
    assert [PointKind(kind).name for kind in kinds] == ["NOISE", "BORDER", "CORE"]
    assert kinds.tolist() == [0, 1, 2]
    assert DBSCAN.KINDS == ("noise", "border", "core")


@pytest.mark.parametrize("index", INDEXES)
def test_a_border_joins_the_lowest_numbered_cluster(index: str) -> None:
    """Row 0 is reached from both sides; the cluster of the smaller core row has number 0."""
    right, left = [[2.0], [2.1], [2.2]], [[0.0], [-0.1], [-0.2]]
    for sides in (left + right, right + left):
        found = run([[1.0], *sides], 1.0, 4, index=index)
        assert found.n_clusters == 2
        assert found.labels.tolist() == [0, 0, 0, 0, 1, 1, 1]
        assert kinds_of(found.labels, found.core).tolist() == [
            BORDER,
            CORE,
            BORDER,
            BORDER,
            CORE,
            BORDER,
            BORDER,
        ]


@pytest.mark.parametrize("index", INDEXES)
def test_weights_count_as_copies_and_may_be_negative(index: str) -> None:
    X = [[0.0], [0.5], [10.0]]
    assert run(X, 1.0, 3, index=index).core.tolist() == [False, False, False]
    assert run(X, 1.0, 3, [1, 2, 3], index=index).core.tolist() == [True, True, True]
    assert run(X, 1.0, 3, [4, -2, 3], index=index).core.tolist() == [False, False, True]
    # 0.3 + 0.7 is a little less than one, and rounds to it.
    assert run(X, 1.0, 1, [0.3, 0.7, 0.9], index=index).core.tolist() == [True, True, False]


@pytest.mark.parametrize("index", INDEXES)
def test_a_distance_of_exactly_eps_is_nearby(index: str) -> None:
    assert run([[0.0, 0.0], [3.0, 4.0]], 5.0, 2, index=index).n_clusters == 1
    assert run([[0.0, 0.0], [3.0, 4.0]], np.nextafter(5.0, 0), 2, index=index).n_clusters == 0


def test_a_result_as_text() -> None:
    found = run([[0.0], [0.1], [5.0]], 1.0, 2)
    assert list(found.seconds) == ["index", "count", "connect", "label"]
    assert str(found).startswith("1 clusters, 2 core points, 1 of 3 points are noise, in ")
    assert found.index in str(found)
