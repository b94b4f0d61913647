"""Errors in a text of cells, with their lines: a slow look at a file that pyarrow refused."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from typing import IO

from coterie.data.errors import DataError
from coterie.data.memory_limits import readable
from coterie.data.tables.cells import NULLS, is_missing, is_number
from coterie.data.tables.dialect import Dialect

SHOWN = 40  # characters of a cell that a message quotes
LONGEST_LINE = 1 << 22  # bytes of a row


class EndlessLine(csv.Error):
    """A line longer than any row."""


def find_error(file: IO[bytes], dialect: Dialect, chosen: Sequence[int]) -> DataError | None:
    """Return the first error of a text: in its shape, or in the cells of the chosen columns."""
    width = len(dialect.types)
    for line, last, record in _lines(file, dialect):
        if isinstance(record, csv.Error):
            return _unreadable(line, record)
        if len(record) != width:
            return _ragged(line, record, width, dialect)
        if last > line and any(_takes_in_rows(cell, dialect) for cell in record):
            return DataError(
                f"expected every quote to be closed in its cell, but the one opened in line {line} "
                f"takes in rows up to line {last}; close or remove it"
            )
        for i in chosen:
            error = _cell_error(record[i], dialect.decimal)
            if error:
                return DataError(
                    f"expected a number in line {line}, column {dialect.names[i]!r}, got {error}"
                )
    return None


def line_of_row(file: IO[bytes], dialect: Dialect, row: int) -> int:
    """Return the first line (from 1) of a row of data (from 0)."""
    for number, (line, _, _) in enumerate(_lines(file, dialect)):
        if number == row:
            return line
    return dialect.above + row + 1


def line_of_nul(file: IO[bytes]) -> int:
    """Return the line (from 1) of the first NUL character."""
    line, before = 1, b""
    while block := file.read(1 << 20):
        at = block.find(b"\0")
        line += line_ends(block if at < 0 else block[:at], before)
        if at >= 0:
            break
        before = block[-1:]
    return line


def line_ends(block: bytes, before: bytes = b"") -> int:
    """Count the line ends of a block, which are LF, CR, or CR LF; `before` is the last byte."""
    pairs = block.count(b"\r\n") + (before == b"\r" and block.startswith(b"\n"))
    return block.count(b"\n") + block.count(b"\r") - pairs


def _lines(file: IO[bytes], dialect: Dialect) -> Iterator[tuple[int, int, list[str] | csv.Error]]:
    """Yield the rows that are not empty, with the lines in which each begins and ends."""
    text = io.TextIOWrapper(file, encoding="latin-1", newline="")
    for _ in range(dialect.above):
        text.readline()
    reader = csv.reader(_short_lines(text), delimiter=dialect.separator, strict=True)
    begin = dialect.above + 1
    try:
        for record in reader:
            end = dialect.above + reader.line_num
            if record:
                yield begin, end, record
            begin = end + 1
    except csv.Error as error:  # also a cell beyond the limit of the module
        yield begin, begin, error
    finally:
        text.detach()


def _takes_in_rows(cell: str, dialect: Dialect) -> bool:
    """Return True if a line within a cell is a row of numbers."""
    within = cell.splitlines()[1:-1]
    return any(
        _is_row(record, dialect) for record in csv.reader(within, delimiter=dialect.separator)
    )


def _is_row(record: list[str], dialect: Dialect) -> bool:
    if len(record) != len(dialect.types):
        return False
    cells = [record[i] for i in dialect.numbers if not is_missing(record[i])]
    return bool(cells) and all(is_number(cell, dialect.decimal) for cell in cells)


def _short_lines(text: IO[str]) -> Iterator[str]:
    """Yield lines, and raise at one without end before it fills the memory."""
    while line := text.readline(LONGEST_LINE):
        if len(line) == LONGEST_LINE:
            raise EndlessLine
        yield line


def _unreadable(line: int, error: csv.Error) -> DataError:
    if isinstance(error, EndlessLine):
        return endless(line)
    if "field limit" in str(error):
        return DataError(
            f"expected cells of at most {csv.field_size_limit():,} characters, got a longer one "
            f"from line {line} on; a quote may be open there: close or remove it"
        )
    return DataError(
        f"expected every quote to be closed, but the one opened in line {line} is not "
        f"({error}); close or remove it"
    )


def endless(line: int) -> DataError:
    """Return the error about a line that is too long to be a row."""
    return DataError(
        f"expected lines of at most {readable(LONGEST_LINE)}, got a longer one in line {line}; "
        "write every row on a line of its own, or a table with so many columns as Parquet or NPY"
    )


def _ragged(line: int, record: list[str], width: int, dialect: Dialect) -> DataError:
    few = len(record) < width
    where = (
        f"column {dialect.names[len(record)]!r} is missing"
        if few
        else f"the cell after column {dialect.names[-1]!r} is {record[width][:SHOWN]!r}"
    )
    return DataError(
        f"expected {width} cells in every line, got {len(record)} in line {line}: {where}; "
        "correct that line, or put quotes around cells that contain the separator "
        f"{dialect.separator!r}"
    )


def _cell_error(cell: str, decimal: str) -> str | None:
    if cell in NULLS:
        return None
    if is_missing(cell):
        return f"{cell[:SHOWN]!r}; remove the blanks around it"
    if not is_number(cell, decimal):
        return (
            f"{cell[:SHOWN]!r}; correct it, leave the cell empty if the value is missing, "
            "or choose other columns"
        )
    value = float(cell.replace(decimal, "."))
    if value in (float("inf"), float("-inf")):
        return f"{cell.strip()[:SHOWN]!r}, beyond 1.8e308, the largest float64; correct it"
    return None
