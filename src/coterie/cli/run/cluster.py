"""coterie cluster: choices by all three methods, the method that they speak for, and its fit."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from coterie.choosing.decide import Evidence, unequal_spreads
from coterie.cli.console import Voice
from coterie.cli.methods_table import DensityOptions, MeansOptions, MixtureOptions, label_of
from coterie.cli.run import build
from coterie.cli.run.build import ChosenK, Running, measured
from coterie.cli.run.fit import CHOOSING_ROWS, chosen_eps, chosen_k, read_timed, voice_of
from coterie.cli.run.outcome import Keeping, Outcome, fit, keep
from coterie.formatting import number, share

if TYPE_CHECKING:
    from coterie.data import Dataset

MOST_COLUMNS = 20  # for mixtures and DBSCAN
FEWEST_ROWS = 20


def run(source: str, options: Mapping[str, Any]) -> None:
    """Run the command."""
    keeping, voice = Keeping.of(source, options), voice_of(options)
    data, seconds = read_timed(source, options, voice)
    outcome = found_by_looking(data, options, voice, trace=keeping.film)
    outcome.seconds = seconds | outcome.seconds
    keep(outcome, keeping, voice)


def found_by_looking(
    data: Dataset, options: Mapping[str, Any], voice: Voice, trace: bool = False
) -> Outcome:
    """Choose scaling, method and parameters, and fit."""
    began = time.perf_counter()
    data, scaled = _comparable(data, options)
    method, model, reasons = _method(data, Running.of(options), voice)
    if trace:
        model.set_params(trace=True)
    chosen = time.perf_counter() - began
    outcome = fit(method, model, data, voice, f"fitting {label_of(method)}")
    outcome.reasons = [*scaled, *reasons]
    outcome.seconds = {"choosing": chosen} | outcome.seconds
    return outcome


def _comparable(data: Dataset, options: Mapping[str, Any]) -> tuple[Dataset, list[str]]:
    """Scale a table whose columns differ much in spread, unless the user has decided."""
    if data.kind != "table" or options.get("scaling") is not None:
        return data, []
    unequal = unequal_spreads(data.X)
    if unequal is None:
        return data, []
    reason = (
        f"{data.columns[unequal.wide]} spreads {number(unequal.ratio)} times as wide as "
        f"{data.columns[unequal.narrow]} and would decide alone, so columns are scaled "
        "(standard); --scaling none leaves them."
    )
    return data.scaled("standard"), [reason]


def _method(data: Dataset, running: Running, voice: Voice) -> tuple[str, Any, list[str]]:
    """Return the method, its estimator, and the reasons."""
    sample, note = data, ""
    if len(data) > CHOOSING_ROWS:
        rows = np.random.default_rng(running.seed).choice(len(data), CHOOSING_ROWS, replace=False)
        sample = replace(data, X=data.X[np.sort(rows)])
        note = f" Looked for in a random sample of {CHOOSING_ROWS:,} rows."
    evidence, whole = _evidence(sample, running, voice), sample is data
    decision = evidence.decide()
    if decision.method == "dbscan":
        own, choice = DensityOptions(), evidence.dbscan
        if choice is None or not whole:  # eps depends on how dense all rows are
            choice = chosen_eps(data, own, running, voice)
        reasons = [f"DBSCAN: {decision.reason}.{note}", choice.reason]
        return "dbscan", build.dbscan(choice.eps, own, data, running), reasons
    if decision.method == "mixture" and evidence.mixture is not None:
        reasons = [f"a Gaussian mixture: {decision.reason}.", f"{evidence.mixture.reason}{note}"]
        mixture = build.mixture(evidence.mixture.k, MixtureOptions(), data, running)
        return "mixture", measured(ChosenK(evidence.mixture, "", whole), mixture), reasons
    means = build.kmeans(evidence.kmeans.k, MeansOptions(), data, running)
    reasons = [f"{label_of('kmeans')}: {decision.reason}{note}", *_beside_kmeans(evidence)]
    return "kmeans", measured(ChosenK(evidence.kmeans, "", whole), means), reasons


def _evidence(data: Dataset, running: Running, voice: Voice) -> Evidence:
    means = chosen_k(data, "kmeans", running, voice).choice
    wide = data.X.shape[1] > MOST_COLUMNS or sparse.issparse(data.X)
    if wide or len(data) < FEWEST_ROWS:
        return Evidence(data.X, means)
    mixture = chosen_k(data, "mixture", running, voice).choice
    return Evidence(data.X, means, mixture, chosen_eps(data, DensityOptions(), running, voice))


def _beside_kmeans(evidence: Evidence) -> list[str]:
    """Return a sentence about DBSCAN where it sees clear clusters too."""
    if evidence.dbscan is None or not evidence.dense_clusters or evidence.kmeans.k == 1:
        return []
    same = evidence.kmeans_finds_dense_clusters
    agree = "DBSCAN finds the same groups" if same else "DBSCAN differs"
    noise = float((evidence.dbscan.model.labels_ < 0).mean())
    apart = f", and {share(noise)} of the rows apart from all: see coterie dbscan" if noise else ""
    return [f"{agree}{apart}."]
