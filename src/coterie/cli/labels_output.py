"""Labels as files, written whole or not at all, or on stdout."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from coterie.cli.screen import put
from coterie.files import write_whole

ENDINGS = {".csv": "csv", ".parquet": "parquet", ".pq": "parquet", ".npy": "npy", ".json": "json",
           ".jsonl": "jsonl", ".ndjson": "jsonl"}  # fmt: skip
BLOCK = 1 << 16  # rows written together
MANY = 1 << 17  # rows for which speed counts
ON_A_TERMINAL = 40  # rows; more would push the summary off the screen
PLAIN = (int, float, str)
Columns = Mapping[str, NDArray[Any]]


def form_of(output: Path | None, form: str | None) -> str:
    """Return the format of the labels: the one asked for, that of the ending, or CSV."""
    if form is not None or output is None or str(output) == "-":
        return form or "csv"
    try:
        return ENDINGS[output.suffix.lower()]
    except KeyError:
        raise click.UsageError(
            f"expected --output to end in {', '.join(ENDINGS)}, got {output.name!r}; "
            "or name the format with --format"
        ) from None


def check_not_input(source: str, *outputs: Path | None) -> None:
    """Refuse to write over the input."""
    for output in outputs:
        if output is None or not (Path(source).is_file() and output.is_file()):
            continue
        if output.samefile(source):
            raise click.UsageError(f"{output} is the input and would be lost; write elsewhere")


def check_different(*outputs: Path | None) -> None:
    """Refuse to write labels, picture and model of a command into the same file."""
    files = [output.resolve() for output in outputs if output is not None]
    for file in files:
        lost = file.is_file() or not file.exists()  # and not /dev/null
        if lost and files.count(file) > 1:
            raise click.UsageError(
                f"expected different files for labels, picture and model, got {file.name!r} more "
                "than once; rename one"
            )


def write_labels(columns: Columns, output: Path | None, form: str) -> str | None:
    """Write rows; return a sentence about it, or None."""
    parts = WRITERS[form](columns)
    n = len(columns["cluster"])
    if output is not None and str(output) != "-":
        write_whole(output, parts)
        return f"{n:,} labels to {output}"
    too_many = form in ("npy", "parquet") or (output is None and n > ON_A_TERMINAL)
    if sys.stdout.isatty() and too_many:
        return f"{n:,} labels are not shown here: add --output labels.csv, or pipe them on"
    stream = None if sys.stdout.isatty() else getattr(sys.stdout, "buffer", None)
    for part in parts:
        if stream is None:
            put(part.decode().removesuffix("\n"))
        else:
            stream.write(part)
    sys.stdout.flush()
    return None


def _csv(columns: Columns) -> Iterator[bytes]:
    yield _csv_lines([list(columns)])
    n = len(columns["cluster"])
    if n > MANY and all(values.dtype.kind in "iu" for values in columns.values()):
        with suppress(ImportError):
            yield from _csv_of_integers(columns)
            return
    for start in range(0, n, BLOCK):
        lists = [_plain(values[start : start + BLOCK]) for values in columns.values()]
        yield _csv_lines(zip(*lists, strict=True))


def _csv_of_integers(columns: Columns) -> Iterator[bytes]:
    """Yield the same lines by pyarrow, several times as fast."""
    import pyarrow
    from pyarrow import csv as arrow_csv

    plain = arrow_csv.WriteOptions(include_header=False)
    for start in range(0, len(columns["cluster"]), 16 * BLOCK):
        part = {name: values[start : start + 16 * BLOCK] for name, values in columns.items()}
        buffer = io.BytesIO()
        arrow_csv.write_csv(pyarrow.table(part), buffer, plain)
        yield buffer.getvalue()


def _csv_lines(rows: Any) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return _utf8(text.getvalue())


def _records(columns: Columns) -> Iterator[str]:
    names = list(columns)
    n = len(columns["cluster"])
    for start in range(0, n, BLOCK):
        lists = [_plain(values[start : start + BLOCK]) for values in columns.values()]
        for row in zip(*lists, strict=True):
            yield json.dumps(dict(zip(names, row, strict=True)), ensure_ascii=False)


def _jsonl(columns: Columns) -> Iterator[bytes]:
    for record in _records(columns):
        yield _utf8(record) + b"\n"


def _json(columns: Columns) -> Iterator[bytes]:
    before = b"[\n"
    for record in _records(columns):
        yield before + _utf8(record)
        before = b",\n"
    yield b"\n]\n"


def _npy(columns: Columns) -> Iterator[bytes]:
    """Yield the clusters alone, or the degrees of belonging as a matrix."""
    degrees = [values for name, values in columns.items() if name.startswith("degree_")]
    values = np.column_stack(degrees) if degrees else np.asarray(columns["cluster"])
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, values, allow_pickle=False)
    yield buffer.getvalue()


def _parquet(columns: Columns) -> Iterator[bytes]:
    from coterie.data.errors import required

    arrow = required("pyarrow", "writing Parquet", "tables")
    parquet = required("pyarrow.parquet", "writing Parquet", "tables")
    buffer = io.BytesIO()
    lists = {_text(name): arrow.array(_arrow(values)) for name, values in columns.items()}
    parquet.write_table(arrow.table(lists), buffer)
    yield buffer.getvalue()


def _arrow(values: NDArray[Any]) -> Any:
    if values.dtype.kind not in "OUS":
        return values
    return [_text(value) if isinstance(value, str) else value for value in values.tolist()]


def _utf8(text: str) -> bytes:
    r"""Return UTF-8; surrogates, as in names of files that are not UTF-8, become \udce9."""
    return text.encode(errors="backslashreplace")


def _text(text: str) -> str:
    return _utf8(text).decode()


def _plain(values: NDArray[Any]) -> list[Any]:
    """Return values of Python; times as text."""
    if values.dtype.kind in "mM":
        return [str(value) for value in values]
    return [v if v is None or isinstance(v, PLAIN) else str(v) for v in values.tolist()]


WRITERS = {"csv": _csv, "parquet": _parquet, "npy": _npy, "json": _json, "jsonl": _jsonl}
