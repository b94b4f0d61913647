"""What kmeans, mixture and dbscan share: read, choose what is not given, fit, keep."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click
import numpy as np
from scipy import sparse

from coterie.choosing import choose_eps, choose_k
from coterie.cli.inputs import read_input
from coterie.cli.outcome import Keeping, Outcome, fit, keep
from coterie.cli.voice import Voice
from coterie.estimators import DBSCAN, GaussianMixture, KMeans

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
    model, reasons = MODELS[method](data, options, voice)
    if reasons:
        seconds["choosing"] = time.perf_counter() - began
    if keeping.film:
        model.set_params(trace=True)
    if voice.verbose and hasattr(model, "verbose"):
        model.set_params(verbose=1)
    outcome = fit(method, model, data, voice, f"fitting {method}")
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


def sample_for_choosing(data: Dataset, seed: int) -> tuple[Any, str]:
    """Rows in which to look for the number of clusters, and what to say about it."""
    if len(data) <= CHOOSING_ROWS:
        return data.X, ""
    rows = np.sort(np.random.default_rng(seed).choice(len(data), CHOOSING_ROWS, replace=False))
    return data.X[rows], f" Looked for in a random sample of {CHOOSING_ROWS:,} rows."


def chosen_k(
    data: Dataset, method: str, options: Mapping[str, Any], voice: Voice
) -> tuple[Any, str]:
    """How many clusters, as `choose_k` says, and the reason."""
    X, note = sample_for_choosing(data, options["seed"])
    with voice.progress("choosing the number of clusters") as step:
        choice = choose_k(
            X,
            method=method,
            covariance_type=options.get("covariance") or "full",
            random_state=options["seed"],
            n_jobs=options["threads"],
            callback=lambda done, total, k: step(done, total, f"k = {k}"),
        )
    return choice, choice.reason + note


def chosen_eps(data: Dataset, options: Mapping[str, Any], voice: Voice) -> Any:
    """How near is near, as `choose_eps` says."""
    with voice.progress("choosing eps") as step:
        return choose_eps(
            data.X,
            options.get("min_samples") or 5,
            metric=metric_for(data, options),
            random_state=options["seed"],
            n_jobs=options["threads"],
            callback=lambda done, total, eps: step(done, total, f"eps = {eps:g}"),
        )


def metric_for(data: Dataset, options: Mapping[str, Any]) -> str:
    """As asked for; of texts only the direction counts."""
    return options.get("metric") or ("cosine" if data.kind == "text" else "euclidean")


def _kmeans(data: Dataset, options: Mapping[str, Any], voice: Voice) -> tuple[Any, list[str]]:
    k, reasons = options["clusters"], []
    if k is None:
        choice, reason = chosen_k(data, "kmeans", options, voice)
        k, reasons = choice.k, [reason]
    model = KMeans(
        k,
        init=options["init"],
        n_init=1 if options["init"] == "principal" else options["runs"],
        max_iter=options["max_iter"],
        max_seconds=options["max_seconds"],
        metric=metric_for(data, options),
        random_state=options["seed"],
        n_jobs=options["threads"],
    )
    return model, reasons


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


def _mixture(data: Dataset, options: Mapping[str, Any], voice: Voice) -> tuple[Any, list[str]]:
    check_dense(data)
    gaps = options.get("missing") == "keep"
    k, reasons = options["clusters"], []
    if k is None:
        whole = data
        if gaps:
            whole = replace(data, X=data.X[~np.isnan(data.X).any(axis=1)])
        choice, reason = chosen_k(whole, "mixture", options, voice)
        k, reasons = choice.k, [reason]
    model = GaussianMixture(
        k,
        covariance_type=options["covariance"],
        tol=options["tol"],
        reg_covar=options["floor"],
        max_iter=options["max_iter"],
        n_init=options["runs"],
        max_seconds=options["max_seconds"],
        accelerate=options["accelerate"],
        missing="marginal" if gaps else "error",
        random_state=options["seed"],
        n_jobs=options["threads"],
    )
    return model, reasons


def _dbscan(data: Dataset, options: Mapping[str, Any], voice: Voice) -> tuple[Any, list[str]]:
    eps, reasons = options["eps"], []
    if eps is None:
        choice = chosen_eps(data, options, voice)
        eps, reasons = choice.eps, [choice.reason]
    model = DBSCAN(
        eps,
        min_samples=options["min_samples"],
        metric=metric_for(data, options),
        n_jobs=options["threads"],
    )
    return model, reasons


MODELS = {"kmeans": _kmeans, "mixture": _mixture, "dbscan": _dbscan}
