"""Methods or models on the same rows, as a table, as JSON, as a picture."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from coterie.choosing import compare
from coterie.cli.console import Voice
from coterie.cli.labels_output import check_not_input
from coterie.cli.methods_table import DensityOptions, MeansOptions, MixtureOptions, label_of
from coterie.cli.pictures import write_figure
from coterie.cli.run import build
from coterie.cli.run.build import Running
from coterie.cli.run.fit import chosen_eps, chosen_k, read_timed, voice_of
from coterie.cli.run.predict import load_model
from coterie.cli.screen import put, put_json

if TYPE_CHECKING:
    from coterie.data import Dataset


def run(source: str, options: Mapping[str, Any]) -> None:
    """The command."""
    check_not_input(source, options["picture"])
    voice = voice_of(options)
    if options["missing"] == "keep" and not options["models"]:
        raise click.UsageError(
            "k-means and DBSCAN need every cell, and --missing keep leaves gaps; take --missing "
            "median or drop, or compare mixtures that were fitted to gaps, with --model"
        )
    loaded = {Path(path).stem: load_model(path) for path in options["models"]}
    data, _ = read_timed(source, options, voice)
    models: dict[str, Any] = dict(loaded) or _all_three(data, options, voice)
    rows = data if loaded else data.X
    with warnings.catch_warnings(), voice.progress("comparing"):
        warnings.simplefilter("ignore", ConvergenceWarning)
        labels = {name: _labels(model, rows) for name, model in models.items()}
        found = compare(data.X, labels, random_state=options["seed"])
    if options["picture"] is not None:
        from coterie.plots import ComparisonDisplay

        display = ComparisonDisplay.from_comparison(data.X, found, names=data.columns)
        write_figure(display.figure_, options["picture"])
    if options["as_json"]:
        table = {**found.table(), "ari": found.ari.tolist(), "ami": found.ami.tolist()}
        put_json({"input": source, **table})
    else:
        put(found)
    if options["picture"] is not None:
        voice.say()
        voice.tell("wrote", f"picture to {options['picture']}")


def _labels(model: Any, rows: Any) -> Any:
    return model.predict(rows) if hasattr(model, "scaling") else model.fit_predict(rows)


def _all_three(data: Dataset, options: Mapping[str, Any], voice: Voice) -> dict[str, Any]:
    """The three methods, with what was not given chosen, and the reasons told."""
    running, density = Running.of(options), DensityOptions.of(options)
    if options["clusters"] is None:
        chosen = chosen_k(data, "kmeans", running, voice)
        k = max(chosen.choice.k, 2)
        voice.tell("why", chosen.reason)
    else:
        k = options["clusters"]
    eps = density.eps
    if eps is None:
        near = chosen_eps(data, density, running, voice)
        eps = near.eps
        voice.tell("why", near.reason)
    models: dict[str, Any] = {"kmeans": build.kmeans(k, MeansOptions(), data, running)}
    if not sparse.issparse(data.X):
        models["mixture"] = build.mixture(k, MixtureOptions(), data, running)
    models["dbscan"] = build.dbscan(eps, density, data, running)
    voice.say()
    return {label_of(method): model for method, model in models.items()}
