"""A saved model and new data: read as the data of the fit were read, then predicted."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from coterie.cli.labels_output import check_not_input
from coterie.cli.methods_table import label_of, method_of
from coterie.cli.run.fit import read_timed, voice_of
from coterie.cli.run.outcome import Keeping, Outcome, keep
from coterie.models import Model, load

if TYPE_CHECKING:
    from coterie.data import Dataset

SHOWN = 12  # columns that a note lists


def run(model: str, source: str, options: Mapping[str, Any]) -> None:
    """The command."""
    keeping, voice = Keeping.of(source, options), voice_of(options)
    check_not_input(model, keeping.output, keeping.picture)
    loaded = load_model(model)
    data, seconds = read_timed(source, options, voice, reading_as(loaded))
    outcome = predicted(loaded, data)
    outcome.seconds = seconds | outcome.seconds
    if options["degrees"]:
        outcome.extra = degrees_of(loaded, outcome.data)
    outcome.reasons = [f"{label_of(outcome.method)} from {model}"]
    if data.provenance.get("names") == "given":
        shown = [*data.columns[:SHOWN], *(["..."] if len(data.columns) > SHOWN else [])]
        outcome.warnings.append(
            f"{data.source} has no names for its columns: they were taken for those of the model, "
            f"in this order: {', '.join(shown)}"
        )
    keep(outcome, keeping, voice)


def load_model(path: str) -> Model:
    """A model with what was done to its data, or an error about the file."""
    if not Path(path).is_file():
        raise click.UsageError(
            f"expected a model saved with --save or coterie.save, found no file {path!r}"
        )
    loaded = load(path)
    model = loaded if isinstance(loaded, Model) else Model(loaded)
    if not hasattr(model.estimator, "predict"):
        raise click.UsageError(
            f"expected a model that can place rows, got {path}, a DBSCANPath: it answers for every "
            "eps, and only for the rows of its fit, by coterie.load(...).labels(eps) in Python; "
            "save a DBSCAN of one eps with coterie dbscan INPUT --eps ... --save FILE"
        )
    return model


def reading_as(model: Model) -> dict[str, Any]:
    """Options with which new data are read like those of the fit, and the kinds they may have."""
    known = model.provenance
    if "hop" in known:
        rate = known["rate"]
        return {
            "kinds": ("sound",),
            "samples": known["features"] == "samples",
            "frame": known["frame"] / rate,
            "hop": known["hop"] / rate,
            "bands": known["bands"],
        }
    if "position" in known:
        pixels = known["features"] == "pixels"
        return {
            "kinds": ("picture", "video"),
            "patch": None if pixels else tuple(known["size"]),
            "pixels": pixels,
            "position": known["position"] or None,
            "every": known.get("every"),
        }
    if "rarities" in known:
        return {
            "kinds": ("text",),
            "words": known.get("vocabulary", list(model.columns)),
            "rarities": known["rarities"],
            "directions": known.get("directions"),
        }
    if "format" in known:
        return {"kinds": ("table",), "columns": list(model.columns)}
    return {}


def predicted(model: Model, data: Dataset) -> Outcome:
    """What the model makes of the rows."""
    if data.kind == "text" and "rarities" not in model.provenance:
        raise ValueError(
            "expected a model that knows the words of its texts, got one without, saved by an "
            "older Coterie from texts reduced with --components; fit and save it again"
        )
    began = time.perf_counter()
    rows = model.rows(data)
    if data.kind == "text":
        _check_words(rows, data)
    labels = model.estimator.predict(rows)
    seconds = {"predicting": time.perf_counter() - began}
    columns = model.columns or data.columns
    seen = replace(data, X=rows, columns=columns, scaling=model.scaling)
    return Outcome(method_of(model.estimator), seen, model.estimator, labels, seconds)


def _check_words(rows: Any, data: Dataset) -> None:
    """Refuse texts without any word of the model: they are like no cluster, and like all."""
    blank = np.flatnonzero(abs(rows).sum(axis=1) == 0)
    if len(blank):
        first = data.table(np.zeros(len(data), dtype=np.intp))["document"][blank[0]]
        raise ValueError(
            f"{data.source}: expected texts with words that the model knows, got "
            f"{len(blank):,} of {len(data):,} without any, the first {first!s}; leave them out, or "
            "fit a model to such texts"
        )


def degrees_of(model: Model, data: Dataset) -> dict[str, Any]:
    """Columns of degrees of belonging; `data` as the estimator sees them."""
    if not hasattr(model.estimator, "predict_proba"):
        raise click.UsageError("--degrees are of mixtures, and this model is another method's")
    degrees = model.estimator.predict_proba(data.X)
    return {f"degree_{c}": degrees[:, c] for c in range(degrees.shape[1])}
