"""What kmeans, mixture and dbscan share: read, choose what is not given, fit, keep."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click
import numpy as np
from scipy import sparse

from coterie.choosing import EpsChoice, choose_eps, choose_k
from coterie.cli.console import Voice
from coterie.cli.input import read_input
from coterie.cli.methods_table import DensityOptions, MeansOptions, MixtureOptions, label_of
from coterie.cli.run import build
from coterie.cli.run.build import ChosenK, Running, measured
from coterie.cli.run.outcome import Keeping, Outcome, fit, keep
from coterie.estimators import DBSCAN

if TYPE_CHECKING:
    from coterie.data import Dataset

CHOOSING_ROWS = 20_000  # how many clusters there are shows in so many rows


def voice_of(options: Mapping[str, Any]) -> Voice:
    """How much to say; with --verbose, the log of every iteration too."""
    voice = Voice(bool(options.get("quiet")), int(options.get("verbose") or 0))
    if voice.verbose:
        import logging

        logging.basicConfig(format="  %(message)s")
        logging.getLogger("coterie").setLevel(logging.INFO)
    return voice


def read_timed(
    source: str,
    options: Mapping[str, Any],
    voice: Voice,
    as_model: Mapping[str, Any] | None = None,
) -> tuple[Dataset, dict[str, float]]:
    """The data, and how long that took, and the imports before it."""
    began = time.perf_counter()
    with voice.progress(f"reading {source}"):
        data = read_input(source, options, as_model)
    started = click.get_current_context().obj
    return data, {"starting": began - started, "reading": time.perf_counter() - began}


def run(method: str, source: str, options: Mapping[str, Any]) -> None:
    """One of the three commands."""
    keeping, voice = Keeping.of(source, options), voice_of(options)
    data, seconds = read_timed(source, options, voice)
    began = time.perf_counter()
    model, reasons = built(method, data, options, voice)
    if reasons:
        seconds["choosing"] = time.perf_counter() - began
    if keeping.film:
        model.set_params(trace=True)
    if voice.verbose and hasattr(model, "verbose"):
        model.set_params(verbose=1)
    outcome = fit(method, model, data, voice, f"fitting {label_of(method)}")
    outcome.reasons = reasons
    outcome.seconds = seconds | outcome.seconds
    add_columns(outcome, options)
    keep(outcome, keeping, voice)


def add_columns(outcome: Outcome, options: Mapping[str, Any]) -> None:
    """Degrees of belonging, or kinds of points, where they are asked for."""
    if options.get("degrees"):
        degrees = outcome.model.predict_proba(outcome.data.X)
        outcome.extra = {f"degree_{c}": degrees[:, c] for c in range(degrees.shape[1])}
    if options.get("kinds"):
        outcome.extra = {"kind": np.array(DBSCAN.KINDS, dtype=object)[outcome.model.kind_]}


def built(
    method: str, data: Dataset, options: Mapping[str, Any], voice: Voice
) -> tuple[Any, list[str]]:
    """The estimator that the options ask for, and the reasons of what was chosen."""
    return BUILDERS[method](data, options, Running.of(options), voice)


def _kmeans(
    data: Dataset, options: Mapping[str, Any], running: Running, voice: Voice
) -> tuple[Any, list[str]]:
    own = MeansOptions.of(options)
    if own.clusters is not None:
        return build.kmeans(own.clusters, own, data, running), []
    chosen = chosen_k(data, "kmeans", running, voice)
    plain = build.kmeans(chosen.choice.k, own, data, running)
    asked_for_runs = own.runs != MeansOptions.runs
    return plain if asked_for_runs else measured(chosen, plain), [chosen.reason]


def _mixture(
    data: Dataset, options: Mapping[str, Any], running: Running, voice: Voice
) -> tuple[Any, list[str]]:
    check_dense(data)
    own = MixtureOptions.of(options)
    if own.clusters is not None:
        return build.mixture(own.clusters, own, data, running), []
    chosen = chosen_k(data, "mixture", running, voice, own.covariance)
    plain = build.mixture(chosen.choice.k, own, data, running)
    asked_for_runs = own.runs != MixtureOptions.runs
    return plain if asked_for_runs else measured(chosen, plain), [chosen.reason]


def _dbscan(
    data: Dataset, options: Mapping[str, Any], running: Running, voice: Voice
) -> tuple[Any, list[str]]:
    own = DensityOptions.of(options)
    if own.eps is not None:
        return build.dbscan(own.eps, own, data, running), []
    choice = chosen_eps(data, own, running, voice)
    return build.dbscan(choice.eps, own, data, running), [choice.reason]


BUILDERS = {"kmeans": _kmeans, "mixture": _mixture, "dbscan": _dbscan}


def chosen_k(
    data: Dataset, method: str, running: Running, voice: Voice, covariance: str = "full"
) -> ChosenK:
    """How many clusters, as `choose_k` says for all rows or a sample, and the reason."""
    X, note = data.X, ""
    if running.gaps and method == "mixture":
        X = X[~np.isnan(X).any(axis=1)]
    if X.shape[0] > CHOOSING_ROWS:
        random = np.random.default_rng(running.seed)
        X = X[np.sort(random.choice(X.shape[0], CHOOSING_ROWS, replace=False))]
        note = f" Looked for in a random sample of {CHOOSING_ROWS:,} rows."
    with voice.progress("choosing the number of clusters") as step:
        choice = choose_k(
            X,
            method=method,
            covariance_type=covariance,
            random_state=running.seed,
            n_jobs=running.threads,
            callback=lambda done, total, k: step(done, total, f"k = {k}"),
        )
    return ChosenK(choice, choice.reason + note, whole=X.shape[0] == len(data))


def chosen_eps(data: Dataset, own: DensityOptions, running: Running, voice: Voice) -> EpsChoice:
    """How near is near, as `choose_eps` says."""
    with voice.progress("choosing eps") as step:
        return choose_eps(
            data.X,
            own.min_samples,
            metric=build.metric_for(data, own.metric),
            random_state=running.seed,
            n_jobs=running.threads,
            callback=lambda done, total, eps: step(done, total, f"eps = {eps:g}"),
        )


def check_dense(data: Dataset) -> None:
    """Refuse rows of words for a mixture: it would need a covariance between all of them."""
    if sparse.issparse(data.X):
        n, d = data.X.shape
        few = min(20, n - 1, d - 1)
        remedy = f"reduce them with --components {few}, or " if few > 0 else ""
        raise click.UsageError(
            f"a mixture needs few columns, and {data.source} has {d}, one for each word; {remedy}"
            "take k-means or DBSCAN"
        )
