"""The step of `partial_fit`: one batch of rows moves the means."""

from __future__ import annotations

import time

import numpy as np

from coterie.algorithms.kmeans.lloyd import unit_rows
from coterie.algorithms.kmeans.records import Run
from coterie.algorithms.stop import StopReason
from coterie.arrays import Floats
from coterie.estimators.kmeans.prepared import PreparedRows
from coterie.estimators.units import LARGEST_TOTAL, check_total
from coterie.kernels import kmeans_steps


def one_batch(
    data: PreparedRows, means: Floats, counts: Floats, n_before: int, *, directions: bool
) -> Run:
    """Move the means by one batch; return them with its labels, in the units of the user.

    means : (k, d) in the drivers' units; counts : (k,) weight that each mean has seen.
    """
    started = time.perf_counter()
    sums = data.assign(means)
    mass = data.units.weights_out(sums.weights)
    with np.errstate(over="ignore"):
        total = counts + mass
    check_total(total, LARGEST_TOTAL, "the sample_weight of all batches")
    share = np.divide(mass, total, out=np.zeros_like(total), where=mass > 0)[:, np.newaxis]
    batch = sums.means(data.engine.team, means)
    moved = np.where(share == 1, batch, means + share * (batch - means))
    if directions:
        moved = unit_rows(moved, means)
    moved = np.ascontiguousarray(moved)
    after = data.assign(moved)
    inertia = data.sum_of_squares(after, moved)
    return Run(
        means=data.units.rows_out(moved),
        labels=data.engine.gather(kmeans_steps.nearest, moved, data.survey.extent),
        active=total > 0,
        counts=total,
        inertia=inertia,
        clustering_error=inertia / data.total_weight,
        n_iter=n_before + 1,
        converged=False,
        stopped=StopReason.ONE_BATCH.value,
        history=(),
        seconds=time.perf_counter() - started,
        initial_means=data.units.rows_out(means),
    )
