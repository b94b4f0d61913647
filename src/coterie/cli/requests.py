"""Requests: the options of every command as one typed record each.

A command makes its request of the values that click has checked, and hands it to its file in
`cli/run`. Groups of options that commands share are records too: `Reading`, `Running`, `Keeping`
and `Console`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal, Self

from coterie.cli.methods import METHODS, MethodOptions, Running
from coterie.cli.options import FILMS
from coterie.cli.records import Record
from coterie.cli.terminal import Console


@dataclass(frozen=True)
class Reading(Record):
    """Options of reading INPUT; None or False if not given."""

    kind: str | None = None
    columns: list[str | int] | None = None
    ids: str | None = None
    scaling: Literal["standard", "robust", "min-max", "none"] | None = None
    missing: str | None = None
    separator: str | None = None
    decimal: str | None = None
    header: bool | None = None
    array: str | None = None
    patch: int | tuple[int, int] | None = None
    pixels: bool = False
    position: float | None = None
    every: float | None = None
    frame: float | None = None
    hop: float | None = None
    bands: int | None = None
    samples: bool = False
    components: int | None = None
    stop_words: str | None = None
    max_memory: str | None = None
    max_expansion: float | None = None
    max_pixels: int | None = None

    def given(self) -> dict[str, Any]:
        """Return the options that were given, without `kind` and `scaling`."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {
            name: value
            for name, value in values.items()
            if name not in ("kind", "scaling")
            and value is not None
            and (value is not False or name == "header")
        }


@dataclass(frozen=True)
class Keeping(Record):
    """Options of results: labels, a picture, the model, a summary as JSON."""

    output: Path | None = None
    form: str | None = None
    picture: Path | None = None
    save: Path | None = None
    as_json: bool = False

    @property
    def film(self) -> bool:
        """The picture is to show the iterations."""
        return self.picture is not None and self.picture.suffix.lower() in FILMS


@dataclass(frozen=True)
class DataRequest(Record):
    """Options of every command that reads INPUT and computes."""

    source: str
    reading: Reading
    running: Running
    console: Console


@dataclass(frozen=True)
class FitRequest(DataRequest):
    """coterie kmeans, mixture and dbscan."""

    method: str
    own: MethodOptions
    keeping: Keeping
    degrees: bool = False
    kinds: bool = False

    @classmethod
    def for_method(cls, method: str, given: Mapping[str, Any]) -> Self:
        """Return the request of the command of a method."""
        own = METHODS[method].options.of(given)
        return cls.of({**given, "method": method, "own": own})


@dataclass(frozen=True)
class ClusterRequest(DataRequest):
    """coterie cluster."""

    keeping: Keeping


@dataclass(frozen=True)
class PredictRequest(Record):
    """coterie predict."""

    model: str
    source: str
    degrees: bool
    reading: Reading
    keeping: Keeping
    console: Console


@dataclass(frozen=True)
class ChooseRequest(DataRequest):
    """coterie choose."""

    method: str
    clusters: Any  # candidates
    criterion: str
    min_samples: int
    metric: str | None
    exact: bool
    picture: Path | None
    as_json: bool


@dataclass(frozen=True)
class CompareRequest(DataRequest):
    """coterie compare."""

    clusters: int | None
    eps: float | None
    min_samples: int
    models: tuple[str, ...]
    picture: Path | None
    as_json: bool


@dataclass(frozen=True)
class PlotRequest(DataRequest):
    """coterie plot."""

    data: str | None
    output: Path
    view: str
    axes: list[str | int] | None


@dataclass(frozen=True)
class InfoRequest(Record):
    """coterie info."""

    source: str
    as_json: bool
    reading: Reading
    console: Console


@dataclass(frozen=True)
class DemoRequest(Record):
    """coterie demo."""

    photo: str | None
    patch: int
    clusters: int
    output: Path
    as_json: bool
    quiet: bool


@dataclass(frozen=True)
class FiguresRequest(Record):
    """coterie figures."""

    output: Path
    form: str
    only: tuple[str, ...]
    console: Console
