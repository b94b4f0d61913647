"""Pictures of data and of saved models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from coterie.cli.console import Voice
from coterie.cli.labels_output import check_not_input
from coterie.cli.pictures import display, write_figure
from coterie.cli.run.cluster import found_by_looking
from coterie.cli.run.fit import read_timed, voice_of
from coterie.cli.run.info import is_model
from coterie.cli.run.outcome import Outcome
from coterie.cli.run.predict import load_model, predicted, reading_as
from coterie.models import Model


def run(source: str, data: str | None, options: Mapping[str, Any]) -> None:
    """The command."""
    check_not_input(source, options["output"])
    voice = voice_of(options)
    if is_model(source):
        model = load_model(source)
        if options["view"] == "history":
            figure = _history(model.estimator)
        else:
            figure = _figure(_on_data(model, source, data, options, voice), options)
    elif data is not None:
        raise click.UsageError(f"expected a saved model before DATA, got {source!r}")
    else:
        rows, _ = read_timed(source, options, voice)
        _axes(options, rows.columns)
        outcome = found_by_looking(rows, options, voice)
        for reason in outcome.reasons:
            voice.tell("why", reason)
        figure = (
            _history(outcome.model) if options["view"] == "history" else _figure(outcome, options)
        )
    write_figure(figure, options["output"])
    voice.tell("wrote", f"picture to {options['output']}")


def _on_data(
    model: Model, source: str, data: str | None, options: Mapping[str, Any], voice: Voice
) -> Outcome:
    """The model on DATA, or on the data of its fit."""
    where = data or model.provenance.get("source")
    if where is None or (data is None and not Path(where).exists() and "/" in str(where)):
        raise click.UsageError(
            f"expected the data of the model, found none at {where!r}; name them: "
            f"coterie plot {source} DATA"
        )
    rows, _ = read_timed(str(where), options, voice, reading_as(model))
    _axes(options, model.columns or rows.columns)
    return predicted(model, rows)


def _figure(outcome: Outcome, options: Mapping[str, Any]) -> Any:
    from coterie.plots import ClustersDisplay, SilhouetteDisplay

    X, names = outcome.data.X, outcome.data.columns
    if options["view"] == "silhouette":
        return SilhouetteDisplay.from_labels(X, outcome.labels).figure_
    axes = _axes(options, names)
    if axes is not None:
        return ClustersDisplay.from_estimator(
            outcome.model, X, columns=axes, names=names, diagnoses=False
        ).figure_
    return display(outcome).figure_


def _axes(options: Mapping[str, Any], names: Sequence[str]) -> list[int] | None:
    """The positions of the columns to show; asked for before the work, too."""
    asked = options["axes"]
    if asked is None:
        return None
    places = [axis if isinstance(axis, int) else _place(axis, names) for axis in asked]
    if len(places) > 2 or not all(0 <= place < len(names) for place in places):
        raise click.UsageError(
            f"expected --axes to be one or two of {_listed(names)}, by name or by position from 0, "
            f"got {','.join(map(str, asked))}"
        )
    return places


def _place(axis: str, names: Sequence[str]) -> int:
    return names.index(axis) if axis in names else -1


def _listed(names: Sequence[str], most: int = 12) -> str:
    return ", ".join(names[:most]) + (", ..." if len(names) > most else "")


def _history(model: Any) -> Any:
    if not hasattr(model, "history_"):
        raise click.UsageError(
            "--view history is of k-means and mixtures; DBSCAN has no iterations"
        )
    from coterie.plots import HistoryDisplay

    return HistoryDisplay.from_estimator(model).figure_
