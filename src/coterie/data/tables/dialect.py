"""Dialect of a text of cells: separator, decimal sign and header, found or asked for.

Every separator and decimal sign is tried on the first lines. A dialect counts if all lines get the
same number of cells and some column becomes numbers. Without such a one, a dialect counts that
gives most lines the same number of cells: an error can name the others. Two dialects may be left
(`1.234;1,5` has two): then an error shows both, since a guess could be silently wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from coterie.data.errors import DataError
from coterie.data.tables.cells import as_float, is_missing, is_number, odd_cell, type_of
from coterie.data.tables.first_lines import NOTHING, FirstLines, Lines, Record
from coterie.data.tables.format import NEARLY, ROW_NUMBER
from coterie.data.tables.headers import check_clear, check_width, has_header, names_rows

SEPARATORS = (",", ";", "\t", "|")
FEW_WRONG = 0.1  # share of wrong cells up to which a column is one of numbers
SHOWN = 12  # cells of a line, or characters of a cell, that a message quotes
MOST = 0.5  # share of even lines from which a separator counts


@dataclass(frozen=True)
class Dialect:
    """One way to read a text of cells."""

    separator: str
    decimal: str
    header: bool
    names: tuple[str, ...]
    types: tuple[str, ...]  # of each column in the first lines: number, truth, text, nothing
    above: int = 0  # lines of the file above the first row of data

    @property
    def numbers(self) -> tuple[int, ...]:
        """Positions of the columns of numbers."""
        return tuple(i for i, kind in enumerate(self.types) if kind == "number")

    def in_words(self, lines: Lines) -> str:
        """Return the numbers that the first line of data becomes, in words."""
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


def find_dialect(
    text: str,
    *,
    separator: str | None = None,
    decimal: str | None = None,
    header: bool | None = None,
    named_csv: bool = True,
) -> Dialect:
    """Return the one dialect of the first lines of a text, or raise with the possible ones."""
    first = FirstLines.of(text)
    if not first.lines(NOTHING).records:
        raise DataError("expected at least one line with numbers, got an empty file")
    given = separator or first.separator
    if given:
        found = _with_decimals(given, first.lines(given), decimal, header)
    else:
        found = _found(first, decimal, header)
        if not named_csv and len(found) == 1:
            found += _as_one_column(found[0], first.lines(found[0].separator).records)
    if len(found) > 1:
        shown = "; ".join(dialect.in_words(first.lines(dialect.separator)) for dialect in found)
        raise DataError(
            f"expected one way to read this text, got {len(found)}: {shown}; "
            "pass the separator and the decimal sign that are meant"
        )
    lines = first.lines(found[0].separator)
    check_width(lines.records[0], lines.numbers[0], lines.width, found[0].separator)
    return _named(_with_few_wrong_cells(found[0], lines.records), lines, header)


def _found(first: FirstLines, decimal: str | None, header: bool | None) -> list[Dialect]:
    """Return the dialects that explain every separator, or else the next best."""
    tried = {sign: first.lines(sign) for sign in SEPARATORS if sign != decimal}
    even = _of_numbers(
        {sign: lines for sign, lines in tried.items() if lines.even}, decimal, header
    )
    explaining = [r for r in even if not _divisible(r, tried[r.separator].records)]
    if explaining:
        return explaining
    one = _of_numbers({NOTHING: first.lines(NOTHING)}, decimal, header)
    one = [r for r in one if not _divisible(r, first.lines(NOTHING).records)]
    commas = any(dialect.decimal == "," for dialect in one)  # they could be separators
    others = {
        sign: lines
        for sign, lines in tried.items()
        if lines.agreement >= MOST or (commas and sign == "," and lines.width > 1)
    }
    if first.lines(" ").even:
        others[" "] = first.lines(" ")
    uneven = _of_numbers(others, decimal, header)
    uneven = [r for r in uneven if not _divisible(r, first.lines(r.separator).records)]
    return one + uneven or even or [_fallback(tried, first, decimal, header)]


def _of_numbers(tried: dict[str, Lines], decimal: str | None, header: bool | None) -> list[Dialect]:
    """Return the dialects that give some column of numbers."""
    dialects = (_with_decimals(sign, lines, decimal, header) for sign, lines in tried.items())
    return [dialect for some in dialects for dialect in some if dialect.numbers]


def _with_decimals(
    separator: str, lines: Lines, decimal: str | None, header: bool | None
) -> list[Dialect]:
    """Return the dialect with the decimal sign of more columns of numbers, or both in doubt."""
    signs = [decimal] if decimal else [".", ","] if separator != "," else ["."]
    dialects = [_judged(separator, sign, lines, header) for sign in signs]
    if len(dialects) == 1:
        return dialects
    point, comma = dialects
    point_is_enough = set(comma.numbers) <= set(point.numbers)
    if point_is_enough and point.header <= comma.header:  # 1,5 is no name
        return [point]
    return [comma] if set(point.numbers) <= set(comma.numbers) else [point, comma]


def _judged(separator: str, decimal: str, lines: Lines, header: bool | None) -> Dialect:
    whole = lines.whole
    below = whole[1:] if header is not False and len(whole) > 1 else whole
    types = _types(below, decimal)
    titled = has_header(whole[0], below, types, decimal) if header is None else header
    if not titled and below is not whole:
        types = _types(whole, decimal)
    return Dialect(separator, decimal, titled, (), types)


def _types(records: Sequence[Record], decimal: str) -> tuple[str, ...]:
    return tuple(type_of(cells, decimal) for cells in zip(*records, strict=True))


def _divisible(dialect: Dialect, records: Sequence[Record]) -> bool:
    """Return True if a name, or every cell of a text, could be divided into more cells."""
    others = set(SEPARATORS) - {dialect.separator}
    if dialect.header and any(other in name for name in records[0] for other in {*others, '"'}):
        return True
    for i, kind in enumerate(dialect.types):
        if kind != "text":
            continue
        cells = [record[i] for record in records if i < len(record)]
        if any(all(other in cell for cell in cells) for other in others):
            return True
        if all(_spaced_numbers(cell) for cell in cells[int(dialect.header) :]):
            return True
    return False


def _spaced_numbers(cell: str) -> bool:
    parts = cell.split()
    return len(parts) > 1 and all(is_number(part) for part in parts)


def _fallback(
    tried: dict[str, Lines], first: FirstLines, decimal: str | None, header: bool | None
) -> Dialect:
    """Return a dialect of a text without columns of numbers, for the error about it."""
    best = max(tried, key=lambda sign: tried[sign].agreement)
    if tried[best].agreement < MOST:
        best = " " if first.lines(" ").even else NOTHING
    return _with_decimals(best, first.lines(best), decimal, header)[0]


def _as_one_column(dialect: Dialect, records: Sequence[Record]) -> list[Dialect]:
    """Return the other dialect of `1,5`: one column of decimals."""
    digits = all(len(r) == 2 and r[0].lstrip("+-").isdigit() and r[1].isdigit() for r in records)
    if dialect.separator == "," and not dialect.header and digits:
        return [replace(dialect, separator=NOTHING, decimal=",", types=("number",))]
    return []


def _with_few_wrong_cells(dialect: Dialect, records: Sequence[Record]) -> Dialect:
    """Keep a column of numbers with few wrong cells: an error names the first, no column is lost.

    Only once separator and decimal sign are known: before, a wrong cell may be a wrong dialect.
    """
    below = records[int(dialect.header) :]
    types = tuple(
        _type_of_text([record[i] for record in below if i < len(record)], dialect.decimal)
        if kind == "text"
        else kind
        for i, kind in enumerate(dialect.types)
    )
    return replace(dialect, types=types)


def _type_of_text(cells: Sequence[str], decimal: str) -> str:
    """Return the type of a column of text: numbers but for a few cells, nearly numbers, or text."""
    present = [cell for cell in cells if not is_missing(cell)]
    wrong = sum(not is_number(cell, decimal) for cell in present)
    if wrong <= FEW_WRONG * len(present):
        return "number"
    odd = odd_cell(present, decimal)
    return "text" if odd is None else f"{NEARLY}{odd[:SHOWN]!r}"


def _named(dialect: Dialect, lines: Lines, header: bool | None) -> Dialect:
    """Give the columns their names; raise if the first line could be names as well as data."""
    first, *below = lines.records
    if dialect.header and not below:
        raise DataError(
            f"expected rows of numbers below the first line, {','.join(first)[:60]!r}, got none; "
            "check the file"
        )
    if header is None:
        check_clear(lines.records, dialect.types, dialect.header)
    if not dialect.header:
        names = tuple(f"column_{i}" for i in range(len(dialect.types)))
        return replace(dialect, names=names, above=lines.numbers[0] - 1)
    names = tuple(cell.strip() or f"column_{i}" for i, cell in enumerate(first))
    types = dialect.types
    if names_rows(first, below, types):
        types = (ROW_NUMBER, *types[1:])
    return replace(dialect, names=names, types=types, above=lines.ends[0])
