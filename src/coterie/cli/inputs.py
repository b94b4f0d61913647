"""INPUT: a file, a folder of texts, stdin or the name of a toy set, as a Dataset."""

from __future__ import annotations

import difflib
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from coterie.data import Dataset

TOYS = ("blobs", "moons", "circles", "paper-round", "paper-non-convex")
PICTURE = "lake"
STDIN = "standard input"

# Of each option: the kinds of data it is for, its name for `read`, and what a flag stands for.
FITS: dict[str, tuple[tuple[str, ...], str, Any]] = {
    "columns": (("table",), "columns", None),
    "ids": (("table",), "ids", None),
    "missing": (("table",), "missing", None),
    "separator": (("table",), "separator", None),
    "decimal": (("table",), "decimal", None),
    "header": (("table",), "header", None),
    "array": (("table",), "array", None),
    "patch": (("picture", "video"), "size", None),
    "pixels": (("picture", "video"), "features", "pixels"),
    "position": (("picture", "video"), "position", None),
    "every": (("video",), "every", None),
    "frame": (("sound",), "frame", None),
    "hop": (("sound",), "hop", None),
    "bands": (("sound",), "bands", None),
    "samples": (("sound",), "features", "samples"),
    "components": (("text",), "components", None),
    "stop_words": (("text",), "stop_words", None),
    "words": (("text",), "words", None),  # these three come from a model, not from a person
    "rarities": (("text",), "rarities", None),
    "directions": (("text",), "directions", None),
    "max_memory": (("table", "video", "sound", "text"), "max_memory", None),
    "max_expansion": (("table", "sound", "text"), "max_expansion", None),
    "max_pixels": (("picture", "video"), "max_pixels", None),
}
PLURALS = {"table": "tables", "picture": "pictures", "video": "videos", "sound": "sounds",
           "text": "texts"}  # fmt: skip


def read_input(source: str, options: Mapping[str, Any]) -> Dataset:
    """Read INPUT with the options of the command line; those not given are None or False."""
    data = _read(source, {name: options.get(name) for name in ("kind", *FITS)})
    scaling = options.get("scaling")
    return data if scaling in (None, "none") else data.scaled(scaling)


def _read(source: str, options: dict[str, Any]) -> Dataset:
    kind = options.pop("kind")
    given = {name: value for name, value in options.items() if not _left_out(value)}
    if options.get("header") is False:
        given["header"] = False
    toy = None if Path(source).exists() else toy_set(source)
    if toy is not None and PICTURE not in source:
        _check_fit(given, "table", source)
        return toy()
    with _file(source) as path:
        from coterie.data import DataError, read
        from coterie.data.reading import kind_of

        shown = STDIN if source == "-" else source
        try:
            kind = kind or kind_of(path)
            _check_fit(given, kind, shown)
            data = read(path, kind, **_for_reading(given))
            known = {**data.provenance, "source": shown}
            return replace(data, source=shown, provenance=known)
        except DataError as error:
            message = str(error).replace(str(path), shown)
            raise DataError(message) from error.__cause__


def _left_out(value: Any) -> bool:
    return value is None or value is False


def _for_reading(given: Mapping[str, Any]) -> dict[str, Any]:
    named = {}
    for name, value in given.items():
        _, call, flag = FITS[name]
        named[call] = value if flag is None else flag
    ids = named.get("ids")
    if isinstance(ids, str) and ids.isdecimal():
        named["ids"] = int(ids)
    return named


def _check_fit(given: Mapping[str, Any], kind: str, source: str) -> None:
    for name in given:
        kinds = FITS[name][0]
        if kind not in kinds:
            meant = " and ".join(PLURALS[one] for one in kinds)
            option = f"--{name.replace('_', '-')}"
            raise click.UsageError(
                f"{option} is for {meant}, and {source} is a {kind}; leave it out, or say what "
                "the input is with --kind"
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
        from coterie.data.samples import sample_picture_path

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
        from coterie.data import Dataset, samples
        from coterie.data.tables import TableRows

        X, _ = getattr(samples, kind.replace("-", "_"))(**({"n": int(rows)} if rows else {}))
        origin = TableRows("row", len(X))
        return Dataset(X, ("x", "y"), "table", name, origin, {"source": name, "rows": len(X)})

    return make
