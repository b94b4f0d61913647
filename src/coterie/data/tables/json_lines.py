"""JSON lines, read by pyarrow once their depth, keys and lengths are checked."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from coterie.data.errors import DataError, required
from coterie.data.memory_limits import readable
from coterie.data.tables.arrow import ArrowTable, Piece, in_order
from coterie.data.tables.interruptible import read_interruptibly

BLOCK = 1 << 20  # bytes; no line may be longer
NEWLINE = b"\n"
DEEPEST = 64  # nested lists and objects; pyarrow parses them by recursion
_STRING = re.compile(rb'"(?:[^"\\\n]|\\.)*"')
_KEY = re.compile(rb'"((?:[^"\\\n]|\\.)*)"\s*:')
_STEPS = np.zeros(256, dtype=np.int8)
_STEPS[list(b"[{")], _STEPS[list(b"]}")] = 1, -1


class JsonLines(ArrowTable):
    """A JSON object on each line; keys are columns, and an absent key is a missing value."""

    format = "json"

    def _open(self) -> Any:
        """Read all lines; those after the first block are expected to have its keys and types."""
        json = required("pyarrow.json", "reading JSON lines", "tables")
        self.limits.check(self.stored, self.stored, "a text")
        for line, block in _blocks(self.path):
            _check_depth(block, line)
        with self.path.open("rb") as file:
            first = file.read(BLOCK).rpartition(NEWLINE)[0]
        self._check_keys([first])
        with suppress(ValueError):  # other keys, or other types, further down
            known = json.read_json(io.BytesIO(first)).schema
            return self._read(explicit_schema=known, unexpected_field_behavior="error")
        # All keys are counted only now: that takes three times as long as reading.
        self._check_keys(block for _, block in _blocks(self.path))
        try:
            return self._read()
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

    def _read(self, **parse_options: Any) -> Any:
        json = required("pyarrow.json", "reading JSON lines", "tables")
        read = partial(
            json.read_json,
            read_options=json.ReadOptions(block_size=2 * BLOCK),
            parse_options=json.ParseOptions(**parse_options),
        )
        with self.path.open("rb") as file:
            return read_interruptibly(read, file)

    def _check_keys(self, blocks: Iterable[bytes]) -> None:
        """Refuse lines with ever new keys: every row would get a cell for each key."""
        rows, keys = 0, set[bytes]()
        for block in blocks:
            rows += block.count(NEWLINE) + bool(block)
            keys.update(_KEY.findall(block))
        self.limits.check(
            rows * len(keys) * 8,
            self.stored,
            f"{rows:,} rows with {len(keys):,} different keys",
            "write the same keys on every line",
        )

    def _schema(self) -> Any:
        return self._source.schema

    def _rows(self) -> int:
        return int(self._source.num_rows)

    def _pieces(self, wanted: Sequence[int]) -> list[Piece]:
        batches = self._source.select(list(wanted)).to_batches()
        sizes = [batch.num_rows for batch in batches]
        return in_order(sizes, lambda number: partial(iter, [batches[number]]))

    def place(self, row: int) -> str:
        return f"object {row + 1}"


def _blocks(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield lines, many at a time, and the number of the first; refuse a line without end."""
    line, rest = 1, b""
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            whole, _, rest = (rest + block).rpartition(NEWLINE)
            yield line, whole
            line += whole.count(NEWLINE) + bool(whole)
            if len(rest) > BLOCK:
                raise DataError(
                    f"expected objects of at most {readable(BLOCK)}, one on each line, got a "
                    f"longer one in line {line}; write every row as an object of its own"
                )
    yield line, rest


def _check_depth(lines: bytes, first: int) -> None:
    # Each line that begins with { is one level deep. All other brackets, of all lines together,
    # bound the depth; rows of numbers have few.
    brackets = lines.count(b"{") + lines.count(b"[")
    if brackets - lines.count(b"\n{") <= DEEPEST:
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
