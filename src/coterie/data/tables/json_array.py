"""A JSON array of objects, `[{...}, {...}]`, read by way of JSON lines."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

from coterie.data.errors import DataError
from coterie.data.memory_limits import Limits
from coterie.data.tables.json_lines import JsonLines

SPACE = " \t\r\n"
REMEDY = 'write rows as [{"x": 1.5, "y": 2}, ...], or one such object on each line'


def json_array(path: Path, limits: Limits) -> JsonLines:
    """Open an array of objects as JSON lines with the same objects."""
    stored = path.stat().st_size
    limits.check(2 * stored, stored, "a text", "write one object on each line")
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(
            f"expected JSON in UTF-8, got the byte {error.object[error.start]:#04x} at "
            f"{error.start:,}; save it again as UTF-8"
        ) from None
    with tempfile.TemporaryDirectory(prefix="coterie-") as folder:
        lines = Path(folder) / "lines.jsonl"
        with lines.open("w", encoding="utf-8", newline="\n") as file:
            for row in _objects(text):
                file.write(row + "\n")
        return JsonLines(lines, limits)  # reads the file at once


def _objects(text: str) -> Iterator[str]:
    """Yield the objects of an array, each on one line."""
    end_of = json.JSONDecoder().raw_decode
    at, number = _skip(text, _skip(text, 0) + 1), 0
    while text[at : at + 1] != "]":
        number += 1
        if text[at : at + 1] != "{":
            found = text[at : at + 12] or "the end of the file"
            raise DataError(f"expected an object {{...}} as row {number}, got {found!r}; {REMEDY}")
        try:
            _, end = end_of(text, at)
        except (ValueError, RecursionError) as error:
            raise DataError(
                f"expected JSON, but object {number} cannot be read ({error}); the file is "
                "damaged or cut off: write or download it again"
            ) from None
        yield text[at:end].replace("\n", " ").replace("\r", " ")  # strings have none
        at = _skip(text, end)
        if text[at : at + 1] == ",":
            at = _skip(text, at + 1)
        elif text[at : at + 1] != "]":
            found = text[at : at + 12] or "the end of the file"
            raise DataError(
                f"expected a comma or the end of the array after object {number}, got {found!r}; "
                "the file is damaged or cut off: write or download it again"
            )
    behind = _skip(text, at + 1)
    if behind < len(text):
        raise DataError(
            f"expected nothing after the array, got {text[behind : behind + 12]!r}; {REMEDY}"
        )


def _skip(text: str, at: int) -> int:
    """Return the next place that is no space."""
    while at < len(text) and text[at] in SPACE:
        at += 1
    return at
