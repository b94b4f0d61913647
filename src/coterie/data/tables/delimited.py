"""CSV and TSV, also gzipped, read by pyarrow once separator and decimal sign are known."""

from __future__ import annotations

import codecs
import gzip
import io
import mmap
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO, Any

import numpy as np

from coterie.data.errors import DataError, required
from coterie.data.file_types import GZIP, check_is_text
from coterie.data.memory_limits import ALWAYS_ALLOWED, Limits
from coterie.data.tables.cells import NULLS
from coterie.data.tables.delimited_errors import (
    LONGEST_LINE,
    endless,
    find_error,
    line_ends,
    line_of_nul,
    line_of_row,
)
from coterie.data.tables.dialect import Dialect, find_dialect
from coterie.data.tables.fill_rows import Part, as_numpy, new_rows, write_parts
from coterie.data.tables.first_lines import HEAD
from coterie.data.tables.format import TRUTH, Loaded
from coterie.data.tables.interruptible import read_interruptibly
from coterie.data.tables.missing import find_gaps

SAMPLE = 1 << 16  # bytes in which separator, decimal sign and types are found
CHUNK = 1 << 20
SEARCHED = 1 << 26  # bytes looked through at once
OLDER = "cp1252"  # the encoding of texts that are not in UTF-8
NEWLINE = b"\n"


class Delimited:
    """A text of cells, with a row on each line."""

    def __init__(
        self,
        path: Path,
        limits: Limits,
        *,
        separator: str | None = None,
        decimal: str | None = None,
        header: bool | None = None,
    ) -> None:
        _check_options(separator, decimal)
        self.path, self.limits = path, limits
        with path.open("rb") as file:
            zipped = file.read(len(GZIP)) == GZIP
        self.format = "csv.gz" if zipped else "csv"
        self._text = _unzipped(path, limits) if zipped else None
        self.dialect = self._dialect(separator, decimal, header)
        self.names, self.types = self.dialect.names, self.dialect.types
        self.named = header is not False  # header=False is sure, a guess may be wrong

    def _open(self) -> IO[bytes]:
        return self.path.open("rb") if self._text is None else io.BytesIO(self._text)

    def _dialect(self, separator: str | None, decimal: str | None, header: bool | None) -> Dialect:
        start = self._first_lines()
        named_csv = ".csv" in self.path.name.lower()
        return find_dialect(
            _decoded(start),
            separator=separator,
            decimal=decimal,
            header=header,
            named_csv=named_csv,
        )

    def _first_lines(self) -> bytes:
        """Return the first lines: names and a row at least, of any number of columns."""
        with self._open() as file:
            start, more = file.read(SAMPLE), b"-"
            check_is_text(self.path, start)
            while more and b"\0" not in start and line_ends(start[_head(start) :]) < 2:
                if len(start) > 2 * LONGEST_LINE:
                    raise endless(1 + line_ends(start))
                more = file.read(len(start))
                start += more
        if b"\0" in start:
            raise self._nul()
        if len(start) % SAMPLE == 0 and line_ends(start):  # the last line may be cut off
            start = start[: max(start.rfind(b"\n"), start.rfind(b"\r")) + 1]
        self._block = max(CHUNK, 2 * len(start))  # with all lines above the rows
        return start

    def load(self, chosen: Sequence[int], ids: int | None) -> Loaded:
        pa = required("pyarrow", "reading tables", "tables")
        size, quotes, lines = self._look_through()
        try:
            table = self._read(chosen, ids)
        except pa.ArrowInvalid as error:
            self._raise_error(chosen)
            raise DataError(
                f"expected lines of cells, but they cannot be read ({_short(error)}); "
                "open the file in an editor and compare its lines"
            ) from error
        if quotes and table.num_rows + self.dialect.above != lines:
            self._raise_error(chosen)  # cells over several lines, or a quote that takes in rows
        d = len(chosen)
        self.limits.check(
            table.num_rows * d * 8,
            size,
            f"{table.num_rows:,} rows of {d} columns",
            "choose columns",
        )
        X = new_rows(table.num_rows, d, np.dtype(np.float64))
        finite = write_parts(X, _parts(table.select([str(i) for i in chosen])))
        if not finite and find_gaps(X).first_infinite is not None:
            self._raise_error(chosen)
        return Loaded(X, None if ids is None else _ids(table.column(str(ids))), finite)

    def place(self, row: int) -> str:
        with self._open() as file:
            return f"line {line_of_row(file, self.dialect, row)}"

    def _read(self, chosen: Sequence[int], ids: int | None) -> Any:
        """Return the wanted columns as pyarrow reads them, named by their positions."""
        pa = required("pyarrow", "reading tables", "tables")
        csv = required("pyarrow.csv", "reading tables", "tables")
        wanted = [*chosen, *([] if ids is None or ids in chosen else [ids])]
        truth = {str(i): pa.bool_() for i in chosen if self.types[i] == TRUTH}
        read = partial(
            csv.read_csv,
            read_options=csv.ReadOptions(
                column_names=[str(i) for i in range(len(self.names))],
                skip_rows=self.dialect.above,
                block_size=self._block,
            ),
            parse_options=csv.ParseOptions(
                delimiter=self.dialect.separator, newlines_in_values=self._quoted
            ),
            convert_options=csv.ConvertOptions(
                include_columns=[str(i) for i in wanted],
                column_types={**{str(i): pa.float64() for i in chosen}, **truth},
                decimal_point=self.dialect.decimal,
                null_values=sorted(NULLS),
            ),
        )
        with self._open() as file:
            return read_interruptibly(read, file)

    def _look_through(self) -> tuple[int, bool, int]:
        """Return size, a flag for quoted cells, and the number of lines; refuse NUL.

        pyarrow takes NUL and quotes without an end as they come. Quotes around names alone, in the
        first line, do no harm, and cells without quotes are read faster.
        """
        with self._open() as file, _viewed(file, self._text) as view:
            if _found(view, b"\0", 0):
                raise self._nul()
            self._quoted = _found(view, b'"', view.find(b"\n") + 1)
            return len(view), self._quoted, _n_lines(view) if self._quoted else 0

    def _raise_error(self, chosen: Sequence[int]) -> None:
        """Raise the first error of the text, if one is found."""
        numbers = [i for i in chosen if self.types[i] != TRUTH]
        with self._open() as file:
            error = find_error(file, self.dialect, numbers)
        if error:
            raise error

    def _nul(self) -> DataError:
        with self._open() as file:
            line = line_of_nul(file)
        return DataError(
            f"expected text, got a NUL character in line {line}; "
            "the file is damaged, or not a text: export it again"
        )


def _check_options(separator: str | None, decimal: str | None) -> None:
    if separator is not None and (
        not isinstance(separator, str)
        or len(separator) != 1
        or separator in '"\r\n'
        or not separator.isascii()
    ):
        raise ValueError(
            f"expected a separator of one character, got {separator!r}; for tabs pass '\\t'"
        )
    if decimal not in (None, ".", ","):
        raise ValueError(f"expected decimal '.' or ',', got {decimal!r}; leave it out to find it")
    if decimal == separator == ",":
        raise ValueError("expected a separator other than the decimal sign, got ',' for both")


def _unzipped(path: Path, limits: Limits) -> bytes:
    """Return the content of a gzip file, within the limits."""
    stored, parts, size = path.stat().st_size, [], 0
    try:
        with gzip.open(path) as file:
            while part := file.read(CHUNK):
                size += len(part)
                parts.append(part)
                if size > ALWAYS_ALLOWED:
                    limits.check(size, stored, "a text of at least so many bytes")
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(
            f"expected a complete gzip file, but it cannot be unpacked ({error}); "
            "copy or download it again"
        ) from error
    return b"".join(parts)


@contextmanager
def _viewed(file: IO[bytes], text: bytes | None) -> Iterator[Any]:
    """Give the whole text for a search; a file is mapped, not read into memory."""
    if text is not None:
        yield text
        return
    with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as view:
        yield view


def _parts(table: Any) -> list[Part]:
    batches = table.to_batches()
    firsts = np.cumsum([0, *(batch.num_rows for batch in batches)]).tolist()
    return [
        Part(first, batch.num_rows, partial(_columns, batch))
        for first, batch in zip(firsts, batches, strict=False)
    ]


def _columns(batch: Any) -> Iterator[list[Any]]:
    yield [as_numpy(column) for column in batch.columns]


def _head(start: bytes) -> int:
    """Return the length of the lines above the table."""
    found = HEAD.match(start)
    return found.end() if found else 0


def _found(view: Any, byte: bytes, start: int) -> bool:
    """Return True if a byte is in the text; the search goes in pieces, so that Ctrl-C is heard."""
    pieces = range(start, len(view), SEARCHED)
    return any(view.find(byte, at, at + SEARCHED) >= 0 for at in pieces)


def _n_lines(view: Any) -> int:
    """Count lines, a part at a time so that Ctrl-C is heard."""
    lines, block = 0, b""
    for start in range(0, len(view), CHUNK):
        before, block = block[-1:], view[start : start + CHUNK]
        lines += line_ends(block, before)
    return lines + (not block.endswith((b"\n", b"\r")))


def _decoded(text: bytes) -> str:
    try:
        return text.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if text.startswith(codecs.BOM_UTF8):
            at = error.start + len(codecs.BOM_UTF8)
            raise DataError(
                f"expected text in UTF-8, as its first bytes say, got the byte {text[at]:#04x} in "
                f"line {text.count(NEWLINE, 0, at) + 1}; save it again as UTF-8"
            ) from None
        return text.decode(OLDER, errors="replace")  # names from older programs


def _ids(column: Any) -> Any:
    values = column.to_numpy()
    if str(column.type) == "binary":  # text that is not UTF-8
        values = [v if v is None else v.decode(OLDER, errors="replace") for v in values]
        return np.array(values, dtype=object)
    return np.asarray(values)


def _short(error: Exception) -> str:
    return str(error).splitlines()[0][:200]
