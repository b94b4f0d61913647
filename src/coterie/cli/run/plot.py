"""coterie plot: pictures of data and of saved models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from coterie.cli.input import is_there
from coterie.cli.labels_output import check_not_input
from coterie.cli.pictures import display, write_figure
from coterie.cli.requests import PlotRequest
from coterie.cli.run.cluster import clustered
from coterie.cli.run.fit import read_timed
from coterie.cli.run.info import is_model
from coterie.cli.run.predict import as_fitted, load_model, predicted
from coterie.cli.run.result import Result
from coterie.cli.terminal import Console
from coterie.models import Model


def run(request: PlotRequest) -> None:
    """Run the command."""
    source, data, output = request.source, request.data, request.output
    check_not_input(source, output)
    console = request.console.log_iterations()
    if is_model(source):
        model = load_model(source)
        if request.view == "history":
            figure = _history(model.estimator)
        else:
            figure = _figure(_on_data(model, request, console), request)
    elif data is not None:
        raise click.UsageError(
            f"expected a saved model before DATA, got {source!r}; leave DATA out, or name a model "
            "saved with --save"
        )
    else:
        rows, _ = read_timed(source, request.reading, console)
        _axes(request, rows.columns)
        scale = request.reading.scaling is None
        result = clustered(rows, request.running, console, scale=scale)
        for reason in result.reasons:
            console.tell("why", reason)
        history = request.view == "history"
        figure = _history(result.model) if history else _figure(result, request)
    write_figure(figure, output)
    console.tell("wrote", f"picture to {output}")


def _on_data(model: Model, request: PlotRequest, console: Console) -> Result:
    """Return the clusters by the model of DATA, or of the data of its fit."""
    where = request.data or model.provenance.get("source")
    if where is None or (request.data is None and not is_there(str(where))):
        raise click.UsageError(
            f"expected the data of the model, found none at {where!r}; name them: "
            f"coterie plot {request.source} DATA"
        )
    rows, _ = read_timed(str(where), request.reading, console, as_fitted(model))
    _axes(request, model.columns or rows.columns)
    return predicted(model, rows)


def _figure(result: Result, request: PlotRequest) -> Any:
    from coterie.plots import ClustersDisplay, SilhouetteDisplay

    X, names = result.data.X, result.data.columns
    if request.view == "silhouette":
        return SilhouetteDisplay.from_labels(X, result.labels).figure_
    axes = _axes(request, names)
    if axes is not None:
        return ClustersDisplay.from_estimator(
            result.model, X, columns=axes, names=names, diagnoses=False
        ).figure_
    return display(result).figure_


def _axes(request: PlotRequest, names: Sequence[str]) -> list[int] | None:
    """Return the positions of the columns to show; called before the work too, to check them."""
    asked = request.axes
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
            "--view history is of k-means and mixtures, and DBSCAN has no iterations; take --view "
            "clusters or silhouette"
        )
    from coterie.plots import HistoryDisplay

    return HistoryDisplay.from_estimator(model).figure_
