"""The grid of the plane gives DBSCAN's definition, for any place of cells and their edges."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from support.kmeans_cases import LEVELS, THREADS, level, thorough

from coterie.kernels.dbscan_steps import Measure
from kernels.test_dbscan_indexes import Case, assert_same, definition, make_weights, run

PLANES = (
    "normal",
    "lattice",
    "tenths",
    "cells",
    "duplicates",
    "offset",
    "line",
    "same",
    "crowds",
    "wide",
)
WEIGHTS = ("none", "none", "none", "whole", "signed", "tenths")


def make_plane(kind: str, n: int, rng: np.random.Generator) -> NDArray[np.float64]:
    normal = rng.normal(size=(n, 2))
    match kind:
        case "lattice":
            return rng.integers(0, 9, size=(n, 2)).astype(float)
        case "tenths":  # ties at eps, of the kind that rounding decides
            return rng.integers(0, 9, size=(n, 2)) * 0.1
        case "cells":  # on the edges of cells for an eps of one, and beside them
            edges = rng.integers(0, 7, size=(n, 2)) / np.sqrt(2)
            return edges * (1 + rng.integers(-1, 2, size=(n, 2)) * 1e-5)
        case "duplicates":
            return normal[rng.integers(max(1, n // 5), size=n)]
        case "offset":
            return np.round(normal, 1) + np.array([1e9, -3e8])
        case "line":
            normal[:, 1] = 0.25
        case "same":
            return np.full((n, 2), 0.1)
        case "crowds":  # full cells beside each other, mostly just out of reach
            return rng.integers(0, 3, size=(n, 2)) * 1.1 + 0.05 * normal
        case "wide":
            return 40 * normal
    return normal


@st.composite
def planes(draw: st.DrawFn, max_n: int = 150) -> Case:
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(1, max_n))
    X = make_plane(draw(st.sampled_from(PLANES)), n, rng)
    eps = float(
        draw(st.sampled_from([0.1, 0.2, 0.1 * np.sqrt(2), 0.3, 0.5, 1.0, np.sqrt(2), 2.0, 5.0]))
        * draw(st.sampled_from([1.0, 1.0, 1.0, 1 - 1e-7, 1 + 1e-7, 1e-3, 1e5]))
    )
    if draw(st.booleans()):
        X = X.astype(np.float32)
    weights = make_weights(draw(st.sampled_from(WEIGHTS)), n, rng)
    return Case(X, Measure(eps), draw(st.sampled_from([1, 2, 3, 4, 6, 10, 30])), weights)


@thorough(3000)
@given(case=planes(), threads=st.sampled_from([1, 1, 2, 3]))
def test_the_grid_is_the_definition(case: Case, threads: int) -> None:
    assert_same(run(case, "grid", threads), definition(case))


@thorough(300)
@given(case=planes(), name=st.sampled_from(LEVELS))
def test_counts_at_every_level(case: Case, name: str) -> None:
    with level(name):
        found = run(case, "grid", counts=True)
    expected = run(case, "brute", counts=True)
    assert_same(found, expected)
    np.testing.assert_array_equal(found.counts, expected.counts)


def plane(kind: str, n: int = 20_000, seed: int = 0) -> NDArray[np.float64]:
    return make_plane(kind, n, np.random.default_rng(seed))


@pytest.mark.parametrize("kind", PLANES)
@pytest.mark.parametrize("eps", [0.02, 0.3])
@pytest.mark.parametrize("min_samples", [4, 60])
def test_many_points_are_as_with_the_tree(kind: str, eps: float, min_samples: int) -> None:
    for X in (plane(kind), plane(kind).astype(np.float32)):
        case = Case(X, Measure(eps), min_samples)
        found = run(case, "grid", threads=2)
        assert_same(found, run(case, "tree", threads=2))


@pytest.mark.parametrize("kind", ["normal", "tenths", "crowds"])
def test_threads_do_not_matter(kind: str) -> None:
    weights = make_weights("tenths", 20_000, np.random.default_rng(1))
    for some in (None, weights):
        n = 20_000 if some is None else 4000
        case = Case(plane(kind)[:n], Measure(0.03), 5, None if some is None else some[:n])
        expected = run(case, "grid", threads=1)
        assert expected.index == "grid"
        for threads in THREADS[1:]:
            assert_same(run(case, "grid", threads), expected)


def test_full_cells_beside_each_other() -> None:
    """Two dense lines just within eps of each other, just out of it, and exactly at it."""
    rng = np.random.default_rng(0)
    for gap, clusters in ((0.999999, 1), (1.0, 1), (1.000001, 2)):
        y = np.repeat([0.0, gap], 3000)
        x = np.where(y == 0, rng.uniform(0, 0.3, 6000), rng.uniform(0, 0.3, 6000))
        x[[0, -1]] = 0.15
        found = run(Case(np.column_stack([x, y]), Measure(1.0), 5), "grid", threads=2)
        assert (found.index, found.n_clusters) == ("grid", clusters)


def test_the_choice_and_its_reason() -> None:
    X = plane("normal")
    found = run(Case(X, Measure(0.05), 5))
    assert found.index == "grid"
    assert "points in an occupied cell" in found.why
    assert found.why in str(found)
    counted = run(Case(X, Measure(0.05), 5), counts=True)
    assert (counted.index, counted.why) == ("tree", "all neighbours of every point are asked for")
    refused = {
        "two columns": Case(np.ones((9, 3)), Measure(1.0), 5),
        "Euclidean distance": Case(X, Measure(0.05, "manhattan"), 5),
        "too wide for cells": Case(np.vstack([X, [[1e9, 0.0]]]), Measure(0.05), 5),
        "cells of a grid would be empty": Case(np.vstack([X, [[2e3, 2e3]]]), Measure(0.05), 5),
    }
    for why, case in refused.items():
        for index in ("auto", "grid"):
            found = run(case, index)
            assert found.index == "tree" or "wide" in why
            assert why in found.why
    assert run(Case(X, Measure(0.05), 5), "tree").why == "asked for"
