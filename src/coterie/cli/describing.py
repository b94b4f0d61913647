"""What a file holds, in words or as JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from coterie.choosing.words import number, plural, text_table
from coterie.cli.inputs import read_input
from coterie.cli.terminal import Terminal
from coterie.models import describe
from coterie.models.container import MAGIC

if TYPE_CHECKING:
    from coterie.data import Dataset

MOST = 40  # columns listed


def run(source: str, options: Mapping[str, Any]) -> None:
    """The command."""
    if is_model(source):
        header = describe(source)
        print(json.dumps(header, indent=2) if options["as_json"] else _model_text(header))
        return
    data = read_input(
        source, {"missing": "keep" if _table(source, options) else None, **_set(options)}
    )
    print(json.dumps(_data_json(data), indent=2) if options["as_json"] else _data_text(data))


def is_model(source: str) -> bool:
    """Whether a file begins as saved models do."""
    path = Path(source)
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(MAGIC)).startswith(MAGIC[:7])


def _set(options: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


def _table(source: str, options: Mapping[str, Any]) -> bool:
    """Whether INPUT is a table, whose gaps are then counted instead of refused."""
    from coterie.data.reading import kind_of

    path = Path(source)
    return (options["kind"] or (kind_of(path) if path.exists() else "none")) == "table"


def _model_text(header: Mapping[str, Any]) -> str:
    lines = [
        _line("model", header["estimator"]),
        _line("written by", f"{header['written_by']}, {header['created']}"),
    ]
    scaling = header["scaling"]
    if isinstance(scaling, dict):
        scaling = scaling.get("kind", "yes")
    lines.append(_line("scaling", scaling or "none"))
    columns = header["columns"]
    if columns:
        named = ", ".join(columns[:8]) + (
            f" and {len(columns) - 8} more" if len(columns) > 8 else ""
        )
        lines.append(_line("columns", f"{len(columns)}: {named}"))
    source = header["provenance"].get("source")
    if source:
        lines.append(_line("fitted to", source))
    told = {
        name: value for name, value in header["parameters"].items() if not isinstance(value, dict)
    }
    lines.append(
        _line("parameters", ", ".join(f"{k}={v}" for k, v in told.items() if v is not None))
    )
    for entry in header["arrays"]:
        shape = " x ".join(map(str, entry["shape"]))
        lines.append(_line("array", f"{entry['name']}, {shape}"))
    return "\n".join(lines)


def _line(head: str, text: Any) -> str:
    return f"  {Terminal.of(sys.stdout).faint(head.ljust(11))}{text}"


def _data_text(data: Dataset) -> str:
    rows = f"{plural(len(data), 'row')} of {plural(len(data.columns), 'column')}"
    lines = [_line("input", data.source), _line("kind", data.kind), _line("rows", rows)]
    for name, value in data.provenance.items():
        if name in ("source", "rows", "rarities") or value in (None, "", {}, 0):
            continue
        shown = (
            ", ".join(f"{k} ({v})" for k, v in value.items()) if isinstance(value, dict) else value
        )
        lines.append(_line(name.replace("_", " ")[:11], shown))
    if data.kind != "text":
        lines += ["", _columns_text(data)]
    return "\n".join(lines)


def _columns_text(data: Dataset) -> str:
    shown = columns_of(data)
    more = len(shown["column"]) - MOST
    width = max(map(len, shown["column"]))
    cut = {name: values[:MOST] for name, values in shown.items()}
    cut["column"] = [name.ljust(width) for name in cut["column"]]
    for name in ("smallest", "mean", "largest", "spread"):
        cut[name] = [number(value) for value in cut[name]]
    table = text_table({"column".ljust(width): cut.pop("column"), **cut})
    return table + (f"\n  and {more} more" if more > 0 else "")


def columns_of(data: Dataset) -> dict[str, list[Any]]:
    """Every column: smallest, mean and largest value, standard deviation, missing cells."""
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
