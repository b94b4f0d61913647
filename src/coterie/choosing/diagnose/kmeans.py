"""Diagnoses of k-means fits."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from coterie.choosing.diagnose.case import ONE_HOLDS_NEARLY_ALL, Case, Diagnosis
from coterie.formatting import listed, number, plural
from coterie.remedies import Remedy

APART = 0.01  # relative difference from which errors of two runs count as different


def diagnoses(case: Case) -> Iterator[Diagnosis]:
    yield from _not_converged(case)
    yield from _empty_clusters(case)
    yield from _extreme_sizes(case)
    yield from _runs_disagree(case)


def _not_converged(case: Case) -> Iterator[Diagnosis]:
    model = case.model
    if getattr(model, "converged_", True):
        return
    limits = {name: getattr(model, name) for name in ("max_iter", "max_seconds")}
    reached = next((name for name in limits if name in model.stopped_), None)
    longer = Remedy("fit again with more time")  # interrupted, or stopped by a callback
    if reached is not None:
        longer = Remedy(f"fit again with {{{reached}}}", {reached: 10 * limits[reached]})
    yield Diagnosis(
        "not-converged",
        f"the fit stopped before it had converged ({model.stopped_})",
        (longer, Remedy("continue with {warm_start}", {"warm_start": True})),
    )


def _empty_clusters(case: Case) -> Iterator[Diagnosis]:
    k, holding = len(case.model.active_), int(case.model.active_.sum())
    if holding == k:
        return
    yield Diagnosis(
        "empty-clusters",
        f"{k - holding} of {plural(k, 'cluster')} hold no rows",
        (
            Remedy("set {n_clusters}", {"n_clusters": holding}),
            Remedy("{empty_clusters}", {"empty_clusters": "relocate"}),
        ),
    )


def _extreme_sizes(case: Case) -> Iterator[Diagnosis]:
    k = len(case.model.cluster_centers_)
    single = np.flatnonzero(case.sizes == 1)
    if k > 1 and case.largest >= ONE_HOLDS_NEARLY_ALL:
        yield Diagnosis(
            "one-cluster",
            f"{case.nearly_all()}; the others may be outliers",
            (
                Remedy("look at the rows of the small clusters; drop or clip outliers"),
                Remedy("scale with RobustScaler", code="scale-robust"),
                Remedy("use DBSCAN, which sets them apart"),
            ),
        )
    elif len(single) and case.n >= 10 * k:
        rows = [int(np.flatnonzero(case.labels == c)[0]) for c in single[:3]]
        more = ", ..." if len(single) > 3 else ""
        yield Diagnosis(
            "tiny-clusters",
            f"{plural(len(single), 'cluster')} of {k} hold{'s' * (len(single) == 1)} one row "
            f"only (row {listed(rows)}{more})",
            (
                Remedy("look at these rows; drop outliers"),
                Remedy("use DBSCAN, which sets them apart"),
            ),
        )


def _runs_disagree(case: Case) -> Iterator[Diagnosis]:
    errors = np.array([run.clustering_error for run in case.model.runs_])
    if len(errors) < 2 or errors.min() <= 0:
        return
    near = int((errors <= (1 + APART) * errors.min()).sum())
    if near == 1:
        yield Diagnosis(
            "runs-disagree",
            f"only one of {len(errors)} runs reached the smallest error; the next is "
            f"{number(100 * (np.sort(errors)[1] / errors.min() - 1))} % larger",
            (Remedy("set {n_init} to be surer of the best", {"n_init": 4 * len(errors)}),),
        )
