"""Attributes and warnings of a mixture fit."""

from __future__ import annotations

import math
import warnings
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from coterie.algorithms.mixture.records import Mixture, MixtureIteration, MixtureRun
from coterie.algorithms.restarts import Restarts
from coterie.algorithms.stop import StopReason
from coterie.estimators.fitting import News, read_only
from coterie.estimators.mixture.prepared import PreparedMixtureRows
from coterie.estimators.runs import TO_THE_CALLER, warn_of_missing_runs
from coterie.kernels.mixture_steps import Standardization


def news_of_mixture(
    data: PreparedMixtureRows,
    kept: dict[str, Any],
    iteration: int,
    record: MixtureIteration,
    mixture: Mixture,
) -> News:
    """News of an iteration of EM. kept : attributes that no iteration changes."""
    record = data.units.restored(record)
    parts = (mixture.weights, mixture.means, mixture.covariances)
    mixture = Mixture(*map(read_only, parts))
    model = {
        "weights_": mixture.weights,
        "means_": mixture.means,
        "covariances_": mixture.covariances,
        "n_features_in_": mixture.means.shape[1],
        "_frame": Standardization(
            *map(read_only, (data.survey.scaling.origin, data.survey.scaling.exponent))
        ),
        **kept,
    }
    line = f"soft clustering error {record.error:.9g}, decrease {record.decrease:.3g}"
    return News(record, mixture.means, line, model, mixture=mixture)


def fitted_attributes(run: MixtureRun, data: PreparedMixtureRows) -> dict[str, Any]:
    """Attributes of the estimator after a run. run : in the units of the user."""
    mass = float(data.units.weights_out(data.survey.mass))
    bounds = [-record.error / mass for record in run.history]
    attributes: dict[str, Any] = {
        "weights_": run.weights,
        "means_": run.means,
        "covariances_": run.covariances,
        "precisions_cholesky_": run.precisions_cholesky,
        "converged_": run.converged,
        "n_iter_": run.n_iter,
        "lower_bound_": bounds[-1] if bounds else run.log_likelihood,
        "lower_bounds_": bounds,
        "soft_clustering_error_": run.soft_clustering_error,
        "history_": run.history,
        "_frame": data.survey.scaling,
    }
    if run.trace is not None:
        attributes["trace_"] = run.trace
    return attributes


def warn_of_mixture(
    found: Restarts[MixtureRun, MixtureRun], max_iter: int | None, max_seconds: float | None
) -> None:
    """Warn of faults that a person can mend."""
    warn_of_missing_runs(found, max_seconds)
    best = found.best
    if found.skipped:
        warnings.warn(
            f"{len(found.skipped)} of {found.planned} runs could not start: {found.skipped[0]}",
            ConvergenceWarning,
            stacklevel=TO_THE_CALLER,
        )
    for note in best.notes:
        warnings.warn(note, ConvergenceWarning, stacklevel=TO_THE_CALLER)
    if best.reason is StopReason.MAX_ITER and max_iter != 0:
        decrease = best.history[-1].decrease
        change = ""
        if not math.isnan(decrease):
            change = f"; the last one changed the soft clustering error by {decrease:.3g}"
        warnings.warn(
            f"Best performing initialization did not converge in max_iter={max_iter} iterations"
            f"{change}. Increase max_iter or tol, use "
            "accelerate=True, or try another init_params.",
            ConvergenceWarning,
            stacklevel=TO_THE_CALLER,
        )
    elif best.reason is StopReason.FLAT_COVARIANCE:
        warnings.warn(f"EM {best.stopped}", ConvergenceWarning, stacklevel=TO_THE_CALLER)
