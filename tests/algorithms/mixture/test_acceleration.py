"""Acceleration of EM: fewer sweeps to the same mixture, and the likelihood never falls."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie import GaussianMixture
from coterie.algorithms.mixture.acceleration import Acceleration
from coterie.algorithms.mixture.covariance import FAMILIES, fixed
from coterie.algorithms.mixture.records import Mixture
from coterie.algorithms.mixture.unconstrained import UnconstrainedParameters
from coterie.kernels.triangles import packed


class Line:
    """Points that are vectors already."""

    def vector(self, point: Any) -> Any:
        return point

    def point(self, vector: Any, like: Any) -> Any:
        return vector


def iterate(A: Any, accelerated: bool, n: int) -> tuple[Any, int]:
    """Iterate x -> A x, with fixed point 0 and -|x|^2 in place of the log-likelihood."""
    x, height = np.ones(len(A)), -np.inf
    faster = Acceleration(Line())
    fallback = None
    for sweep in range(1, n + 1):
        now = -float(x @ x)
        if fallback is not None and now < height:
            faster.reject()
            x, fallback = fallback, None
            continue
        height = now
        if now > -1e-20:
            return x, sweep
        after = A @ x
        trial = faster.propose(x, after, now) if accelerated else None
        x, fallback = (after, None) if trial is None else (trial, after)
    return x, n


def test_a_linear_map_is_solved_in_a_few_steps() -> None:
    A = np.diag([0.999, 0.99, 0.9, 0.5])
    _, plain = iterate(A, False, 50_000)
    _, faster = iterate(A, True, 50_000)
    assert plain > 10_000
    assert faster < 60


def test_rejections_switch_to_squarem() -> None:
    faster = Acceleration(Line())
    x, fell = np.ones(3), 0
    for _ in range(40):
        trial = faster.propose(x, 0.9 * x + 1e-3 * np.sin(40 * x), 0.0)
        if trial is not None:
            faster.reject()
            fell += 1
        x = 0.9 * x + 1e-3 * np.sin(40 * x)
    assert fell == faster.n_rejected > 3


@settings(max_examples=100, deadline=None)
@given(
    kind=st.sampled_from([*FAMILIES, "fixed"]),
    frozen=st.sets(st.sampled_from(["weights", "means", "covariances"])),
    seed=st.integers(0, 10**6),
)
def test_parameters_as_vectors_and_back_are_the_same(
    kind: str, frozen: set[str], seed: int
) -> None:
    rng = np.random.default_rng(seed)
    k, d = 3, 4
    family = fixed("full") if kind == "fixed" else FAMILIES[kind]
    roots = rng.normal(size=(k, d, d)) + 2 * np.eye(d)
    full = roots @ roots.transpose(0, 2, 1)
    covariances = {
        "full": packed(full),
        "tied": full[0],
        "diag": np.diagonal(full, axis1=1, axis2=2),
        "spherical": full[:, 0, 0],
    }[family.kind]
    mixture = Mixture(rng.dirichlet(np.ones(k)), rng.normal(size=(k, d)), covariances)
    parametrization = UnconstrainedParameters(family, np.zeros(d), frozen)
    vector = parametrization.vector(mixture)
    if vector is None:  # nothing is free
        assert {"weights", "means"} <= frozen
        return
    back = parametrization.point(vector, mixture)
    assert back is not None
    for name in ("weights", "means", "covariances"):
        np.testing.assert_allclose(getattr(back, name), getattr(mixture, name), rtol=1e-9)
    moved = parametrization.point(vector + 0.1, mixture)
    assert moved is not None
    for name in frozen:
        assert getattr(moved, name) is getattr(mixture, name)


def test_vectors_below_the_floor_are_no_mixtures() -> None:
    parametrization = UnconstrainedParameters(FAMILIES["diag"], np.full(2, 0.5))
    thin = Mixture(np.ones(1), np.zeros((1, 2)), np.array([[1.0, 0.4]]))
    vector = parametrization.vector(thin)
    assert vector is not None
    assert parametrization.point(vector, thin) is None
    assert parametrization.point(np.full_like(vector, np.nan), thin) is None
    empty = Mixture(np.array([0.0]), thin.means, thin.covariances)
    assert parametrization.vector(empty) is None


@pytest.mark.filterwarnings("ignore:Best performing")  # plain EM may not get there at all
@pytest.mark.parametrize("family", FAMILIES)
def test_slow_mixtures_need_far_fewer_sweeps(family: str) -> None:
    rng = np.random.default_rng(6)
    X = np.concatenate([rng.normal(size=(700, 2)) + 2 * c for c in rng.normal(size=(4, 2))])
    common = {"covariance_type": family, "tol": 1e-9, "max_iter": 3000, "random_state": 1}
    plain = GaussianMixture(4, **common).fit(X)
    faster = GaussianMixture(4, accelerate=True, **common).fit(X)
    sweeps = [sum(record.sweeps for record in model.history_) for model in (plain, faster)]
    assert sweeps[0] > 100, "not a slow mixture"
    assert sweeps[1] < sweeps[0] / 3
    assert faster.soft_clustering_error_ <= plain.soft_clustering_error_ + 1e-4
    errors = np.array([record.error for record in faster.history_])
    assert np.all(np.diff(errors) <= 1e-9 * np.abs(errors[1:]))
