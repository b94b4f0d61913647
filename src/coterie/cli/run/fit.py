"""kmeans, mixture and dbscan: read, choose the size if it is not given, fit, keep."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click
import numpy as np
from scipy import sparse
from sklearn.base import clone

from coterie.choosing import EpsChoice, KChoice, choose_eps, choose_k
from coterie.cli.input import AsFitted, read_input
from coterie.cli.methods import (
    DBSCANOptions,
    KMeansOptions,
    MethodOptions,
    MixtureOptions,
    Running,
    label_of,
    metric_for,
)
from coterie.cli.requests import FitRequest, Reading
from coterie.cli.run.result import check_keeping, fit, keep
from coterie.cli.terminal import Console
from coterie.estimators import DBSCAN, GaussianMixture, KMeans

if TYPE_CHECKING:
    from coterie.data import Dataset

CHOOSING_ROWS = 20_000  # enough to see the number of clusters
OF_A_RESTART = {"random_state", "n_init", "missing"}  # in which a restart differs from the whole


def run(request: FitRequest) -> None:
    """Run one of the three commands."""
    check_keeping(request.source, request.keeping)
    console = request.console.log_iterations()
    data, seconds = read_timed(request.source, request.reading, console)
    began = time.perf_counter()
    model, reasons = chosen(request.own, data, request.running, console)
    if reasons:
        seconds["choosing"] = time.perf_counter() - began
    if request.keeping.film:
        model.set_params(trace=True)
    if console.verbose and hasattr(model, "verbose"):
        model.set_params(verbose=1)
    result = fit(request.method, model, data, console, f"fitting {label_of(request.method)}")
    result.reasons = reasons
    result.seconds = seconds | result.seconds
    if request.degrees:
        result.extra = degrees_of(result.model, data.X)
    if request.kinds:
        result.extra = {"kind": np.array(DBSCAN.KINDS, dtype=object)[result.model.kind_]}
    keep(result, request.keeping, console)


def read_timed(
    source: str, reading: Reading, console: Console, as_fitted: AsFitted | None = None
) -> tuple[Dataset, dict[str, float]]:
    """Return the data, and the seconds of reading and of the imports before it."""
    began = time.perf_counter()
    with console.progress(f"reading {source}"):
        data = read_input(source, reading, as_fitted)
    started = click.get_current_context().obj
    return data, {"starting": began - started, "reading": time.perf_counter() - began}


def degrees_of(model: Any, X: Any) -> dict[str, Any]:
    """Return a column of degrees of belonging for each component of a mixture."""
    degrees = model.predict_proba(X)
    return {f"degree_{c}": degrees[:, c] for c in range(degrees.shape[1])}


def chosen(
    own: MethodOptions, data: Dataset, running: Running, console: Console
) -> tuple[Any, list[str]]:
    """Return the estimator that the options describe, and the reasons for a size not given."""
    if isinstance(own, MixtureOptions):
        check_dense(data)
    else:
        check_whole(data)
    if own.size is not None:
        return own.estimator(own.size, data, running), []
    if isinstance(own, DBSCANOptions):
        choice = chosen_eps(data, own, running, console)
        return own.estimator(choice.eps, data, running), [choice.reason]
    assert isinstance(own, KMeansOptions | MixtureOptions)
    found = chosen_k(data, own, running, console)
    plain = own.estimator(found.choice.k, data, running)
    asked_for_runs = own.runs != type(own).runs
    return plain if asked_for_runs else measured(found, plain), [found.reason]


@dataclass(frozen=True)
class ChosenK:
    """A number of clusters, the reason, and whether all rows were looked at."""

    choice: KChoice
    reason: str
    whole: bool


def chosen_k(
    data: Dataset, own: KMeansOptions | MixtureOptions, running: Running, console: Console
) -> ChosenK:
    """Return the choice of `choose_k` for all rows or a sample, and its reason."""
    mixture = isinstance(own, MixtureOptions)
    X, note = data.X, ""
    if running.gaps and mixture:
        X = X[~np.isnan(X).any(axis=1)]
    if X.shape[0] > CHOOSING_ROWS:
        random = np.random.default_rng(running.seed)
        X = X[np.sort(random.choice(X.shape[0], CHOOSING_ROWS, replace=False))]
        note = f" Looked for in a random sample of {CHOOSING_ROWS:,} rows."
    with console.progress("choosing the number of clusters") as step:
        choice = choose_k(
            X,
            method="mixture" if mixture else "kmeans",
            covariance_type=own.covariance if isinstance(own, MixtureOptions) else "full",
            random_state=running.seed,
            n_jobs=running.threads,
            callback=lambda done, total, k: step(done, total, f"k = {k}"),
        )
    return ChosenK(choice, choice.reason + note, whole=X.shape[0] == len(data))


def chosen_eps(data: Dataset, own: DBSCANOptions, running: Running, console: Console) -> EpsChoice:
    """Return the choice of `choose_eps`."""
    with console.progress("choosing eps") as step:
        return choose_eps(
            data.X,
            own.min_samples,
            metric=metric_for(data, own.metric),
            random_state=running.seed,
            n_jobs=running.threads,
            callback=lambda done, total, eps: step(done, total, f"eps = {eps:g}"),
        )


def measured(found: ChosenK, plain: KMeans | GaussianMixture) -> Any:
    """Return an estimator whose fit gives the very model that was measured for a choice.

    Its seed is that of the best restart, and the same seed gives the same bits. If the choice saw
    only a sample, the fit of all rows goes on from the model of the sample. `plain` is the
    estimator that the options describe; it is returned if the choice measured something else.
    """
    model = found.choice.model
    asked, looked_at = plain.get_params(deep=False), model.get_params(deep=False)
    if any(asked[name] != looked_at[name] for name in set(asked) - OF_A_RESTART):
        return plain
    if found.whole:
        return clone(model)
    return plain.set_params(n_init=1, **_start(model))


def _start(model: Any) -> dict[str, Any]:
    """Return the parameters with which a fit goes on from a model."""
    if isinstance(model, KMeans):
        return {"init": model.cluster_centers_}
    return {
        "weights_init": model.weights_,
        "means_init": model.means_,
        "precisions_init": model.precisions_,
    }


def check_whole(data: Dataset) -> None:
    """Refuse empty cells, which only mixtures understand."""
    if not sparse.issparse(data.X) and np.isnan(data.X).any():
        empty = int(np.isnan(data.X).sum())
        raise click.UsageError(
            f"expected a number in every cell, got {empty:,} empty in {data.source}, as --missing "
            "keep leaves them; take --missing drop or median, or coterie mixture"
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
