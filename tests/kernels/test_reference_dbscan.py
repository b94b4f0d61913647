"""The reference itself: answers computed by hand, and a second, independent formula."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from coterie.kernels import reference
from coterie.kernels.reference.dbscan import predict


def test_core_border_noise_by_hand() -> None:
    X = np.array([[0.0], [1.0], [2.0], [4.0], [6.0], [7.0], [8.0], [99.0]])
    found = reference.dbscan(X, 2.0, 4)
    np.testing.assert_array_equal(found.labels, [0, 0, 0, 0, 1, 1, 1, -1])
    np.testing.assert_array_equal(np.flatnonzero(found.core), [2, 4])
    np.testing.assert_array_equal(found.near, [3, 3, 4, 3, 4, 3, 3, 1])
    assert found.n_clusters == 2
    new = np.array([[4.0], [4.5], [20.0]])
    np.testing.assert_array_equal(predict(X, found, new, 2.0), [0, 1, -1])


def test_a_distance_of_exactly_eps_is_nearby() -> None:
    assert reference.nearby(np.array([[0.0, 0.0]]), np.array([[3.0, 4.0]]), 5.0).all()
    below = np.nextafter(5.0, 0)
    assert not reference.nearby(np.array([[0.0, 0.0]]), np.array([[3.0, 4.0]]), below).any()


def test_three_thirds_are_one() -> None:
    near = np.ones((3, 3), dtype=bool)
    assert reference.clusters(near, 1, np.full(3, 1 / 3)).core.all()
    assert not reference.clusters(near, 1, np.array([1, 1, -1.5])).core.any()


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev", "minkowski", "cosine"])
def test_against_another_formula(metric: str) -> None:
    X = np.random.default_rng(0).normal(size=(40, 3))
    options = {"p": 2.5} if metric == "minkowski" else {}
    names = {"manhattan": "cityblock"}
    D = cdist(X, X, names.get(metric, metric), **options)
    for eps in (0.1, 0.5, 1.0, 2.0):
        near = reference.nearby(X, X, eps, metric=metric, **options)
        np.testing.assert_array_equal(near, eps >= D)


def test_places_on_the_globe() -> None:
    degrees = [[60.17, 24.94], [59.91, 10.75], [-33.87, 151.21]]  # Helsinki, Oslo, Sydney
    X = np.radians(degrees)

    def nearby(kilometres: float) -> list[list[bool]]:
        return reference.nearby(X, X, kilometres / 6371, metric="haversine").tolist()

    assert nearby(700) == np.eye(3, dtype=bool).tolist()
    assert nearby(850) == [[True, True, False], [True, True, False], [False, False, True]]
    assert np.all(nearby(6371 * math.pi))
    with pytest.raises(ValueError, match="no reference for metric"):
        reference.nearby(X, X, 1.0, metric="unheard of")
