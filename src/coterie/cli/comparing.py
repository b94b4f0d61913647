"""Methods or models on the same rows, as a table, as JSON, as a picture."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sklearn.exceptions import ConvergenceWarning

from coterie.choosing import compare
from coterie.cli.methods import chosen_eps, chosen_k, metric_for, read_timed, voice_of
from coterie.cli.outputs import check_not_input
from coterie.cli.pictures import write_figure
from coterie.cli.predicting import load_model
from coterie.cli.screen import put, put_json
from coterie.cli.voice import Voice
from coterie.estimators import DBSCAN, GaussianMixture, KMeans

if TYPE_CHECKING:
    from coterie.data import Dataset


def run(source: str, options: Mapping[str, Any]) -> None:
    """The command."""
    check_not_input(source, options["picture"])
    voice = voice_of(options)
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
    k, eps, seed, threads = (options[name] for name in ("clusters", "eps", "seed", "threads"))
    own = {"random_state": seed, "n_jobs": threads}
    if k is None:
        choice, reason = chosen_k(data, "kmeans", options, voice)
        k = max(choice.k, 2)
        voice.tell("why", reason)
    if eps is None:
        near = chosen_eps(data, options, voice)
        eps = near.eps
        voice.tell("why", near.reason)
    models: dict[str, Any] = {"k-means": KMeans(k, n_init=4, **own)}
    if data.kind != "text" or (hasattr(data.X, "dtype") and not hasattr(data.X, "tocsr")):
        models["mixture"] = GaussianMixture(k, **own)
    models["DBSCAN"] = DBSCAN(
        eps, min_samples=options["min_samples"], metric=metric_for(data, options), n_jobs=threads
    )
    voice.say()
    return models
