"""Parameters of metrics: variances, and the inverse of a covariance.

They are taken from the rows of a fit unless they are given.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.arrays import Floats
from coterie.estimators.dbscan.metrics import Metric
from coterie.estimators.validation import floats_of, refuse_other_than_numbers

INDEFINITE = 1e-10  # of the largest eigenvalue: a negative one of that size is no rounding
REMEDY = "Drop such columns, or rescale the columns, for example with StandardScaler"


def completed(metric: Metric, X: Any, names: Any) -> Metric:
    """A metric with all its parameters for the rows of a fit. names : of the columns, or None."""
    return replace(metric, parameters=_all_parameters(metric, X, names))


def _all_parameters(metric: Metric, X: Any, names: Any) -> dict[str, Any]:
    parameters = metric.parameters
    if metric.name == "seuclidean":
        V = parameters.get("V")
        own = variances(X, names) if V is None else _given_variances(V, X.shape[1])
        return {**parameters, "V": own}
    if metric.name == "mahalanobis":
        VI, V = parameters.get("VI"), parameters.get("V")
        if VI is not None:
            return {"VI": _given_inverse(VI, X.shape[1])}
        if V is not None:
            return {"VI": inverse(_given_matrix(V, "V", X.shape[1]), "metric_params['V']")}
        return {"VI": inverse(covariance(X, names), "the covariance of X")}
    return parameters


def variances(X: NDArray[Any], names: Any) -> Floats:
    """(d,) all finite and above zero: scikit-learn would divide zero by zero."""
    _refuse_constant(X, names, "seuclidean", "{'V': variances}")
    with np.errstate(over="ignore", under="ignore"):
        found: Floats = np.var(X, axis=0, ddof=1, dtype=np.float64)
    _refuse_extreme(found, names)
    return found


def covariance(X: NDArray[Any], names: Any) -> Floats:
    """(d, d)"""
    _refuse_constant(X, names, "mahalanobis", "{'VI': inverse covariance}")
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        found: Floats = np.atleast_2d(np.cov(X, rowvar=False)).astype(np.float64, copy=False)
    _refuse_extreme(np.diag(found), names)
    return found


def inverse(matrix: Floats, name: str) -> Floats:
    """The inverse of a covariance, or an error. The units of its columns do not matter."""
    spread = np.sqrt(np.diag(matrix))
    correlation = matrix / spread[:, np.newaxis] / spread
    rank, d = int(np.linalg.matrix_rank(correlation)), len(matrix)
    if rank < d:
        raise ValueError(
            f"metric='mahalanobis' inverts {name}, which is singular: expected {d} independent "
            f"columns, got {rank}. Drop columns that the others determine, give more rows than "
            "columns, or give an inverse with metric_params={'VI': np.linalg.pinv(np.cov(X.T))}."
        )
    return np.asarray(np.linalg.inv(matrix).T, dtype=np.float64)


def _refuse_constant(X: NDArray[Any], names: Any, metric: str, given: str) -> None:
    constant = np.flatnonzero(X.min(axis=0) == X.max(axis=0))
    if len(constant):
        raise ValueError(
            f"metric='{metric}' divides by the variances of X: expected columns that vary, got "
            f"{len(constant)} with all values equal, the first {_column(constant[0], names)}. Drop "
            f"such columns, or give metric_params={given}."
        )


def _refuse_extreme(found: Floats, names: Any) -> None:
    bad = np.flatnonzero(~(np.isfinite(found) & (found > 0)))
    if len(bad):
        raise ValueError(
            f"the variance of {_column(bad[0], names)} is {found[bad[0]]:g} in float64: expected "
            f"a finite number above zero. {REMEDY}."
        )


def _given_variances(V: Any, d: int) -> Floats:
    refuse_other_than_numbers(V, "metric_params['V']", "a variance for each column of X")
    checked = floats_of(V, "metric_params['V']")
    if checked.shape != (d,):
        raise ValueError(
            f"metric_params['V'] has shape {checked.shape}: expected ({d},), a variance for each "
            "column of X."
        )
    bad = np.flatnonzero(~(np.isfinite(checked) & (checked > 0)))
    if len(bad):
        raise ValueError(
            f"metric_params['V'] has {checked[bad[0]]:g} for column {bad[0]}: expected variances, "
            "finite numbers above zero. Drop columns that do not vary."
        )
    return checked


def _given_inverse(VI: Any, d: int) -> Floats:
    checked = _given_matrix(VI, "VI", d)
    eigenvalues = np.linalg.eigvalsh(0.5 * checked + 0.5 * checked.T)
    if eigenvalues[0] < -INDEFINITE * max(eigenvalues[-1], -eigenvalues[0]):
        raise ValueError(
            f"metric_params['VI'] has the eigenvalue {eigenvalues[0]:g}: expected the inverse of "
            "a covariance, which has none below zero. Squared distances would be negative."
        )
    return checked


def _given_matrix(matrix: Any, name: str, d: int) -> Floats:
    where = f"metric_params['{name}']"
    refuse_other_than_numbers(matrix, where, "a square matrix")
    checked = np.atleast_2d(floats_of(matrix, where))
    if checked.shape != (d, d):
        raise ValueError(
            f"{where} has shape {checked.shape}: expected ({d}, {d}), a row and a column for each "
            "column of X."
        )
    least = np.diag(checked).min() if name == "V" else np.inf
    if not (np.isfinite(checked).all() and least > 0):
        raise ValueError(
            f"{where} holds values that are no covariance: expected finite numbers"
            + (", above zero on the diagonal." if name == "V" else ".")
        )
    return checked


def _column(index: int, names: Any) -> str:
    return f"column {index}" + ("" if names is None else f" ({names[index]!r})")
