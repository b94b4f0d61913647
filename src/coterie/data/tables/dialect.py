"""Separator, decimal sign and header of a text of cells, found or asked for.

Every separator and decimal sign is tried on the first lines. A reading counts if all lines get
the same number of cells and some column becomes numbers; if there is none such, one counts that
gives most lines the same number of cells, so that the others can be named. If two readings are
left, guessing could be silently wrong (`1.234;1,5` has two), so there is an error that shows both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from coterie.data.errors import DataError
from coterie.data.tables.cells import as_float, in_spite_of, is_missing, is_number, type_of
from coterie.data.tables.first_lines import NOTHING, Lines, Opening, Record
from coterie.data.tables.format import NEARLY, ROW_NUMBER
from coterie.data.tables.headers import check_clear, check_width, has_header, names_rows

SEPARATORS = (",", ";", "\t", "|")
FEW_WRONG = 0.1  # of the cells of a column that is one of numbers all the same
SHOWN = 12  # cells of a line, or characters of a cell, that a message quotes
MOST = 0.5  # of the lines of a text that some separator divides, though not evenly


@dataclass(frozen=True)
class Reading:
    """One way to read a text of cells."""

    separator: str
    decimal: str
    header: bool
    names: tuple[str, ...]
    types: tuple[str, ...]  # of each column, as far as looked at: number, truth, text, nothing
    above: int = 0  # lines of the file above the first row of data

    @property
    def numbers(self) -> tuple[int, ...]:
        """Positions of the columns of numbers."""
        return tuple(i for i, kind in enumerate(self.types) if kind == "number")

    def in_words(self, lines: Lines) -> str:
        """Say what the first line of data becomes."""
        first, *others = lines.whole
        shown = others[0] if self.header and others else first
        cells = [
            as_float(cell, self.decimal) if kind == "number" else repr(cell)
            for cell, kind in zip(shown[:SHOWN], self.types, strict=False)
        ]
        more = ["..."] if len(shown) > SHOWN else []
        signs = [] if self.separator == NOTHING else [f"separator={self.separator!r}"]
        signs += [] if self.decimal == "." else [f"decimal={self.decimal!r}"]
        odd = lines.odd
        but = "" if odd is None else f" (but not in line {odd})"
        return f"{' and '.join(signs)} gives [{', '.join(cells + more)}]{but}"


def guess(
    text: str,
    *,
    separator: str | None = None,
    decimal: str | None = None,
    header: bool | None = None,
    named_csv: bool = True,
) -> Reading:
    """Return the one way to read the first lines of a text, or raise with the ways there are."""
    opening = Opening.of(text)
    if not opening.lines(NOTHING).records:
        raise DataError("expected at least one line with numbers, got an empty file")
    given = separator or opening.separator
    if given:
        found = _with_decimals(given, opening.lines(given), decimal, header)
    else:
        found = _found(opening, decimal, header)
        if not named_csv and len(found) == 1:
            found += _as_one_column(found[0], opening.lines(found[0].separator).records)
    if len(found) > 1:
        shown = "; ".join(reading.in_words(opening.lines(reading.separator)) for reading in found)
        raise DataError(
            f"expected one way to read this text, got {len(found)}: {shown}; "
            "pass the separator and the decimal sign that are meant"
        )
    lines = opening.lines(found[0].separator)
    check_width(lines.records[0], lines.numbers[0], lines.width, found[0].separator)
    return _named(_forgiving(found[0], lines.records), lines, header)


def _found(opening: Opening, decimal: str | None, header: bool | None) -> list[Reading]:
    """Return the readings that explain every sign, if there are any, or else the next best."""
    tried = {sign: opening.lines(sign) for sign in SEPARATORS if sign != decimal}
    even = _of_numbers(
        {sign: lines for sign, lines in tried.items() if lines.even}, decimal, header
    )
    explaining = [r for r in even if not _unexplained(r, tried[r.separator].records)]
    if explaining:
        return explaining
    one = _of_numbers({NOTHING: opening.lines(NOTHING)}, decimal, header)
    one = [r for r in one if not _unexplained(r, opening.lines(NOTHING).records)]
    commas = any(reading.decimal == "," for reading in one)  # which could separate cells as well
    others = {
        sign: lines
        for sign, lines in tried.items()
        if lines.agreement >= MOST or (commas and sign == "," and lines.width > 1)
    }
    if opening.lines(" ").even:
        others[" "] = opening.lines(" ")
    uneven = _of_numbers(others, decimal, header)
    uneven = [r for r in uneven if not _unexplained(r, opening.lines(r.separator).records)]
    return one + uneven or even or [_next_best(tried, opening, decimal, header)]


def _of_numbers(tried: dict[str, Lines], decimal: str | None, header: bool | None) -> list[Reading]:
    """Return the readings that give some column of numbers."""
    readings = (_with_decimals(sign, lines, decimal, header) for sign, lines in tried.items())
    return [reading for some in readings for reading in some if reading.numbers]


def _with_decimals(
    separator: str, lines: Lines, decimal: str | None, header: bool | None
) -> list[Reading]:
    """Return the reading with the decimal sign that makes more numbers, or both if each has own."""
    signs = [decimal] if decimal else [".", ","] if separator != "," else ["."]
    readings = [_reading(separator, sign, lines, header) for sign in signs]
    if len(readings) == 1:
        return readings
    point, comma = readings
    point_is_enough = set(comma.numbers) <= set(point.numbers)
    if point_is_enough and point.header <= comma.header:  # and does not take 1,5 for a name
        return [point]
    return [comma] if set(point.numbers) <= set(comma.numbers) else [point, comma]


def _reading(separator: str, decimal: str, lines: Lines, header: bool | None) -> Reading:
    whole = lines.whole
    below = whole[1:] if header is not False and len(whole) > 1 else whole
    types = _types(below, decimal)
    titled = has_header(whole[0], below, types, decimal) if header is None else header
    if not titled and below is not whole:
        types = _types(whole, decimal)
    return Reading(separator, decimal, titled, (), types)


def _types(records: Sequence[Record], decimal: str) -> tuple[str, ...]:
    return tuple(type_of(cells, decimal) for cells in zip(*records, strict=True))


def _unexplained(reading: Reading, records: Sequence[Record]) -> bool:
    """Return True if a name, or every cell of a text, could be divided into more cells."""
    others = set(SEPARATORS) - {reading.separator}
    if reading.header and any(other in name for name in records[0] for other in {*others, '"'}):
        return True
    for i, kind in enumerate(reading.types):
        if kind != "text":
            continue
        cells = [record[i] for record in records if i < len(record)]
        if any(all(other in cell for cell in cells) for other in others):
            return True
        if all(_spaced_numbers(cell) for cell in cells[int(reading.header) :]):
            return True
    return False


def _spaced_numbers(cell: str) -> bool:
    parts = cell.split()
    return len(parts) > 1 and all(is_number(part) for part in parts)


def _next_best(
    tried: dict[str, Lines], opening: Opening, decimal: str | None, header: bool | None
) -> Reading:
    """Return a reading of a text without columns of numbers, so that it can be judged."""
    best = max(tried, key=lambda sign: tried[sign].agreement)
    if tried[best].agreement < MOST:
        best = " " if opening.lines(" ").even else NOTHING
    return _with_decimals(best, opening.lines(best), decimal, header)[0]


def _as_one_column(reading: Reading, records: Sequence[Record]) -> list[Reading]:
    """Return the other reading of `1,5`: one column of decimals."""
    digits = all(len(r) == 2 and r[0].lstrip("+-").isdigit() and r[1].isdigit() for r in records)
    if reading.separator == "," and not reading.header and digits:
        return [replace(reading, separator=NOTHING, decimal=",", types=("number",))]
    return []


def _forgiving(reading: Reading, records: Sequence[Record]) -> Reading:
    """Take a column of numbers with few wrong cells for one: then these are told, and not it lost.

    Only once it is clear how to read the text: until then, a wrong cell may be a wrong reading.
    """
    below = records[int(reading.header) :]
    types = tuple(
        _forgiven([record[i] for record in below if i < len(record)], reading.decimal)
        if kind == "text"
        else kind
        for i, kind in enumerate(reading.types)
    )
    return replace(reading, types=types)


def _forgiven(cells: Sequence[str], decimal: str) -> str:
    """Return what a column of text holds: numbers but for a few cells, nearly numbers, or text."""
    present = [cell for cell in cells if not is_missing(cell)]
    wrong = sum(not is_number(cell, decimal) for cell in present)
    if wrong <= FEW_WRONG * len(present):
        return "number"
    odd = in_spite_of(present, decimal)
    return "text" if odd is None else f"{NEARLY}{odd[:SHOWN]!r}"


def _named(reading: Reading, lines: Lines, header: bool | None) -> Reading:
    """Give the columns their names; refuse to guess whether the first line has them."""
    first, *below = lines.records
    if reading.header and not below:
        raise DataError(
            f"expected rows of numbers below the first line, {','.join(first)[:60]!r}, got none; "
            "check the file"
        )
    if header is None:
        check_clear(lines.records, reading.types, reading.header)
    if not reading.header:
        names = tuple(f"column_{i}" for i in range(len(reading.types)))
        return replace(reading, names=names, above=lines.numbers[0] - 1)
    names = tuple(cell.strip() or f"column_{i}" for i, cell in enumerate(first))
    types = reading.types
    if names_rows(first, below, types):
        types = (ROW_NUMBER, *types[1:])
    return replace(reading, names=names, types=types, above=lines.ends[0])
