"""What a fit leaves on the estimator, and what it has to warn of."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from coterie.algorithms.kmeans.records import Floats, Iteration, Run, TraceStep
from coterie.algorithms.restarts import Restarts, RunRecord
from coterie.algorithms.stop import StopReason
from coterie.engines.select import engine_over
from coterie.estimators.fitting import News, read_only
from coterie.estimators.kmeans.distances import Comparison
from coterie.estimators.kmeans.prepared import Problem
from coterie.estimators.units import SMALLEST_NORMAL, Units
from coterie.kernels import scan_steps

TO_THE_CALLER = 5  # frames from a warning here to the line that called fit


def news_of_means(
    units: Units, metric: str, iteration: int, record: Iteration, means: Floats
) -> News:
    """An iteration of k-means as listeners hear of it. `record` and `means` are the drivers'."""
    record, means = units.restored(record), read_only(units.rows_out(means))
    model = {
        "cluster_centers_": means,
        "n_features_in_": means.shape[1],
        "_n_features_out": len(means),
        "_exponent": units.row_exponent,
        "_metric": metric,
    }
    line = f"clustering error {record.error:.6g}, {record.moved} points moved"
    return News(record, means, line, model, last=record.moved == 0 and iteration > 1)


def fitted_attributes(run: Run, data: Problem) -> dict[str, Any]:
    """Attributes for a run in the units of the user."""
    attributes: dict[str, Any] = {
        "cluster_centers_": run.means,
        "labels_": run.labels,
        "inertia_": run.inertia,
        "clustering_error_": run.clustering_error,
        "n_iter_": run.n_iter,
        "active_": run.active,
        "counts_": run.counts,
        "converged_": run.converged,
        "stopped_": run.stopped,
        "history_": run.history,
        "_n_features_out": len(run.means),
        "_exponent": data.units.row_exponent,
    }
    if run.trace is not None:
        attributes["trace_"] = run.trace
    if data.absent is not None:
        present = np.flatnonzero(~data.absent)
        labels = np.empty(len(data.absent), dtype=np.int32)
        labels[present] = run.labels
        engine = engine_over(data.rest, team=data.engine.team)
        extent = engine.reduce(scan_steps.extent)
        labels[data.absent] = Comparison(
            data.rest, engine, extent, run.means, data.units.row_exponent
        ).nearest()
        attributes["labels_"] = labels
        if run.trace is not None:
            attributes["trace_"] = tuple(_in_all_rows(step, present) for step in run.trace)
    return attributes


def _in_all_rows(step: TraceStep, present: Any) -> TraceStep:
    return replace(step, rows=present[step.rows])


def warn_of(found: Restarts[Run, RunRecord], data: Problem, max_seconds: float | None) -> None:
    """Diagnoses a person can act on. `found` is in the units of the drivers."""
    best = found.best
    k, n_found = len(best.means), int(best.active.sum())
    if n_found < k:
        warnings.warn(
            f"Number of distinct clusters ({n_found}) found smaller than n_clusters ({k}): "
            f"{k - n_found} clusters hold no points and keep their initial or last means. Possibly "
            f"due to duplicate points in X. Use n_clusters={n_found}, empty_clusters='relocate', "
            "or another init.",
            ConvergenceWarning,
            stacklevel=TO_THE_CALLER,
        )
    warn_of_cut(found, max_seconds)
    _warn_of_size(best.inertia, data.units.restored(best).inertia)


def warn_of_cut(found: Restarts[Any, Any], max_seconds: float | None) -> None:
    """A fit that could not make all its runs, or not the last to its end."""
    converged = "had" if found.best.converged else "had not"
    if found.cut_short is StopReason.MAX_SECONDS:
        warnings.warn(
            f"max_seconds={max_seconds:g} reached after {len(found.records)} of {found.planned} "
            f"runs, the last of them {found.records[-1].n_iter} iterations long; the best so far "
            f"is kept, which {converged} converged. Give more seconds, fewer runs (n_init) or a "
            "larger tol.",
            ConvergenceWarning,
            stacklevel=TO_THE_CALLER + 1,
        )
    if found.cut_short is StopReason.INTERRUPTED:
        warnings.warn(
            f"Interrupted with {len(found.records)} of {found.planned} runs made: the best so far "
            f"is kept, which {converged} converged. Fit again with warm_start=True to continue "
            "from it.",
            ConvergenceWarning,
            stacklevel=TO_THE_CALLER + 1,
        )


def _warn_of_size(before: float, value: float) -> None:
    """`before` is the same inertia in units where it is an ordinary float64."""
    if np.isinf(value):
        what = "overflows float64 and is given as infinity"
    elif before > 0 and value < 2.0**SMALLEST_NORMAL:
        what = f"underflows float64 and is given as {value:g}"
    else:
        return
    warnings.warn(
        f"inertia_ {what}; labels and means are right. Rescale X to compare errors.",
        RuntimeWarning,
        stacklevel=TO_THE_CALLER + 1,
    )
