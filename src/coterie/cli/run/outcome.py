"""One fit from beginning to end: the model is fitted, looked at, told of, and kept."""

from __future__ import annotations

import re
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from coterie.choosing.diagnose import Diagnosis, diagnose
from coterie.cli.console import Voice
from coterie.cli.labels_output import check_different, check_not_input, form_of, write_labels
from coterie.cli.pictures import draw, films
from coterie.cli.screen import put_json
from coterie.models import Model, save

if TYPE_CHECKING:
    from coterie.data import Dataset


@dataclass(frozen=True)
class Keeping:
    """What is to be kept of a fit, and where."""

    source: str
    output: Path | None = None
    form: str | None = None
    picture: Path | None = None
    save: Path | None = None
    as_json: bool = False

    @classmethod
    def of(cls, source: str, options: Mapping[str, Any]) -> Keeping:
        """Take the options of the command line, and check what can be checked before the work."""
        names = ("output", "form", "picture", "save", "as_json")
        kept = cls(source, **{name: options[name] for name in names if name in options})
        form_of(kept.output, kept.form)
        check_not_input(source, kept.output, kept.picture, kept.save)
        check_different(kept.output, kept.picture, kept.save)
        return kept

    @property
    def film(self) -> bool:
        """Whether the iterations are wanted."""
        return films(self.picture)


@dataclass
class Outcome:
    """A fitted model, its data, and all that there is to say."""

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
        """What identifies each row, its cluster, and more if asked for."""
        return {**self.data.table(np.asarray(self.labels)), **self.extra}


def fit(method: str, model: Any, data: Dataset, voice: Voice, doing: str) -> Outcome:
    """Fit a model with progress; what it warns of is kept, not printed."""
    began = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught, voice.progress(doing) as step:
        warnings.simplefilter("always")
        model.set_params(callback=Listener(model, step))
        model.fit(data.X)
        model.set_params(callback=None)
        labels = model.labels_ if hasattr(model, "labels_") else model.predict(data.X)
        fitted = time.perf_counter()
        diagnoses = diagnose(model, data.X) if method != "mixture" or _whole(data.X) else ()
        looked = time.perf_counter()
    seconds = {"fitting": fitted - began, "looking for faults": looked - fitted}
    outcome = Outcome(method, data, model, labels, seconds)
    outcome.diagnoses = tuple(_named(diagnosis, data.columns) for diagnosis in diagnoses)
    if not diagnoses:  # they say the same better
        outcome.warnings = list(dict.fromkeys(str(warning.message) for warning in caught))
    return outcome


def _named(diagnosis: Diagnosis, columns: Sequence[str]) -> Diagnosis:
    """The same with the names of columns, which an array does not have."""

    def name(found: re.Match[str]) -> str:
        place = int(found[1])
        return columns[place] if place < len(columns) else found[0]

    return replace(diagnosis, sentence=re.sub(r"column (\d+)", name, diagnosis.sentence))


def _whole(X: Any) -> bool:
    """Whether no cell is missing."""
    return not isinstance(X, np.ndarray) or not np.isnan(X).any()


class Listener:
    """Turns the events of a fit into progress: at most so many iterations are left."""

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


def keep(outcome: Outcome, keeping: Keeping, voice: Voice) -> None:
    """Draw, save, tell, and write the labels, in this order: a reader of a pipe may go early."""
    if keeping.picture is not None:
        draw(outcome, keeping.picture)
        outcome.written.append(f"picture to {keeping.picture}")
    if keeping.save is not None:
        save(Model.of(outcome.model, outcome.data), keeping.save)
        outcome.written.append(f"model to {keeping.save}")
    deliver(outcome, keeping, voice)


def deliver(outcome: Outcome, keeping: Keeping, voice: Voice) -> None:
    """The labels and the summary."""
    from coterie.cli.report import as_json, tell

    form = form_of(keeping.output, keeping.form)
    to_file = keeping.output is not None and str(keeping.output) != "-"
    if to_file:
        began = time.perf_counter()
        said = write_labels(outcome.columns(), keeping.output, form)
        outcome.written.append(str(said))
        outcome.seconds["writing"] = time.perf_counter() - began
    tell(outcome, voice)
    if keeping.as_json:
        put_json(as_json(outcome))
    elif not to_file:
        said = write_labels(outcome.columns(), keeping.output, form)
        if said:
            voice.tell("labels", said)
