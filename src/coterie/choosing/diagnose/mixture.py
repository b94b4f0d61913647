"""Diagnoses of Gaussian mixtures."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from coterie.choosing.diagnose.case import ONE_HOLDS_NEARLY_ALL, Case, Diagnosis
from coterie.choosing.sampling import row_keys
from coterie.choosing.spreads import spreads
from coterie.formatting import number, plural, share
from coterie.remedies import Remedy

THIN = 1e-4  # of the spread of the data, in some direction


def diagnoses(case: Case) -> Iterator[Diagnosis]:
    yield from _not_converged(case)
    thin = list(_collapsed(case))
    yield from thin
    if not thin:
        yield from _few_rows(case)
    yield from _one_has_nearly_all(case)


def _not_converged(case: Case) -> Iterator[Diagnosis]:
    model = case.model
    if model.converged_ or not model.history_:
        return
    gain = model.history_[-1].decrease / case.n
    gained = "" if np.isnan(gain) else f"; the last iteration still gained {number(gain)} by row"
    limit = {"max_iter": 10 * model.max_iter} if "max_iter" in model.stopped_ else {}
    faster = "fit again with {max_iter}, {accelerate}" if limit else "fit again with {accelerate}"
    yield Diagnosis(
        "not-converged",
        f"the fit stopped before it had converged ({model.stopped_}{gained})",
        (Remedy(faster, limit | {"accelerate": True}), Remedy("a larger {tol:name}")),
    )


def _collapsed(case: Case) -> Iterator[Diagnosis]:
    """Diagnoses of components that are flat in a direction in which the data are not."""
    model, family = case.model, case.model._family
    spread = np.ldexp(*spreads(case.X))
    if not family.estimated or case.n < 2 or not spread.any():
        return
    covariances = np.asarray(model.covariances_, dtype=np.float64)
    k = len(model.means_)
    flat = np.flatnonzero(family.has_smaller_variance(covariances, k, spread, THIN**2))
    if len(flat) == k:
        if k > 1 or family.has_matrices:
            yield Diagnosis(
                "dependent-columns",
                "columns depend on each other: all components are flat in some direction",
                (
                    Remedy("drop columns that follow from others"),
                    Remedy("reduce them with PCA"),
                    Remedy("use {covariance_type}", {"covariance_type": "diag"}),
                ),
            )
        return
    counts = np.bincount(case.labels, minlength=k)
    variance = float(np.mean(spread[spread > 0] ** 2))
    for component in flat:
        rows = case.X[case.labels == component]
        points = len(np.unique(row_keys(rows))) if len(rows) <= 100_000 else len(rows)
        onto = plural(points, "point")
        if counts[component] > points:
            onto += f" ({plural(int(counts[component]), 'row')})"
        yield Diagnosis(
            "collapsed-component",
            f"component {component} collapsed onto {onto}",
            (
                Remedy("set {n_components}", {"n_components": k - len(flat)}),
                Remedy(f"a larger {{reg_covar:name}} such as {number(1e-3 * variance)}"),
                Remedy("other starts with {n_init}", {"n_init": 10}),
            ),
        )


def _few_rows(case: Case) -> Iterator[Diagnosis]:
    d = case.X.shape[1]
    if case.model._fitted_type != "full":
        return
    effective = np.asarray(case.model.weights_) * case.n
    small = np.flatnonzero(effective < d + 1)
    if len(small):
        rows = number(effective[small[0]])
        yield Diagnosis(
            "few-rows",
            f"component {small[0]} has {rows} row{'' if rows == '1' else 's'} for a covariance "
            f"of {d} columns, which needs {d + 1}",
            (
                Remedy("use {covariance_type}", {"covariance_type": "diag"}),
                Remedy("fewer components"),
                Remedy("fewer columns"),
            ),
        )


def _one_has_nearly_all(case: Case) -> Iterator[Diagnosis]:
    weights = np.asarray(case.model.weights_)
    if len(weights) > 1 and weights.max() >= ONE_HOLDS_NEARLY_ALL:
        top = int(np.argmax(weights))
        yield Diagnosis(
            "one-cluster",
            f"component {top} has {share(float(weights.max()))} of the weight",
            (
                Remedy("compare fewer components by BIC (choose_k)", code="compare-k"),
                Remedy("start again with {n_init}", {"n_init": 10}),
            ),
        )
