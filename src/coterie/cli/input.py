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
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from coterie.cli.option_rules import check_format, check_kind, for_reading, suits
from coterie.cli.requests import Reading

if TYPE_CHECKING:
    from coterie.data import Dataset

TOYS = ("blobs", "moons", "circles", "paper-round", "paper-non-convex")
PICTURE = "lake"
STDIN = "standard input"


@dataclass(frozen=True)
class AsFitted:
    """Options with which the data of a fit were read, for new data."""

    kinds: tuple[str, ...] = ()  # kinds of data that INPUT may have; empty: any
    reading: Reading = field(default_factory=Reading)
    words: Mapping[str, Any] = field(default_factory=dict)  # vocabulary and the like, of texts


def read_input(source: str, reading: Reading, as_fitted: AsFitted | None = None) -> Dataset:
    """Read INPUT with the options of the command line.

    Options of `as_fitted` that suit the kind of INPUT count where none was given.
    """
    data = _read(source, reading, as_fitted or AsFitted())
    scaling = reading.scaling
    return data if scaling in (None, "none") else data.scaled(scaling)


def _read(source: str, reading: Reading, as_fitted: AsFitted) -> Dataset:
    given = reading.given()
    toy = None if Path(source).exists() else toy_set(source)
    if toy is not None and PICTURE not in source:
        check_kind(given, "table", source)
        return toy()
    with _file(source) as path:
        from coterie.data import DataError, DataWarning, read

        shown = STDIN if source == "-" else source
        try:
            kind = reading.kind or _kind(path, shown, as_fitted)
            check_kind(given, kind, shown)
            if kind == "table":
                check_format(given, path, shown)
            known = {**as_fitted.reading.given(), **as_fitted.words}
            known = {
                name: value
                for name, value in known.items()
                if value is not None and suits(name, kind)
            }
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DataWarning)  # the summary names unused columns
                data = read(path, kind, **for_reading({**known, **given}))
            return replace(data, source=shown, provenance={**data.provenance, "source": shown})
        except ValueError as error:
            message = str(error).replace(str(path), shown)
            kind_of_error = DataError if isinstance(error, DataError) else ValueError
            raise kind_of_error(message) from error.__cause__


def _kind(path: Path, shown: str, as_fitted: AsFitted) -> str:
    """Return the kind of INPUT: its content decides, and a model may refuse it."""
    from coterie.data.read import kind_of

    kind, wanted = kind_of(path), as_fitted.kinds
    if not wanted or kind in wanted:
        return kind
    if wanted == ("text",) and kind == "table":  # any file of lines is one of texts
        return "text"
    raise click.UsageError(
        f"expected a {' or '.join(wanted)}, as the model was fitted to, and {shown} is a {kind}; "
        "give other data, or fit a model to such"
    )


@contextmanager
def _file(source: str) -> Iterator[Path]:
    """Yield the path to read: that of the argument, or of a copy of stdin."""
    if source == "-":
        if sys.stdin is None:
            raise click.UsageError(
                "expected data on standard input, which is closed; name a file, or pipe data in"
            )
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


def is_there(source: str) -> bool:
    """A file, a folder or a toy set has this name."""
    return Path(source).exists() or source == PICTURE or toy_set(source) is not None


def toy_set(name: str) -> Callable[[], Dataset] | None:
    """Return a function that makes the toy set of this name, such as blobs:1000, if any."""
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
