"""Parts of a mixture that users give: initial weights, means and precisions, fixed covariances."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from coterie.algorithms.mixture.covariance import FAMILIES, Family, NotPositiveDefinite
from coterie.algorithms.mixture.covariance import fixed as fixed_family
from coterie.algorithms.mixture.records import Mixture
from coterie.arrays import Floats
from coterie.estimators.validation import check_centres, floats_of

PARTS = ("weights", "means", "covariances")


@dataclass(frozen=True)
class Given:
    """Parts of the first mixture that the parameters give before any row is read."""

    weights: Floats | None
    means: Floats | None
    covariances: Callable[[], Floats] | None  # made on demand, since they may be large

    @property
    def complete(self) -> bool:
        """True if nothing is left to be found."""
        return not any(part is None for part in (self.weights, self.means, self.covariances))

    @property
    def mixture(self) -> Mixture:
        """The whole mixture, if it is complete."""
        assert self.weights is not None
        assert self.means is not None
        assert self.covariances is not None
        return Mixture(self.weights, self.means, self.covariances())

    def over(self, found: Mixture) -> Mixture:
        """Return a mixture that was found, with the given parts in place of its own."""
        return Mixture(
            found.weights if self.weights is None else self.weights,
            found.means if self.means is None else self.means,
            found.covariances if self.covariances is None else self.covariances(),
        )


def family_and_given(estimator: Any, d: int) -> tuple[Family, Given]:
    """The family of covariances, and the parts that the parameters give."""
    k = estimator.n_components
    means = estimator.means_init
    if means is not None:
        means = check_centres(means, k, d, "means_init", "n_components")
    weights = estimator.weights_init
    if weights is not None:
        weights = _checked_weights(weights, k)
    if estimator.covariance_type == "fixed":
        if estimator.precisions_init is not None:
            raise ValueError(
                "precisions_init cannot be used with covariance_type='fixed', whose covariances "
                "are given by fixed_covariance."
            )
        family, covariances = fixed_covariances(estimator.fixed_covariance, k, d)
        return family, Given(weights, means, lambda: covariances)
    if estimator.fixed_covariance is not None:
        raise ValueError(
            "fixed_covariance is only used with covariance_type='fixed', and covariance_type is "
            f"{estimator.covariance_type!r}. Set the one, or leave out the other."
        )
    family = FAMILIES[estimator.covariance_type]
    precisions = estimator.precisions_init
    if precisions is None:
        return family, Given(weights, means, None)
    precisions = _checked(precisions, family.shape(k, d), "precisions_init")
    _check_matrices(family, precisions, "precisions_init")
    return family, Given(weights, means, functools.partial(family.inverse, precisions))


def fixed_covariances(value: Any, k: int, d: int) -> tuple[Family, Floats]:
    """Check fixed covariances: a number or one per cluster (times the identity), or matrices."""
    if value is None:
        raise ValueError(
            "covariance_type='fixed' needs fixed_covariance: a variance, one variance per "
            f"cluster, shape ({k},), a matrix, shape ({d}, {d}), or one matrix per cluster, shape "
            f"({k}, {d}, {d})."
        )
    shapes: dict[tuple[int, ...], str] = {
        (): "spherical",
        (k,): "spherical",
        (d, d): "tied",
        (k, d, d): "full",
    }
    expected = f"expected a number or shape ({k},), ({d}, {d}) or ({k}, {d}, {d})."
    try:
        values = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"fixed_covariance is no array of numbers ({error}): {expected}"
        ) from error
    found = shapes.get(values.shape)
    if found is None:
        raise ValueError(f"fixed_covariance has shape {values.shape}: {expected}")
    family = fixed_family(found)
    covariances = np.broadcast_to(values, family.shape(k, d)).copy()
    _check_matrices(family, covariances, "fixed_covariance")
    return family, covariances


def _check_matrices(family: Family, matrices: Floats, name: str) -> None:
    """Refuse matrices unless each is symmetric and positive definite."""
    if not np.all(np.isfinite(matrices)):
        raise ValueError(f"{name} contains NaN or infinity values: expected finite numbers.")
    each = matrices if matrices.ndim == 3 else [matrices]
    if family.has_matrices and not all(_is_symmetric(one) for one in each):
        raise ValueError(f"{name} should be symmetric, positive-definite: it is not symmetric.")
    try:
        family.inverse(np.ascontiguousarray(matrices))
    except NotPositiveDefinite as error:
        which = "" if error.component is None else f" that of component {error.component} is not"
        kind = "symmetric, positive-definite" if family.has_matrices else "positive"
        raise ValueError(
            f"{name} should be {kind}:{which or ' it is not'}. Every direction needs some spread."
        ) from error


def _is_symmetric(matrix: Floats) -> bool:
    """Return whether a matrix is symmetric to five digits, in any units of its columns."""
    sizes = np.sqrt(np.abs(np.diagonal(matrix)))
    return bool(np.all(np.abs(matrix - matrix.T) <= 1e-5 * np.outer(sizes, sizes)))


def _checked(values: Any, shape: tuple[int, ...], name: str, *, copy: bool = False) -> Floats:
    checked = floats_of(values, name, copy=copy)
    if checked.shape != shape:
        raise ValueError(f"{name} has shape {checked.shape}: expected {shape}.")
    return checked


def _checked_weights(values: Any, k: int) -> Floats:
    weights = _checked(values, (k,), "weights_init", copy=True)
    if not np.all((weights >= 0) & (weights <= 1)):
        worst = weights[np.argmin(np.where((weights >= 0) & (weights <= 1), 1, 0))]
        raise ValueError(
            f"weights_init should be between 0 and 1, and holds {worst:g}: expected the share of "
            "each cluster."
        )
    total = float(weights.sum())
    if not np.isclose(total, 1.0):
        raise ValueError(
            f"weights_init adds up to {total:g}: expected weights normalized to a sum of 1. Use "
            "weights_init / weights_init.sum()."
        )
    return weights / total
