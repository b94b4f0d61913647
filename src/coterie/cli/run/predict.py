"""coterie predict: new data, read as the data of the fit were read, and a saved model."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from coterie.cli.input import AsFitted
from coterie.cli.labels_output import check_not_input
from coterie.cli.methods import label_of, method_of
from coterie.cli.requests import PredictRequest, Reading
from coterie.cli.run.fit import degrees_of, read_timed
from coterie.cli.run.result import Result, check_keeping, keep
from coterie.models import Model, load

if TYPE_CHECKING:
    from coterie.data import Dataset

SHOWN = 12  # columns that a note lists


def run(request: PredictRequest) -> None:
    """Run the command."""
    keeping = request.keeping
    check_keeping(request.source, keeping)
    check_not_input(request.model, keeping.output, keeping.picture)
    console = request.console.log_iterations()
    loaded = load_model(request.model)
    data, seconds = read_timed(request.source, request.reading, console, as_fitted(loaded))
    result = predicted(loaded, data)
    result.seconds = seconds | result.seconds
    if request.degrees:
        result.extra = _degrees(loaded, result.data)
    result.reasons = [f"{label_of(result.method)} from {request.model}"]
    if data.provenance.get("names") == "given":
        shown = [*data.columns[:SHOWN], *(["..."] if len(data.columns) > SHOWN else [])]
        result.warnings.append(
            f"{data.source} has no names for its columns: they were taken for those of the model, "
            f"in this order: {', '.join(shown)}"
        )
    keep(result, keeping, console)


def load_model(path: str) -> Model:
    """Return a model with the preparation of its data, or raise an error about the file."""
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


def as_fitted(model: Model) -> AsFitted:
    """Return how the data of the fit were read, so that new data are read alike."""
    known = model.provenance
    if "hop" in known:
        rate = known["rate"]
        sound = Reading(
            samples=known["features"] == "samples",
            frame=known["frame"] / rate,
            hop=known["hop"] / rate,
            bands=known["bands"],
        )
        return AsFitted(("sound",), sound)
    if "position" in known:
        pixels = known["features"] == "pixels"
        picture = Reading(
            patch=None if pixels else tuple(known["size"]),
            pixels=pixels,
            position=known["position"] or None,
            every=known.get("every"),
        )
        return AsFitted(("picture", "video"), picture)
    if "rarities" in known:
        words = {
            "words": known.get("vocabulary", list(model.columns)),
            "rarities": known["rarities"],
            "directions": known.get("directions"),
        }
        return AsFitted(("text",), words=words)
    if "format" in known:
        return AsFitted(("table",), Reading(columns=list(model.columns)))
    return AsFitted()


def predicted(model: Model, data: Dataset) -> Result:
    """Return the clusters of the rows by the model."""
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
    return Result(method_of(model.estimator), seen, model.estimator, labels, seconds)


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


def _degrees(model: Model, data: Dataset) -> dict[str, Any]:
    """Return columns of degrees of belonging; `data` as the estimator sees them."""
    if not hasattr(model.estimator, "predict_proba"):
        raise click.UsageError(
            "--degrees are of mixtures, and this model is another method's; leave it out"
        )
    return degrees_of(model.estimator, data.X)
