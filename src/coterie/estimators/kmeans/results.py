"""Attributes and warnings of a k-means fit."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from coterie.algorithms.kmeans.records import Iteration, Run, RunRecord, TraceStep
from coterie.algorithms.restarts import Restarts
from coterie.arrays import Floats
from coterie.engines.select import engine_over
from coterie.estimators.fitting import News, read_only
from coterie.estimators.kmeans.distances import Comparison
from coterie.estimators.kmeans.prepared import PreparedRows
from coterie.estimators.runs import TO_THE_CALLER, warn_of_missing_runs
from coterie.estimators.units import SMALLEST_NORMAL, Units
from coterie.kernels import scan_steps


def news_of_means(
    units: Units, metric: str, iteration: int, record: Iteration, means: Floats
) -> News:
    """News of an iteration of k-means. `record` and `means` are in the units of the drivers."""
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


def fitted_attributes(run: Run, data: PreparedRows) -> dict[str, Any]:
    """Attributes of the estimator after a run. run : in the units of the user."""
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


def warn_of(found: Restarts[Run, RunRecord], data: PreparedRows, max_seconds: float | None) -> None:
    """Warn of faults that a person can mend. `found` is in the units of the drivers."""
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
    warn_of_missing_runs(found, max_seconds)
    _warn_of_size(best.inertia, data.units.restored(best).inertia)


def _warn_of_size(before: float, value: float) -> None:
    """Warn of an inertia beyond float64. before : the same in units in which it is ordinary."""
    if np.isinf(value):
        fate = "overflows float64 and is given as infinity"
    elif before > 0 and value < 2.0**SMALLEST_NORMAL:
        fate = f"underflows float64 and is given as {value:g}"
    else:
        return
    warnings.warn(
        f"inertia_ {fate}; labels and means are right. Rescale X to compare errors.",
        RuntimeWarning,
        stacklevel=TO_THE_CALLER + 1,
    )
