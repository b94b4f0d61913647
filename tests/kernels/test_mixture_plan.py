"""Sweeps over mixtures use the kernels of their plan (native/mixture/plan.cpp): wrong sums cannot
hide behind a slower path that repairs them."""

import numpy as np
import pytest

from coterie.kernels import _native

TEAM = _native.Team(2)


def blobs(n, d, k, apart, seed=0):
    """Rows about k means that lie `apart` from each other, and the means."""
    rng = np.random.default_rng(seed)
    means = apart * rng.normal(size=(k, d))
    return means[np.arange(n) % k] + rng.normal(size=(n, d)), means


def prepared(kind, means, *, centres=None, deviation=1.0):
    k, d = means.shape
    one = {
        "full": np.eye(d)[np.triu_indices(d)],
        "tied": np.eye(d).ravel(),
        "diag": np.ones(d),
        "spherical": np.ones(1),
    }[kind]
    factors = np.tile(one, 1 if kind == "tied" else k) / deviation
    offsets = np.zeros(k)
    return _native.Mixture(
        TEAM, kind, np.zeros(d), np.ones(d), offsets, means, factors, centres, None
    )


def swept(kind, X, means, **options):
    """The mixture after a sweep."""
    mixture = prepared(kind, means, **options)
    mixture.sweep(_native.Block(X, None, TEAM), 0)
    return mixture


@pytest.mark.parametrize(
    ("kind", "d", "expected"),
    [
        ("full", 4, "vectors hold rows"),
        ("full", 5, "by register tiles"),
        ("tied", 5, "along the axes"),
        ("diag", 2, "along the axes"),
        ("spherical", 2, "along the axes"),
    ],
)
def test_kinds_and_columns_choose_the_kernel(kind, d, expected):
    X, means = blobs(50, d, 3, 1.0)
    assert expected in swept(kind, X, means).why


@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical"])
@pytest.mark.parametrize("d", [3, 12])
def test_means_near_the_origin_are_summed_about_it(kind, d):
    X, means = blobs(500, d, 8, 0.5)
    mixture = swept(kind, X, means)
    assert "about the origin, then moved" in mixture.why
    assert mixture.repeated == 0


@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical"])
def test_means_far_from_the_origin_are_not(kind):
    X, means = blobs(500, 3, 8, 0.5)
    why = swept(kind, X + 100, means + 100).why
    assert "about each centre: a mean is more than 8 standard deviations from the origin" in why


def test_given_responsibilities_and_other_centres_are_summed_about_the_centres():
    X, means = blobs(500, 3, 2, 0.5)
    assert "other centres" in swept("full", X, means, centres=means + 0.1).why
    mixture = prepared("full", means)
    mixture.sums_of_labels(_native.Block(X, None, TEAM), 0, np.zeros(500, np.int32))
    assert "responsibilities are given" in mixture.why


@pytest.mark.parametrize(
    ("d", "k", "reason"), [(25, 20, "more than 24"), (12, 5, "fewer than half")]
)
def test_many_columns_or_few_components_are_not_summed_all_at_once(d, k, reason):
    X, means = blobs(500, d, k, 0.5)
    assert reason in swept("full", X, means).why


@pytest.mark.parametrize("kind", ["full", "diag", "spherical"])
def test_sums_that_lose_digits_about_the_origin_are_taken_again(kind):
    X, means = blobs(500, 3, 2, 0.0)
    means[:] = 4.0
    # The mixture is wide enough to be near the origin, and its rows are not.
    mixture = swept(kind, 4 + 1e-3 * X, means)
    assert "about the origin" in mixture.why
    assert mixture.repeated == 1


def test_bounds_leave_out_densities_of_components_that_stand_apart():
    X, means = blobs(2000, 16, 10, 30.0)
    mixture = swept("full", X, means)
    assert "bounds leave densities out; bounds look towards other means" in mixture.why
    assert not mixture.abandoned
    assert "rows are fewer than 8" in swept("full", X[:60], means).why


def test_bounds_are_given_up_where_components_overlap():
    X, means = blobs(2000, 16, 10, 0.1)
    mixture = swept("full", X, means)
    assert "bounds leave densities out" in mixture.why
    assert mixture.abandoned


@pytest.mark.parametrize(
    ("d", "k", "reason"), [(15, 5, "fewer than 16"), (16, 1, "there is one component")]
)
def test_bounds_need_columns_and_components(d, k, reason):
    X, means = blobs(500, d, k, 30.0)
    assert reason in swept("full", X, means).why


def test_responsibilities_that_are_shown_are_all_computed():
    X, means = blobs(500, 16, 3, 30.0)
    mixture = prepared("full", means)
    mixture.degrees(_native.Block(X, None, TEAM))
    assert "responsibilities are shown" in mixture.why


def test_threads_share_the_moments_of_many_columns():
    X, means = blobs(500, 65, 3, 30.0)
    assert "threads share one set of moments" in swept("full", X, means).why
