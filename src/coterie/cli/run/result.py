"""One fit from beginning to end: the model is fitted, diagnosed, reported, and kept."""

from __future__ import annotations

import re
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from coterie.choosing.diagnose import Diagnosis, diagnose
from coterie.cli.labels_output import check_different, check_not_input, form_of, write_labels
from coterie.cli.pictures import draw
from coterie.cli.requests import Keeping
from coterie.cli.screen import put_json
from coterie.cli.terminal import Console
from coterie.models import Model, save

if TYPE_CHECKING:
    from coterie.data import Dataset


@dataclass
class Result:
    """A fitted model, its data and labels, and the sentences and files about them."""

    method: str
    data: Dataset
    model: Any
    labels: Any
    seconds: dict[str, float]
    reasons: list[str] = field(default_factory=list)  # why these parameters
    warnings: list[str] = field(default_factory=list)
    diagnoses: tuple[Diagnosis, ...] = ()
    extra: dict[str, Any] = field(default_factory=dict)  # more columns beside the labels
    written: list[str] = field(default_factory=list)

    def columns(self) -> dict[str, Any]:
        """Return the columns that identify rows, their clusters, and more if asked for."""
        return {**self.data.table(np.asarray(self.labels)), **self.extra}


def check_keeping(source: str, keeping: Keeping) -> None:
    """Check the files to write before any work."""
    form_of(keeping.output, keeping.form)
    check_not_input(source, keeping.output, keeping.picture, keeping.save)
    check_different(keeping.output, keeping.picture, keeping.save)


def fit(method: str, model: Any, data: Dataset, console: Console, doing: str) -> Result:
    """Fit a model with progress; its warnings are kept, not printed."""
    began = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught, console.progress(doing) as step:
        warnings.simplefilter("always")
        model.set_params(callback=Listener(model, step))
        model.fit(data.X)
        model.set_params(callback=None)
        labels = model.labels_ if hasattr(model, "labels_") else model.predict(data.X)
        fitted = time.perf_counter()
        diagnoses = diagnose(model, data.X)
        looked = time.perf_counter()
    seconds = {"fitting": fitted - began, "looking for faults": looked - fitted}
    result = Result(method, data, model, labels, seconds)
    result.diagnoses = tuple(_named(diagnosis, data.columns) for diagnosis in diagnoses)
    if not diagnoses:  # which say the same more clearly
        result.warnings = list(dict.fromkeys(str(warning.message) for warning in caught))
    return result


def _named(diagnosis: Diagnosis, columns: Sequence[str]) -> Diagnosis:
    """Return the diagnosis with names of columns, which an array does not have."""

    def name(found: re.Match[str]) -> str:
        place = int(found[1])
        return columns[place] if place < len(columns) else found[0]

    return replace(diagnosis, sentence=re.sub(r"column (\d+)", name, diagnosis.sentence))


class Listener:
    """Turns the events of a fit into progress, with the most iterations that may be left."""

    def __init__(self, model: Any, step: Any) -> None:
        self.step = step
        runs, most = getattr(model, "n_init", 1), getattr(model, "max_iter", None)
        self.runs = runs if isinstance(runs, int) else 1
        self.most = most or 0

    def __call__(self, event: Any) -> None:
        if hasattr(event, "iteration"):
            done = event.run * self.most + event.iteration
            self.step(done, self.runs * self.most, f"iteration {event.iteration}")
        else:
            self.step(detail=event.step)


def keep(result: Result, keeping: Keeping, console: Console) -> None:
    """Draw, save, report, and write the labels, last because a reader of a pipe may leave."""
    if keeping.picture is not None:
        draw(result, keeping.picture)
        result.written.append(f"picture to {keeping.picture}")
    if keeping.save is not None:
        save(Model.of(result.model, result.data), keeping.save)
        result.written.append(f"model to {keeping.save}")
    deliver(result, keeping, console)


def deliver(result: Result, keeping: Keeping, console: Console) -> None:
    """Write the labels and the summary."""
    from coterie.cli.report import tell
    from coterie.cli.report_json import as_json

    form = form_of(keeping.output, keeping.form)
    to_file = keeping.output is not None and str(keeping.output) != "-"
    if to_file:
        began = time.perf_counter()
        said = write_labels(result.columns(), keeping.output, form)
        result.written.append(str(said))
        result.seconds["writing"] = time.perf_counter() - began
    tell(result, console)
    if keeping.as_json:
        put_json(as_json(result))
    elif not to_file:
        said = write_labels(result.columns(), keeping.output, form)
        if said:
            console.tell("labels", said)
