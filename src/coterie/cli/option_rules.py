"""Rules between options and data: an option for another kind of data is an error."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

# Of each option: its kinds of data, its name for `read`, and the value that a flag means there.
RULES: dict[str, tuple[tuple[str, ...], str, Any]] = {
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
    "words": (("text",), "words", None),  # these three come from models only
    "rarities": (("text",), "rarities", None),
    "directions": (("text",), "directions", None),
    "max_memory": (("table", "video", "sound", "text"), "max_memory", None),
    "max_expansion": (("table", "sound", "text"), "max_expansion", None),
    "max_pixels": (("picture", "video"), "max_pixels", None),
}
PLURALS = {"table": "tables", "picture": "pictures", "video": "videos", "sound": "sounds",
           "text": "texts"}  # fmt: skip
INSTEAD = {"patch": "pixels", "bands": "samples"}  # pairs of which one rules out the other
OF_TEXTS = ("separator", "decimal", "header")


def suits(name: str, kind: str) -> bool:
    """Return True for an option that is for data of a kind."""
    return kind in RULES[name][0]


def check_kind(given: Mapping[str, Any], kind: str, source: str) -> None:
    """Refuse an option that is for another kind of data, or that another option rules out."""
    for name in given:
        if not suits(name, kind):
            meant = " and ".join(PLURALS[one] for one in RULES[name][0])
            raise click.UsageError(
                f"{_option(name)} is for {meant}, and {source} is a {kind}; leave it out, or "
                "name the kind of the input with --kind"
            )
        other = INSTEAD.get(name)
        if other in given:
            raise click.UsageError(
                f"expected {_option(name)} or {_option(str(other))}, got both; leave one out"
            )
    if "position" in given and "pixels" not in given:
        raise click.UsageError("--position is for pixels; add --pixels, or leave it out")


def check_format(given: Mapping[str, Any], path: Path, source: str) -> None:
    """Refuse options of CSV files and of NPZ files for other tables."""
    asked = [name for name in (*OF_TEXTS, "array") if name in given]
    if not asked:
        return
    from coterie.data.file_types import first_bytes, is_delimited

    start = first_bytes(path)
    text = is_delimited(path, start)
    for name in asked:
        meant = "CSV files" if name in OF_TEXTS else "NPZ files"
        if not (text if name in OF_TEXTS else start.startswith(b"PK")):
            raise click.UsageError(f"{_option(name)} is for {meant}, and {source} is none; leave "
                                   "it out")  # fmt: skip


def for_reading(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options under the names that `coterie.read` has for them."""
    named = {}
    for name, value in given.items():
        _, call, flag = RULES[name]
        named[call] = value if flag is None else flag
    ids = named.get("ids")
    if isinstance(ids, str) and ids.isdecimal():
        named["ids"] = int(ids)
    return named


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"
