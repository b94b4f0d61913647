"""choosing/decide.py: the method that suits the data, and columns that need scaling."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from coterie import choose_eps, choose_k
from coterie.choosing.decide import Evidence, UnequalSpreads, unequal_spreads
from coterie.data import blobs, moons


@cache
def evidence(shape: str) -> Evidence:
    random = np.random.default_rng(0)
    X = {
        "round": lambda: blobs(150, 3, seed=0)[0],
        "moons": lambda: moons(200)[0],
        "crossing": lambda: random.normal(size=(300, 2)) * np.repeat([[9, 1], [1, 9]], 150, 0),
    }[shape]()
    mixture = choose_k(X, 5, method="mixture")
    return Evidence(X, choose_k(X, 6), mixture, choose_eps(X))


@pytest.mark.parametrize(
    ("shape", "method", "says"),
    [
        ("round", "kmeans", "3 clusters: the mean silhouette is largest there"),
        ("moons", "dbscan", "empty space sets 2 clusters apart .* they are not round"),
        ("crossing", "mixture", "BIC and ICL agree, and the clusters are not round"),
    ],
)
def test_each_method_is_taken_where_it_suits(shape: str, method: str, says: str) -> None:
    decision = evidence(shape).decide()
    assert decision.method == method
    assert re.search(says, decision.reason)


def test_methods_that_were_not_tried_are_not_taken() -> None:
    for shape in ("moons", "crossing"):
        seen = evidence(shape)
        assert Evidence(seen.X, seen.kmeans).decide().method == "kmeans"


def test_dense_clusters_need_a_range_of_eps_and_little_noise() -> None:
    seen = evidence("moons")
    assert seen.dbscan is not None
    assert seen.dense_clusters
    assert not replace(seen, dbscan=replace(seen.dbscan, plateau=(0.2, 0.21))).dense_clusters
    noisy = tuple(replace(row, noise=0.3) for row in seen.dbscan.rows)
    assert not replace(seen, dbscan=replace(seen.dbscan, rows=noisy)).dense_clusters


def test_round_dense_clusters_are_those_of_kmeans() -> None:
    assert evidence("round").kmeans_finds_dense_clusters
    assert not evidence("moons").kmeans_finds_dense_clusters


def test_columns_of_unequal_spread_are_named() -> None:
    X = np.array([[0.0, 5.0, 0.0], [1.0, 5.0, 300.0], [np.nan, 5.0, 600.0]])
    found = unequal_spreads(X)
    assert isinstance(found, UnequalSpreads)
    assert (found.wide, found.narrow) == (2, 0)
    assert found.ratio == pytest.approx(np.std([0, 300, 600]) / 0.5)
    assert unequal_spreads(X[:, :2]) is None  # a constant column spreads nowhere
    assert unequal_spreads(X * [1, 1, 1 / 100]) is None


@pytest.mark.parametrize("scale", [1e-160, 1.0, 1e200])
def test_unequal_spreads_at_every_scale(scale: float) -> None:
    """Squares of such values would vanish or overflow."""
    rng = np.random.default_rng(0)
    found = unequal_spreads(rng.normal(size=(300, 2)) * [scale, 30 * scale])
    assert found is not None
    assert (found.wide, found.narrow) == (1, 0)
    assert found.ratio == pytest.approx(30, rel=0.1)
