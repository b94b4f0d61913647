"""Mixtures to test with: data, starts, and the reference run beside the estimator."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.mixture import GaussianMixture as Peer

from coterie import GaussianMixture
from coterie.algorithms.mixture import covariance
from coterie.kernels import reference

FAMILIES = tuple(covariance.FAMILIES)
OF_SCIKIT_LEARN = tuple(
    name for name in FAMILIES if name in Peer._parameter_constraints["covariance_type"][0].options
)
RELATIVE_FLOOR = 1e-12


def groups(n: int = 150, d: int = 3, k: int = 3, seed: int = 1) -> NDArray[np.float64]:
    """Stretched groups that overlap a little."""
    rng = np.random.default_rng(seed)
    size = n // k
    parts = [
        rng.normal(size=(size, d)) @ (np.eye(d) + 0.4 * rng.normal(size=(d, d))) + 3 * centre
        for centre in rng.normal(size=(k, d))
    ]
    return np.concatenate(parts)


def start_from(X: Any, family: str, k: int = 3, **parameters: Any) -> dict[str, Any]:
    """Initial parameters by k-means, for several estimators to start alike."""
    model = GaussianMixture(k, covariance_type=family, max_iter=0, random_state=0, **parameters)
    model.fit(X)
    return {
        "weights_init": model.weights_,
        "means_init": model.means_,
        "precisions_init": model.precisions_,
    }


def as_reference(start: dict[str, Any], family: str) -> reference.Mixture:
    precisions = start["precisions_init"]
    if family in ("full", "tied"):
        covariances = np.linalg.inv(precisions)
        covariances = covariances[np.newaxis] if family == "tied" else covariances
    else:
        covariances = 1 / precisions
    return reference.Mixture.of(start["weights_init"], start["means_init"], covariances)


def relative_floor(X: NDArray[np.float64]) -> NDArray[np.longdouble]:
    """The default floor; a constant column has no variance and gets no part in these tests."""
    return RELATIVE_FLOOR * np.nanvar(X.astype(np.longdouble), axis=0)


def errors_of(model: Any) -> list[float]:
    return [record.error for record in model.history_] + [model.soft_clustering_error_]


def assert_monotone(model: Any, rounding: float = 1e-11) -> None:
    """The soft clustering error never increases, to rounding."""
    for run in model.runs_:
        errors = np.array([r.error for r in run.history] + [run.soft_clustering_error])
        assert np.all(np.diff(errors) <= rounding * (1 + np.abs(errors[1:]))), errors


def assert_same_mixture(a: Any, b: Any) -> None:
    """Bit for bit the same answer."""
    for name in ("weights_", "means_", "covariances_", "precisions_cholesky_"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))
    assert errors_of(a) == errors_of(b)
    assert a.n_iter_ == b.n_iter_
