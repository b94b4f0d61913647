"""coterie cluster: choices by all three methods, the method that they speak for, and its fit."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from coterie.choosing.decide import Evidence, unequal_spreads
from coterie.cli.methods import DBSCANOptions, KMeansOptions, MixtureOptions, Running, label_of
from coterie.cli.requests import ClusterRequest
from coterie.cli.run.fit import (
    CHOOSING_ROWS,
    ChosenK,
    check_whole,
    chosen_eps,
    chosen_k,
    measured,
    read_timed,
)
from coterie.cli.run.result import Result, check_keeping, fit, keep
from coterie.cli.terminal import Console
from coterie.formatting import number, share

if TYPE_CHECKING:
    from coterie.data import Dataset

MOST_COLUMNS = 20  # for mixtures and DBSCAN
FEWEST_ROWS = 20
KMEANS, MIXTURE, DBSCAN = KMeansOptions(), MixtureOptions(), DBSCANOptions()  # all by default


def run(request: ClusterRequest) -> None:
    """Run the command."""
    check_keeping(request.source, request.keeping)
    console = request.console.log_iterations()
    data, seconds = read_timed(request.source, request.reading, console)
    scale, trace = request.reading.scaling is None, request.keeping.film
    result = clustered(data, request.running, console, scale=scale, trace=trace)
    result.seconds = seconds | result.seconds
    keep(result, request.keeping, console)


def clustered(
    data: Dataset, running: Running, console: Console, *, scale: bool, trace: bool = False
) -> Result:
    """Choose scaling (if `scale`), method and parameters, and fit."""
    began = time.perf_counter()
    check_whole(data)
    data, scaled = _comparable(data) if scale else (data, [])
    method, model, reasons = _method(data, running, console)
    if trace:
        model.set_params(trace=True)
    chosen = time.perf_counter() - began
    result = fit(method, model, data, console, f"fitting {label_of(method)}")
    result.reasons = [*scaled, *reasons]
    result.seconds = {"choosing": chosen} | result.seconds
    return result


def _comparable(data: Dataset) -> tuple[Dataset, list[str]]:
    """Scale a table whose columns differ much in spread."""
    unequal = unequal_spreads(data.X) if data.kind == "table" else None
    if unequal is None:
        return data, []
    reason = (
        f"{data.columns[unequal.wide]} spreads {number(unequal.ratio)} times as wide as "
        f"{data.columns[unequal.narrow]} and would decide alone, so columns are scaled "
        "(standard); --scaling none leaves them."
    )
    return data.scaled("standard"), [reason]


def _method(data: Dataset, running: Running, console: Console) -> tuple[str, Any, list[str]]:
    """Return the method, its estimator, and the reasons."""
    sample, note = data, ""
    if len(data) > CHOOSING_ROWS:
        rows = np.random.default_rng(running.seed).choice(len(data), CHOOSING_ROWS, replace=False)
        sample = replace(data, X=data.X[np.sort(rows)])
        note = f" Looked for in a random sample of {CHOOSING_ROWS:,} rows."
    evidence, whole = _evidence(sample, running, console), sample is data
    decision = evidence.decide()
    if decision.method == "dbscan":
        choice = evidence.dbscan
        if choice is None or not whole:  # eps depends on how dense all rows are
            choice = chosen_eps(data, DBSCAN, running, console)
        reasons = [f"DBSCAN: {decision.reason}.{note}", choice.reason]
        return "dbscan", DBSCAN.estimator(choice.eps, data, running), reasons
    if decision.method == "mixture" and evidence.mixture is not None:
        reasons = [f"a Gaussian mixture: {decision.reason}.", f"{evidence.mixture.reason}{note}"]
        mixture = MIXTURE.estimator(evidence.mixture.k, data, running)
        return "mixture", measured(ChosenK(evidence.mixture, "", whole), mixture), reasons
    means = KMEANS.estimator(evidence.kmeans.k, data, running)
    reasons = [f"{label_of('kmeans')}: {decision.reason}{note}", *_beside_kmeans(evidence)]
    return "kmeans", measured(ChosenK(evidence.kmeans, "", whole), means), reasons


def _evidence(data: Dataset, running: Running, console: Console) -> Evidence:
    means = chosen_k(data, KMEANS, running, console).choice
    wide = data.X.shape[1] > MOST_COLUMNS or sparse.issparse(data.X)
    if wide or len(data) < FEWEST_ROWS:
        return Evidence(data.X, means)
    mixture = chosen_k(data, MIXTURE, running, console).choice
    return Evidence(data.X, means, mixture, chosen_eps(data, DBSCAN, running, console))


def _beside_kmeans(evidence: Evidence) -> list[str]:
    """Return a sentence about DBSCAN if it sees clear clusters too."""
    if evidence.dbscan is None or not evidence.dense_clusters or evidence.kmeans.k == 1:
        return []
    same = evidence.kmeans_finds_dense_clusters
    agree = "DBSCAN finds the same groups" if same else "DBSCAN differs"
    noise = float((evidence.dbscan.model.labels_ < 0).mean())
    apart = f", and {share(noise)} of the rows apart from all: see coterie dbscan" if noise else ""
    return [f"{agree}{apart}."]
