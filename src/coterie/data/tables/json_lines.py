"""JSON lines, read by pyarrow once it is clear that they will not bring it down."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from coterie.data.errors import DataError, required
from coterie.data.limits import readable
from coterie.data.tables.arrow import ArrowTable, Piece, in_order
from coterie.data.tables.stopping import read_until_stopped

BLOCK = 1 << 20  # bytes; no line may be longer
NEWLINE = b"\n"
DEEPEST = 64  # lists and objects within one another; pyarrow goes down by calling itself
_STRING = re.compile(rb'"(?:[^"\\\n]|\\.)*"')
_STEPS = np.zeros(256, dtype=np.int8)
_STEPS[list(b"[{")], _STEPS[list(b"]}")] = 1, -1


class JsonLines(ArrowTable):
    """One JSON object per line; keys are columns, and a key that is not there is missing."""

    format = "json"

    def _open(self) -> Any:
        json = required("pyarrow.json", "reading JSON lines", "tables")
        self.limits.check(self.stored, self.stored, "a text")
        _check_lines(self.path)
        try:
            read = partial(json.read_json, read_options=json.ReadOptions(block_size=2 * BLOCK))
            with self.path.open("rb") as file:
                return read_until_stopped(read, file)
        except ValueError as error:  # pyarrow's
            found = re.search(
                r"Column\(/(.*)\) changed from (\w+) to (\w+) in row (\d+)", str(error)
            )
            if found is None:
                raise
            name, before, after, row = found.groups()
            raise DataError(
                f"expected one type in column {name!r}, got {before}s and then a {after} in "
                f"object {int(row) + 1}; correct it, or write null where a value is missing"
            ) from error

    def _schema(self) -> Any:
        return self._source.schema

    def _rows(self) -> int:
        return int(self._source.num_rows)

    def _pieces(self, wanted: Sequence[int], d: int) -> list[Piece]:
        batches = self._source.select(list(wanted)).to_batches()
        sizes = [batch.num_rows for batch in batches]
        return in_order(sizes, wanted, lambda number: partial(iter, [batches[number]]))

    def place(self, row: int) -> str:
        return f"object {row + 1}"


def _check_lines(path: Path) -> None:
    """Refuse lines without end, and lists without end in one another."""
    line, rest = 1, b""
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            whole, _, rest = (rest + block).rpartition(NEWLINE)
            _check_depth(whole, line)
            line += whole.count(NEWLINE) + bool(whole)
            if len(rest) > BLOCK:
                raise DataError(
                    f"expected objects of at most {readable(BLOCK)}, one on each line, got a "
                    f"longer one in line {line}; write every row as an object of its own"
                )
    _check_depth(rest, line)


def _check_depth(lines: bytes, first: int) -> None:
    # Each line that begins with { is one list deep by that. What else is opened, all lines
    # together, bounds the depth, and is little in rows of numbers.
    opened = lines.count(b"{") + lines.count(b"[")
    if opened - lines.count(b"\n{") <= DEEPEST:
        return
    bare = np.frombuffer(_STRING.sub(b"", lines), dtype=np.uint8)
    depth = np.cumsum(_STEPS[bare], dtype=np.int32)
    if depth.max(initial=0) > DEEPEST:
        at = int(np.argmax(depth > DEEPEST))
        line = first + int(np.count_nonzero(bare[:at] == ord("\n")))
        raise DataError(
            f"expected objects with numbers, got more than {DEEPEST} lists or objects within one "
            f'another in line {line}; write rows as {{"x": 1.5, "y": 2}}'
        )
