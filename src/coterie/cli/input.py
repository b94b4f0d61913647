"""INPUT: a file, a folder of texts, stdin or the name of a toy set, as a Dataset."""

from __future__ import annotations

import difflib
import os
import re
import shutil
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from coterie.cli.option_rules import FITS, check_format, check_kind, fits, for_reading

if TYPE_CHECKING:
    from coterie.data import Dataset

TOYS = ("blobs", "moons", "circles", "paper-round", "paper-non-convex")
PICTURE = "lake"
STDIN = "standard input"


def read_input(
    source: str, options: Mapping[str, Any], as_model: Mapping[str, Any] | None = None
) -> Dataset:
    """Read INPUT with the options of the command line; those not given are None or False.

    `as_model` are the options with which the data of a model were read: those that fit INPUT count
    where a person says nothing else, and its "kinds" are those that INPUT may have.
    """
    data = _read(source, {name: options.get(name) for name in ("kind", *FITS)}, as_model or {})
    scaling = options.get("scaling")
    return data if scaling in (None, "none") else data.scaled(scaling)


def _read(source: str, options: dict[str, Any], as_model: Mapping[str, Any]) -> Dataset:
    kind = options.pop("kind")
    given = {name: value for name, value in options.items() if not _left_out(value)}
    if options.get("header") is False:
        given["header"] = False
    toy = None if Path(source).exists() else toy_set(source)
    if toy is not None and PICTURE not in source:
        check_kind(given, "table", source)
        return toy()
    with _file(source) as path:
        from coterie.data import DataError, DataWarning, read

        shown = STDIN if source == "-" else source
        try:
            kind = kind or _kind(path, shown, as_model)
            check_kind(given, kind, shown)
            if kind == "table":
                check_format(given, path, shown)
            known = {name: value for name, value in as_model.items()
                     if name in FITS and fits(name, kind) and not _left_out(value)}  # fmt: skip
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DataWarning)  # the summary names what is not used
                data = read(path, kind, **for_reading({**known, **given}))
            return replace(data, source=shown, provenance={**data.provenance, "source": shown})
        except ValueError as error:
            message = str(error).replace(str(path), shown)
            kind_of_error = DataError if isinstance(error, DataError) else ValueError
            raise kind_of_error(message) from error.__cause__


def _left_out(value: Any) -> bool:
    return value is None or value is False


def _kind(path: Path, shown: str, as_model: Mapping[str, Any]) -> str:
    """What INPUT is: its content decides, and a model may refuse it."""
    from coterie.data.read import kind_of

    kind, wanted = kind_of(path), as_model.get("kinds")
    if wanted is None or kind in wanted:
        return kind
    if wanted == ("text",) and kind == "table":  # any file of lines is one of texts
        return "text"
    raise click.UsageError(
        f"expected a {' or '.join(wanted)}, as the model was fitted to, and {shown} is a {kind}; "
        "give other data, or fit a model to such"
    )


@contextmanager
def _file(source: str) -> Iterator[Path]:
    """The path to read: that of the argument, or of a copy of stdin."""
    if source == "-":
        if sys.stdin is None:
            raise click.UsageError("expected data on standard input, which is closed")
        with tempfile.TemporaryDirectory(prefix="coterie-") as folder:
            copy = Path(folder) / "stdin"
            with copy.open("wb") as file:
                shutil.copyfileobj(sys.stdin.buffer, file, 1 << 20)
            yield copy
        return
    path = Path(source)
    if source == PICTURE and not path.exists():
        from coterie.data.toy import sample_picture_path

        path = sample_picture_path()
    if not path.exists():
        raise click.UsageError(_not_found(source))
    if path.is_dir() and not os.access(path, os.R_OK | os.X_OK):
        raise PermissionError(13, "Permission denied", source)
    yield path


def _not_found(source: str) -> str:
    folder = Path(source).parent
    beside = [str(path) for path in folder.iterdir()] if folder.is_dir() else []
    near = difflib.get_close_matches(source, [*TOYS, PICTURE, *beside], n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"toy sets are {', '.join((*TOYS, PICTURE))}"
    return f"expected a file, a folder, - for stdin or a toy set, found no {source!r}; {hint}"


def toy_set(name: str) -> Callable[[], Dataset] | None:
    """What makes the toy set of this name, such as moons or blobs:1000, if there is one."""
    found = re.fullmatch(rf"({'|'.join(TOYS)})(?::(\d+))?", name)
    if not found:
        return None
    kind, rows = found[1], found[2]
    if rows and kind.startswith("paper"):
        raise click.UsageError(f"{kind} has its own number of rows; leave out :{rows}")

    def make() -> Dataset:
        from coterie.data import Dataset
        from coterie.data import toy as samples
        from coterie.data.tables import TableRows

        X, _ = getattr(samples, kind.replace("-", "_"))(**({"n": int(rows)} if rows else {}))
        origin = TableRows("row", len(X))
        return Dataset(X, ("x", "y"), "table", name, origin, {"source": name, "rows": len(X)})

    return make
