"""Where a text of cells is broken: the slow, careful look at a file that a fast reader refused."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from typing import IO

from coterie.data.errors import DataError
from coterie.data.limits import readable
from coterie.data.tables.guessing import Reading, is_missing, is_number

SHOWN = 40  # characters of a cell that a message quotes
LONGEST_LINE = 1 << 22  # bytes of a row


class EndlessLine(csv.Error):
    """A line longer than any row."""


def find_fault(file: IO[bytes], reading: Reading, chosen: Sequence[int]) -> DataError | None:
    """Return the first fault of a text: in its shape, or in the cells of the chosen columns."""
    width = len(reading.types)
    for line, record in _lines(file, reading.separator):
        if isinstance(record, csv.Error):
            return _unreadable(line, record)
        if len(record) != width:
            return _ragged(line, record, width, reading)
        if line == 1 and reading.header:
            continue
        for i in chosen:
            fault = _cell_fault(record[i], reading.decimal)
            if fault:
                return DataError(
                    f"expected a number in line {line}, column {reading.names[i]!r}, got {fault}"
                )
    return None


def line_of_row(file: IO[bytes], reading: Reading, row: int) -> int:
    """Return the line (from 1) in which a row of data (from 0) begins."""
    wanted = row + int(reading.header)
    for number, (line, _) in enumerate(_lines(file, reading.separator)):
        if number == wanted:
            return line
    return wanted + 1


def line_of_nul(file: IO[bytes]) -> int:
    """Return the line (from 1) of the first NUL character."""
    line = 1
    while block := file.read(1 << 20):
        at = block.find(b"\0")
        if at >= 0:
            return line + block.count(b"\n", 0, at)
        line += block.count(b"\n")
    return line


def _lines(file: IO[bytes], separator: str) -> Iterator[tuple[int, list[str] | csv.Error]]:
    """Yield the records that are not empty, with the line in which each begins."""
    text = io.TextIOWrapper(file, encoding="latin-1", newline="")
    reader = csv.reader(_short_lines(text), delimiter=separator, strict=True)
    begin = 1
    try:
        for record in reader:
            if record:
                yield begin, record
            begin = reader.line_num + 1
    except csv.Error as error:  # also a cell without end, past the longest the module allows
        yield begin, error
    finally:
        text.detach()


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
    """The error about a line that is too long to be a row."""
    return DataError(
        f"expected lines of at most {readable(LONGEST_LINE)}, got a longer one in line {line}; "
        "write every row on a line of its own, or a table with so many columns as Parquet or NPY"
    )


def _ragged(line: int, record: list[str], width: int, reading: Reading) -> DataError:
    few = len(record) < width
    where = (
        f"column {reading.names[len(record)]!r} is missing"
        if few
        else f"the cell after column {reading.names[-1]!r} is {record[width][:SHOWN]!r}"
    )
    return DataError(
        f"expected {width} cells in every line, got {len(record)} in line {line}: {where}; "
        "correct that line, or put quotes around cells that contain the separator "
        f"{reading.separator!r}"
    )


def _cell_fault(cell: str, decimal: str) -> str | None:
    if is_missing(cell):
        return None
    if not is_number(cell, decimal):
        return (
            f"{cell[:SHOWN]!r}; correct it, leave the cell empty if the value is missing, "
            "or choose other columns"
        )
    value = float(cell.replace(decimal, "."))
    if value in (float("inf"), float("-inf")):
        return f"{cell.strip()[:SHOWN]!r}, beyond 1.8e308, the largest float64; correct it"
    return None
