"""coterie info: the content of a file, in words or as JSON."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from coterie.cli.input import read_input
from coterie.cli.methods import STORED
from coterie.cli.report_json import TELLING
from coterie.cli.requests import InfoRequest
from coterie.cli.screen import put, put_json
from coterie.cli.terminal import Terminal
from coterie.formatting import number, plural, text_table
from coterie.models import describe
from coterie.models.container import MAGIC
from coterie.visible_text import one_line

if TYPE_CHECKING:
    from coterie.data import Dataset

MOST = 40  # columns listed
REACHED = {
    "n_clusters_": "clusters",
    "clustering_error_": "clustering error",
    "soft_clustering_error_": "soft clustering error",
    "n_iter_": "iterations",
    "stopped_": "and then:",
}
UNSAID = ("source", "rows", "rarities", "vocabulary", "directions", "missing")
WORDS = {"columns_left_out": "not used", "rows_left_out": "dropped"}


def run(request: InfoRequest) -> None:
    """Run the command."""
    if is_model(request.source):
        _show(describe(request.source), _model_text, request)
        return
    reading = request.reading
    if reading.missing is None and _is_table(request.source, reading.kind):
        reading = replace(reading, missing="keep")  # gaps are counted, not refused
    _show(read_input(request.source, reading), _data_text, request, _data_json)


def _show(
    found: Any,
    in_words: Callable[[Any], str],
    request: InfoRequest,
    for_programs: Callable[[Any], Any] = dict,
) -> None:
    if request.as_json:
        put_json(for_programs(found))
    else:
        put(in_words(found))


def is_model(source: str) -> bool:
    """Return True for a file that begins as saved models do."""
    path = Path(source)
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(MAGIC)).startswith(MAGIC[:7])


def _is_table(source: str, kind: str | None) -> bool:
    from coterie.data.read import kind_of

    path = Path(source)
    return (kind or (kind_of(path) if path.exists() else "none")) == "table"


def _model_text(header: Mapping[str, Any]) -> str:
    """Return the content of a header in words, without the arrays behind it."""
    scaling, columns = header["scaling"], header["columns"]
    kind = scaling.get("kind", "yes") if isinstance(scaling, dict) else scaling
    parameters, attributes = header["parameters"], header["attributes"]
    told = [
        f"{name} {parameters[name]}"
        for name in TELLING
        if isinstance(parameters.get(name), int | float | str)  # and no array
    ]
    reached = [
        f"{words} {number(value) if isinstance(value, float) else value}"
        for name, words in REACHED.items()
        if isinstance(value := attributes.get(name), int | float | str)
    ]
    shown = {
        "model": STORED.get(header["estimator"], header["estimator"]),
        "with": ", ".join(told),
        "reached": ", ".join(reached),
        "rows of fit": _rows_of_fit(header),
        "columns": f"{len(columns)}: {_listed(columns)}" if columns else "",
        "scaling": kind or "none",
        "fitted to": header["provenance"].get("source"),
        "written by": f"{header['written_by']}, {header['created']}",
    }
    return "\n".join(_line(head, text) for head, text in shown.items() if text)


def _listed(names: Sequence[str], most: int = 8) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _rows_of_fit(header: Mapping[str, Any]) -> str:
    shapes = {entry["name"]: entry["shape"] for entry in header["arrays"]}
    return f"{shapes['labels_'][0]:,}" if "labels_" in shapes else ""


def _line(head: str, text: Any) -> str:
    return f"  {Terminal.of(sys.stdout).faint(head.ljust(12))}{one_line(text)}"


def _data_text(data: Dataset) -> str:
    rows = f"{plural(len(data), 'row')} of {plural(len(data.columns), 'column')}"
    lines = [_line("input", data.source), _line("kind", data.kind), _line("rows", rows)]
    for name, value in data.provenance.items():
        if name in UNSAID or value in (None, "", {}, 0):
            continue
        shown = (
            ", ".join(f"{k} ({v})" for k, v in value.items()) if isinstance(value, dict) else value
        )
        if isinstance(shown, list):
            shown = " x ".join(map(str, shown))
        lines.append(_line(WORDS.get(name, name.replace("_", " "))[:11], shown))
    if data.kind != "text":
        lines += ["", _columns_text(data)]
    return "\n".join(lines)


def _columns_text(data: Dataset) -> str:
    shown = columns_of(data)
    shown["column"] = list(map(one_line, shown["column"]))
    more = len(shown["column"]) - MOST
    width = max(len("column"), *map(len, shown["column"]))
    cut = {name: values[:MOST] for name, values in shown.items()}
    cut["column"] = [name.ljust(width) for name in cut["column"]]
    for name in ("smallest", "mean", "largest", "spread"):
        cut[name] = [number(value) for value in cut[name]]
    table = text_table({"column".ljust(width): cut.pop("column"), **cut})
    return table + (f"\n  and {more} more" if more > 0 else "")


def columns_of(data: Dataset) -> dict[str, list[Any]]:
    """Return of each column: smallest, mean and largest value, deviation, missing cells."""
    X = data.X.toarray() if sparse.issparse(data.X) else data.X
    missing = np.isnan(X).sum(axis=0)
    held = np.ma.masked_invalid(X.astype(np.float64))
    return {
        "column": list(data.columns),
        "smallest": _floats(held.min(axis=0)),
        "mean": _floats(held.mean(axis=0)),
        "largest": _floats(held.max(axis=0)),
        "spread": _floats(held.std(axis=0)),
        "missing": [int(count) for count in missing],
    }


def _floats(values: Any) -> list[float]:
    return [float(value) for value in np.ma.filled(values, np.nan)]


def _data_json(data: Dataset) -> dict[str, Any]:
    described: dict[str, Any] = {"input": data.source, "kind": data.kind, "rows": len(data)}
    if data.kind != "text":
        table = columns_of(data)
        described["columns"] = [
            dict(zip(table, values, strict=True)) for values in zip(*table.values(), strict=True)
        ]
    return {**described, "provenance": dict(data.provenance)}
