"""DBSCAN where squares, powers and sums of weights leave the float64 numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse

from coterie import DBSCAN

RNG = np.random.default_rng(0)
DIRECTIONS = np.concatenate(
    [RNG.normal(size=(30, 3)) * 0.05 + [1, 0, 0], RNG.normal(size=(30, 3)) * 0.05 + [0, 1, 0]]
)
SQUARE = RNG.integers(0, 12, (120, 2)).astype(float)


def same(model: DBSCAN, expected: DBSCAN) -> None:
    np.testing.assert_array_equal(model.labels_, expected.labels_)
    np.testing.assert_array_equal(model.n_neighbors_, expected.n_neighbors_)
    np.testing.assert_array_equal(model.kind_, expected.kind_)


# Directions


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("lengths", [2.0**-1000, 2.0**-540, 2.0**510, 2.0**1000, "mixed"])
def test_lengths_of_rows_do_not_matter_to_cosine_distance(form: Any, lengths: Any) -> None:
    exponents = np.resize([0, -1000, 700, -5, 1010], len(DIRECTIONS))
    factors = np.ldexp(1.0, exponents)[:, None] if lengths == "mixed" else lengths
    X = DIRECTIONS * factors
    expected = DBSCAN(0.05, min_samples=4, metric="cosine", count_neighbors=True, trace=True)
    model = DBSCAN(**expected.get_params())
    same(model.fit(form(X)), expected.fit(DIRECTIONS))
    assert expected.n_clusters_ == 2
    assert [wave.rows.tolist() for wave in model.trace_] == [
        wave.rows.tolist() for wave in expected.trace_
    ]
    components = model.components_.toarray() if sparse.issparse(form(X)) else model.components_
    np.testing.assert_array_equal(components, X[model.core_sample_indices_])
    for new in (X, DIRECTIONS):
        np.testing.assert_array_equal(model.predict(form(new)), expected.labels_)
    np.testing.assert_array_equal(expected.predict(form(X)), expected.labels_)


def test_rows_of_zeros_have_no_direction_at_any_scale() -> None:
    X = np.array([[0.0, 0], [0, 0], [1e-300, 1e-300], [1e300, 1e300]])
    model = DBSCAN(0.1, min_samples=2, metric="cosine").fit(X)
    assert model.labels_.tolist() == [-1, -1, 0, 0]


# Powers


@pytest.mark.parametrize("power", [-1030, -300, 300, 1000])
@pytest.mark.parametrize("p", [1.5, 3.0, 20.0])
def test_scale_does_not_matter_to_minkowski_distance(p: float, power: int) -> None:
    X, eps = np.ldexp(SQUARE, power), float(np.ldexp(1.5, power))
    expected = DBSCAN(1.5, min_samples=4, metric="minkowski", p=p, count_neighbors=True)
    model = DBSCAN(**{**expected.get_params(), "eps": eps})
    same(model.fit(X), expected.fit(SQUARE))
    np.testing.assert_array_equal(model.predict(X + eps / 4), expected.predict(SQUARE + 0.375))
    np.testing.assert_array_equal(model.components_, X[model.core_sample_indices_])


@pytest.mark.parametrize("p", [200.0, 1500.0])
@pytest.mark.parametrize("params", [None, {"w": np.ones(2)}])
def test_large_powers_are_close_to_the_largest_difference(p: float, params: Any) -> None:
    """With eps between the distances of a lattice. A power of 0.01, or of 150, is no float64
    number."""
    for size in (1.0, 0.01, 100.0):
        expected = DBSCAN(1.4 * size, min_samples=6, metric="chebyshev", count_neighbors=True)
        model = DBSCAN(**expected.get_params())
        model.set_params(metric="minkowski", p=p, metric_params=params)
        same(model.fit(size * SQUARE), expected.fit(size * SQUARE))
        assert 1 < expected.n_clusters_ < 20
        new = size * (SQUARE + 0.25)
        np.testing.assert_array_equal(model.predict(new), expected.predict(new))


@pytest.mark.parametrize("params", [None, {"w": np.ones(2)}])
def test_a_power_that_float64_cannot_hold_is_refused(params: Any) -> None:
    model = DBSCAN(1.4, metric="minkowski", p=1e6, metric_params=params)
    with pytest.raises(ValueError, match=r"p=1e\+06.*eps=1.4.*at most 1978 .*'chebyshev'"):
        model.fit(SQUARE)
    # A power of one is one: points at that distance are nearby, and no others.
    largest = DBSCAN(1.0, min_samples=2, metric="chebyshev", count_neighbors=True).fit(SQUARE)
    steps = np.abs(SQUARE[:, None] - SQUARE).sum(axis=2) <= 1
    model.set_params(eps=1.0, min_samples=2, count_neighbors=True).fit(SQUARE)
    assert (model.n_neighbors_ <= largest.n_neighbors_).all()
    np.testing.assert_array_equal(model.n_neighbors_, steps.sum(axis=1))


def test_rows_too_far_from_zero_for_a_power_are_refused() -> None:
    with pytest.raises(ValueError, match=r"eps=1e-200 is too small.*up to 1e\+200.*p=3"):
        DBSCAN(1e-200, metric="minkowski", p=3).fit(np.array([[1e200], [0.0]]))


# Weights


@pytest.mark.parametrize("metric", ["euclidean", "canberra"])
@pytest.mark.parametrize(
    ("weights", "core"),
    [
        ([1e308] * 3, True),
        ([1.7e308, 1.7e308, -1.0], True),
        ([1.7e308, 1.7e308, -1.7e308, -1.7e308, 3.0], True),
        ([1.7e308, 1.7e308, -1.7e308, -1.7e308, np.nextafter(3.0, 0)], False),
        ([1.7e308, -1.7e308, 1.7e308, -1.7e308, 1.0, 1.0, 1.0], True),
        ([-1.7e308] * 3, False),
        ([1.7e308, -1.7e308, 2.0, 2.0**-52, 1e-16, 1.0 - 2.0**-52], True),
    ],
    ids=str,
)
def test_sums_of_weights_beyond_float64_are_exact(
    weights: list[float], core: bool, metric: str
) -> None:
    for order in (weights, weights[::-1]):
        X: NDArray[np.float64] = np.ones((len(order), 1))
        model = DBSCAN(1.0, min_samples=3, metric=metric).fit(X, sample_weight=order)
        assert model.labels_.tolist() == [0 if core else -1] * len(order)


def test_weights_that_no_sum_can_hold_are_refused() -> None:
    with pytest.raises(ValueError, match=r"from 1e-300 to 1.7e.308 in magnitude.*to zero"):
        DBSCAN(1.0).fit(np.ones((3, 1)), sample_weight=[1.7e308, 1.7e308, 1e-300])
    DBSCAN(1.0).fit(np.ones((3, 1)), sample_weight=[1e300, 1.0, 1e-300])
