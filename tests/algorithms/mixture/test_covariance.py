"""Families of covariances: estimates, floors, factors, samples, counts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.mixture import GaussianMixture
from support.mixture import OF_SCIKIT_LEARN

from coterie.algorithms.mixture.covariance import FAMILIES, NotPositiveDefinite, fixed
from coterie.algorithms.mixture.covariance import family as family_module
from coterie.algorithms.mixture.covariance.floor import Floor, root_of
from coterie.kernels.mixture_steps import Moments, Standardization
from coterie.kernels.triangles import packed, symmetric

NAMES = list(FAMILIES)


def some_covariances(name: str, k: int, d: int) -> Any:
    random = np.random.default_rng(0)
    A = random.normal(size=(k, d, d))
    C = A @ A.transpose(0, 2, 1) + np.eye(d)
    return {
        "full": C,
        "tied": C[0],
        "diag": np.diagonal(C, axis1=1, axis2=2).copy(),
        "spherical": C[:, 0, 0].copy(),
    }[name]


@pytest.mark.parametrize("name", NAMES)
def test_factors_are_roots_of_the_precisions(name: str) -> None:
    family, C = FAMILIES[name], some_covariances(name, 3, 4)
    assert C.shape == family.shape(3, 4)
    plain = Standardization.plain(4)
    U = family.factors_in_data_units(family.factors(family.standardized(C, plain)), plain)
    np.testing.assert_allclose(
        family.matrices(family.precisions(U), 3, 4) @ family.matrices(C, 3, 4),
        np.broadcast_to(np.eye(4), (3, 4, 4)),
        atol=1e-12,
    )


@pytest.mark.parametrize("name", OF_SCIKIT_LEARN)
def test_count_of_parameters_is_that_of_scikit_learn(name: str) -> None:
    X = np.random.default_rng(0).normal(size=(60, 4))
    peer = GaussianMixture(3, covariance_type=name, max_iter=100, random_state=0).fit(X)
    assert FAMILIES[name].n_parameters(3, 4) == peer._n_parameters()


@pytest.mark.parametrize("name", NAMES)
def test_standardized_units_and_back_are_exact(name: str) -> None:
    family, C = FAMILIES[name], some_covariances(name, 3, 4)
    exponent = np.array([5, 5, 5, 5] if family.isotropic else [5, -3, 0, 300], dtype=np.int32)
    scaling = Standardization(np.zeros(4), exponent)
    standardized = family.standardized(C, scaling)
    assert np.array_equal(family.in_data_units(standardized, scaling), C)
    unscaled = family.standardized(C, plain := Standardization.plain(4))
    np.testing.assert_allclose(
        family.factors_in_data_units(family.factors(standardized), scaling),
        family.factors_in_data_units(family.factors(unscaled), plain),
        rtol=1e-10,
    )


@pytest.mark.parametrize("name", NAMES)
def test_inverses_are_inverse(name: str) -> None:
    family, C = FAMILIES[name], some_covariances(name, 3, 4)
    np.testing.assert_allclose(family.inverse(family.inverse(C)), C, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_every_family_answers_as_its_matrices_do(name: str) -> None:
    """Moves of means, total and own covariances, projections, coordinates."""
    random, plain = np.random.default_rng(1), Standardization.plain(4)
    family, C = FAMILIES[name], some_covariances(name, 3, 4)
    whole, framed = family.matrices(C, 3, 4), family.standardized(C, plain)
    factors = family.factors(framed)
    U = np.linalg.cholesky(np.linalg.inv(whole)[:, ::-1, ::-1])[:, ::-1, ::-1]
    moved = random.uniform(size=(3, 4))
    largest = np.einsum("ki,kij->kj", moved, np.abs(U)).max()
    assert family.largest_move(factors, moved) == pytest.approx(largest, rel=1e-12)
    weights, means = np.array([0.2, 0.3, 0.5]), random.normal(size=(3, 4))
    apart = means - weights @ means
    total = np.einsum("k,kij->ij", weights, whole + apart[:, :, None] * apart[:, None, :])
    total = total if family.has_matrices else np.diagonal(total)
    np.testing.assert_allclose(family.total_covariance(weights, means, framed), total, rtol=1e-12)
    variances = np.diagonal(whole, axis1=1, axis2=2)
    np.testing.assert_allclose(family.variances(C, 3, 4), variances, rtol=1e-12)
    axes = random.normal(size=(4, 2))
    np.testing.assert_allclose(family.projected(C, 3, axes), axes.T @ whole @ axes, rtol=1e-12)
    unit = np.array([2.0, 0.0, 0.5, 1.0])  # the second column is left out
    kept = whole[:, [[0], [2], [3]], [0, 2, 3]] / np.outer(unit[[0, 2, 3]], unit[[0, 2, 3]])
    thinnest = np.linalg.eigvalsh(kept).min(axis=1)
    for edge in thinnest:  # just above it and just below
        for variance in (edge * (1 + 1e-9), edge * (1 - 1e-9)):
            np.testing.assert_array_equal(
                family.has_smaller_variance(C, 3, unit, variance), thinnest < variance
            )
    vector = family.coordinates(framed)
    assert vector.shape == (family.n_covariance_parameters(3, 4),)
    back = family.at_coordinates(vector, framed, np.zeros(4))
    assert back is not None
    np.testing.assert_allclose(back, framed, rtol=1e-12)
    assert family.at_coordinates(vector, framed, np.full(4, 1e9)) is None


@pytest.mark.parametrize("name", NAMES)
def test_a_covariance_at_the_floor_is_flat_only_if_the_data_are_not(name: str) -> None:
    family, floor = FAMILIES[name], Floor(np.full(2, 1e-6), added=False)
    plain, wide, thin = Standardization.plain(2), np.eye(2), np.diag([1.0, 1.5e-6])
    if name == "spherical":
        thin = 1.5e-6 * np.eye(2)
    shape = family.shape(1, 2)

    def one(C: Any) -> Any:
        C = C if family.has_matrices else np.diagonal(C)[: shape[-1]]
        return family.each(family.standardized(C.reshape(shape), plain))[0]

    assert family.at_floor(one(thin), floor)
    assert not family.at_floor(one(wide), floor)
    thin_total, wide_total = (C if family.has_matrices else np.diagonal(C) for C in (thin, wide))
    assert family.collapsed(one(thin), wide_total, floor)
    assert not family.collapsed(one(thin), thin_total, floor)
    assert not family.collapsed(one(wide), wide_total, floor)


def flat_moments() -> Moments:
    """Ten rows on a line in the plane, about their mean."""
    z = np.outer(np.arange(10) - 4.5, [1.0, 2.0])
    return Moments(0.0, np.array([10.0]), np.zeros((1, 2)), packed((z.T @ z)[None]))


def test_the_floor_raises_only_what_is_below_it() -> None:
    floor = Floor(np.array([1e-6, 1e-6]), added=False)
    C = symmetric(FAMILIES["full"].estimate(flat_moments(), np.zeros((1, 2)), floor))[0]
    values = np.linalg.eigvalsh(C)
    np.testing.assert_allclose(values, [1e-6, 5 * 8.25], rtol=1e-8)
    wide = Moments(0.0, np.array([2.0]), np.zeros((1, 2)), np.array([[2.0, 0.0, 2.0]]))
    found = FAMILIES["full"].estimate(wide, np.zeros((1, 2)), floor)
    assert np.array_equal(found, [[1.0, 0.0, 1.0]])


def test_an_added_floor_is_that_of_scikit_learn() -> None:
    floor = Floor(np.array([0.5, 0.25]), added=True)
    C = symmetric(FAMILIES["full"].estimate(flat_moments(), np.zeros((1, 2)), floor))[0]
    np.testing.assert_allclose(C, 8.25 * np.outer([1, 2], [1, 2]) + np.diag([0.5, 0.25]))


@pytest.mark.parametrize("name", NAMES)
def test_flat_covariances_are_named(name: str) -> None:
    C = some_covariances(name, 3, 4)
    if name == "tied":
        C = np.ones((4, 4))
    else:
        C[1] = 0.0
    whose = "shared" if name == "tied" else "component 1"
    with pytest.raises(NotPositiveDefinite, match=whose) as flat:
        FAMILIES[name].factors(FAMILIES[name].standardized(C, Standardization.plain(4)))
    assert "reg_covar" in str(flat.value)


def test_root_of_a_matrix_that_is_flat() -> None:
    """A constant column, a direction without spread, and columns of any size."""
    C = np.array([[4.0, 0.0, 2e-40, 2.0], [0.0] * 4, [2e-40, 0.0, 1e-80, 1e-40], [2, 0, 1e-40, 1]])
    root, sizes = root_of(C), np.array([2.0, 1.0, 1e-40, 1.0])
    np.testing.assert_allclose(
        root @ root.T / np.outer(sizes, sizes), C / np.outer(sizes, sizes), atol=1e-14
    )


@pytest.mark.parametrize("name", NAMES)
def test_samples_have_the_mean_and_the_spread(name: str) -> None:
    family, C = FAMILIES[name], some_covariances(name, 2, 3)
    means = np.array([[0.0, 5.0, 9.0], [100.0, 0.0, 1.0]])
    X = family.sample(means, C, [20_000, 10_000], np.random.RandomState(0))
    assert X.shape == (30_000, 3)
    np.testing.assert_allclose(X[:20_000].mean(axis=0), means[0], atol=0.15)
    np.testing.assert_allclose(
        np.cov(X[20_000:].T), family.matrices(C, 2, 3)[1], atol=0.06 * np.abs(C).max()
    )


@pytest.mark.parametrize("name", NAMES)
def test_samples_drawn_in_pieces_are_those_drawn_at_once(name: str, monkeypatch) -> None:
    """Between two pieces an interrupt is heard."""
    family, C = FAMILIES[name], some_covariances(name, 2, 3)
    means = np.arange(6.0).reshape(2, 3)
    at_once = family.sample(means, C, [50, 30], np.random.RandomState(0))
    monkeypatch.setattr(family_module, "VALUES_AT_ONCE", 12)
    in_pieces = family.sample(means, C, [50, 30], np.random.RandomState(0))
    np.testing.assert_allclose(in_pieces, at_once, rtol=1e-12)


def test_fixed_covariances_are_not_estimated() -> None:
    assert not fixed("spherical").estimated
    assert FAMILIES["spherical"].estimated
