"""coterie compare: methods or models on the same rows, as a table, as JSON, as a picture."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from coterie.choosing import compare
from coterie.cli.labels_output import check_not_input
from coterie.cli.methods import DBSCANOptions, KMeansOptions, MixtureOptions, label_of
from coterie.cli.pictures import write_figure
from coterie.cli.requests import CompareRequest
from coterie.cli.run.fit import chosen_eps, chosen_k, read_timed
from coterie.cli.run.predict import load_model
from coterie.cli.screen import put, put_json
from coterie.cli.terminal import Console

if TYPE_CHECKING:
    from coterie.data import Dataset


def run(request: CompareRequest) -> None:
    """Run the command."""
    check_not_input(request.source, request.picture)
    console = request.console.log_iterations()
    if request.running.gaps and not request.models:
        raise click.UsageError(
            "k-means and DBSCAN need every cell, and --missing keep leaves gaps; take --missing "
            "median or drop, or compare mixtures that were fitted to gaps, with --model"
        )
    loaded = {name: load_model(path) for name, path in _named(request.models).items()}
    data, _ = read_timed(request.source, request.reading, console)
    models: dict[str, Any] = dict(loaded) or _all_three(data, request, console)
    rows = data if loaded else data.X
    with warnings.catch_warnings(), console.progress("comparing"):
        warnings.simplefilter("ignore", ConvergenceWarning)
        labels = {name: _labels(model, rows) for name, model in models.items()}
        found = compare(data.X, labels, random_state=request.running.seed)
    if request.picture is not None:
        from coterie.plots import ComparisonDisplay

        display = ComparisonDisplay.from_comparison(data.X, found, names=data.columns)
        write_figure(display.figure_, request.picture)
    if request.as_json:
        table = {**found.table(), "ari": found.ari.tolist(), "ami": found.ami.tolist()}
        put_json({"input": request.source, **table})
    else:
        put(found)
    if request.picture is not None:
        console.say()
        console.tell("wrote", f"picture to {request.picture}")


def _named(paths: Sequence[str]) -> dict[str, str]:
    """Return files of models by name: without folder and ending if that tells them apart."""
    stems = Counter(Path(path).stem for path in set(paths))
    return {path if stems[Path(path).stem] > 1 else Path(path).stem: path for path in paths}


def _labels(model: Any, rows: Any) -> Any:
    return model.predict(rows) if hasattr(model, "scaling") else model.fit_predict(rows)


def _all_three(data: Dataset, request: CompareRequest, console: Console) -> dict[str, Any]:
    """Return the three methods; choose the sizes that are not given, and tell the reasons."""
    running, kmeans = request.running, KMeansOptions()
    dbscan = DBSCANOptions(request.eps, request.min_samples)
    k, eps = request.clusters, request.eps
    if k is None:
        found = chosen_k(data, kmeans, running, console)
        k = min(max(found.choice.k, 2), len(data))
        console.tell("why", found.reason)
    if eps is None:
        choice = chosen_eps(data, dbscan, running, console)
        eps = choice.eps
        console.tell("why", choice.reason)
    models: dict[str, Any] = {"kmeans": kmeans.estimator(k, data, running)}
    if not sparse.issparse(data.X):
        models["mixture"] = MixtureOptions().estimator(k, data, running)
    models["dbscan"] = dbscan.estimator(eps, data, running)
    console.say()
    return {label_of(method): model for method, model in models.items()}
