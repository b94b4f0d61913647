"""How to read a text of cells: separator, decimal sign and header, found or asked for.

Every separator and decimal sign is tried on the first lines. A reading counts if all lines get
the same number of cells and some column becomes numbers. If two readings are left, guessing could
be silently wrong (`1.234;1,5` has two), so there is an error that shows both.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from coterie.data.errors import DataError

SEPARATORS = (",", ";", "\t", "|")
NOTHING = "\x1f"  # the separator of a text that has none
MISSING = frozenset(
    ["", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "-NaN", "-nan", "null", "NULL", "?"]
)
_INFINITE = r"inf(?:inity)?"
_NUMBER = {
    sign: re.compile(
        rf"[+-]?(?:\d+(?:{mark}\d*)?(?:[eE][+-]?\d+)?|{mark}\d+(?:[eE][+-]?\d+)?|{_INFINITE})",
        re.IGNORECASE | re.ASCII,
    )
    for sign, mark in ((".", r"\."), (",", ","))
}
FEW_WRONG = 0.1  # of the cells of a column that is one of numbers all the same
_TRUTH = frozenset(["true", "false"])

Record = list[str]


@dataclass(frozen=True)
class Reading:
    """One way to read a text of cells."""

    separator: str
    decimal: str
    header: bool
    names: tuple[str, ...]
    types: tuple[str, ...]  # of each column, as far as looked at: number, truth, text, nothing

    @property
    def numbers(self) -> tuple[int, ...]:
        """Positions of the columns of numbers."""
        return tuple(i for i, kind in enumerate(self.types) if kind == "number")

    def in_words(self, records: Sequence[Record]) -> str:
        """Say what the first line of data becomes."""
        if self.separator == NOTHING:
            return f"decimal=',' gives [{_as_float(records[0][0], ',')}]"
        cells = [
            _as_float(cell, self.decimal) if kind == "number" else repr(cell)
            for cell, kind in zip(records[int(self.header)], self.types, strict=False)
        ]
        sign = f" and decimal={self.decimal!r}" if self.decimal == "," else ""
        return f"separator={self.separator!r}{sign} gives [{', '.join(cells)}]"


def is_number(cell: str, decimal: str = ".") -> bool:
    """Whether a cell is a number, written with this decimal sign."""
    return _NUMBER[decimal].fullmatch(cell.strip()) is not None


def is_missing(cell: str) -> bool:
    """Whether a cell says that there is no value."""
    return cell.strip() in MISSING


def records_of(text: str, separator: str) -> list[Record]:
    """Return the cells of each line that has any; quotes are understood."""
    try:
        return [record for record in csv.reader(io.StringIO(text), delimiter=separator) if record]
    except csv.Error:  # a cell too long for the module, because this is not what separates cells
        return [[line] for line in text.splitlines() if line]


def guess(
    text: str,
    *,
    separator: str | None = None,
    decimal: str | None = None,
    header: bool | None = None,
    named_csv: bool = True,
) -> Reading:
    """Return the one way to read the first lines of a text, or raise with the ways there are."""
    tried = [separator] if separator else list(SEPARATORS)
    parsed = {sep: records_of(text, sep) for sep in tried}
    if not next(iter(parsed.values())):
        raise DataError("expected at least one line with numbers, got an empty file")
    found = _readings(parsed, decimal, header, alone=separator is not None)
    if not found:
        sep = separator or _next_best(parsed, text)
        parsed.setdefault(sep, records_of(text, sep))
        found = _with_decimals(sep, parsed[sep], decimal, header)
    if separator is None and not named_csv and len(found) == 1:
        found += _as_one_column(found[0], parsed[found[0].separator])
        parsed.setdefault(NOTHING, records_of(text, NOTHING))
    if len(found) > 1:
        raise DataError(
            "expected one way to read this text, got "
            f"{len(found)}: {'; '.join(r.in_words(parsed[r.separator]) for r in found)}; "
            "pass the separator and the decimal sign that are meant"
        )
    records = parsed[found[0].separator]
    return _named(_forgiving(found[0], records), records, header)


def _readings(
    parsed: dict[str, list[Record]], decimal: str | None, header: bool | None, alone: bool
) -> list[Reading]:
    """Return readings with columns of numbers; those that explain every sign, if there are any."""
    found: list[Reading] = []
    for separator, records in parsed.items():
        widths = {len(record) for record in records}
        if alone or (len(widths) == 1 and widths != {1}):
            found += _with_decimals(separator, records, decimal, header)
    found = [reading for reading in found if alone or reading.numbers]
    explaining = [r for r in found if not _unexplained(r, parsed[r.separator])]
    return explaining or found


def _with_decimals(
    separator: str, records: list[Record], decimal: str | None, header: bool | None
) -> list[Reading]:
    """Return the reading with the decimal sign that makes more numbers, or both if each has own."""
    signs = [decimal] if decimal else [".", ","] if separator != "," else ["."]
    readings = [_reading(separator, sign, records, header) for sign in signs]
    if len(readings) == 1:
        return readings
    point, comma = readings
    if set(comma.numbers) <= set(point.numbers):
        return [point]
    return [comma] if set(point.numbers) <= set(comma.numbers) else [point, comma]


def _reading(separator: str, decimal: str, records: list[Record], header: bool | None) -> Reading:
    width = Counter(len(record) for record in records).most_common(1)[0][0]
    whole = [record for record in records if len(record) == width]
    below = whole[1:] if header is not False and len(whole) > 1 else whole
    types = tuple(_type([record[i] for record in below], decimal) for i in range(width))
    titled = _has_header(whole[0], below, types, decimal) if header is None else header
    return Reading(separator, decimal, titled, (), types)


def _type(cells: list[str], decimal: str) -> str:
    present = [cell for cell in cells if not is_missing(cell)]
    if not present:
        return "nothing"
    if all(is_number(cell, decimal) for cell in present):
        return "number"
    return "truth" if all(cell.strip().lower() in _TRUTH for cell in present) else "text"


def _has_header(first: Record, below: list[Record], types: tuple[str, ...], decimal: str) -> bool:
    """Whether the first line looks like names, because they are no numbers above numbers."""
    if below[0] is first:
        return not any(is_number(cell, decimal) for cell in first)
    over_numbers = [cell for cell, kind in zip(first, types, strict=True) if kind == "number"]
    named = [cell for cell in over_numbers if not is_number(cell, decimal) and not is_missing(cell)]
    return bool(named) or not over_numbers


def _unexplained(reading: Reading, records: list[Record]) -> bool:
    """Whether a name, or every cell of a text, has another separator, as if it were more cells."""
    others = set(SEPARATORS) - {reading.separator}
    if reading.header and any(other in name for name in records[0] for other in others):
        return True
    for i, kind in enumerate(reading.types):
        if kind != "text":
            continue
        cells = [record[i] for record in records if i < len(record)]
        if any(all(other in cell for cell in cells) for other in others):
            return True
    return False


def _next_best(parsed: dict[str, list[Record]], text: str) -> str:
    """Return the separator of a text that no separator divides evenly, so that it can be judged."""
    lines = records_of(text, NOTHING)
    alone = _with_decimals(NOTHING, lines, None, None)
    if any(reading.numbers and not _unexplained(reading, lines) for reading in alone):
        return NOTHING

    def agreement(separator: str) -> float:
        widths = Counter(len(record) for record in parsed[separator])
        width, number = widths.most_common(1)[0]
        return number / len(parsed[separator]) if width > 1 else 0.0

    best = max(parsed, key=agreement)
    if agreement(best) >= 0.5:
        return best
    spaced = records_of(text, " ")
    widths = {len(record) for record in spaced}
    return " " if len(widths) == 1 and widths != {1} else NOTHING


def _as_one_column(reading: Reading, records: list[Record]) -> list[Reading]:
    """Return the other reading of `1,5`: one column of decimals."""
    digits = all(len(r) == 2 and r[0].lstrip("+-").isdigit() and r[1].isdigit() for r in records)
    if reading.separator == "," and not reading.header and digits:
        return [replace(reading, separator=NOTHING, decimal=",", types=("number",))]
    return []


def _forgiving(reading: Reading, records: list[Record]) -> Reading:
    """Take a column of numbers with few wrong cells for one: then these are told, and not it lost.

    Only once it is clear how to read the text: until then, a wrong cell may be a wrong reading.
    """
    below = records[int(reading.header) :]
    types = tuple(
        "number" if kind == "text" and _nearly_numbers(below, i, reading.decimal) else kind
        for i, kind in enumerate(reading.types)
    )
    return replace(reading, types=types)


def _nearly_numbers(records: list[Record], i: int, decimal: str) -> bool:
    cells = [record[i] for record in records if i < len(record) and not is_missing(record[i])]
    wrong = sum(not is_number(cell, decimal) for cell in cells)
    return wrong <= FEW_WRONG * len(cells)


def _named(reading: Reading, records: list[Record], header: bool | None) -> Reading:
    """Give the columns their names; refuse to guess whether the first line has them."""
    first, width = records[0], len(reading.types)
    if reading.header and len(records) == 1:
        raise DataError(
            f"expected rows of numbers below the first line, {','.join(first)[:60]!r}, got none; "
            "check the file"
        )
    texts = [i for i, kind in enumerate(reading.types) if kind == "text" and i < len(first)]
    repeated = any(first[i] in [r[i] for r in records[1:] if i < len(r)] for i in texts)
    if header is None and not reading.header and texts and not repeated and len(records) > 1:
        raise DataError(
            f"expected a first line that is clearly names or clearly data, got {first}; "
            "pass header=True if it has names, header=False if it is data"
        )
    if not reading.header:
        return replace(reading, names=tuple(f"column_{i}" for i in range(width)))
    names = [cell.strip().lstrip("\ufeff") or f"column_{i}" for i, cell in enumerate(first)]
    return replace(reading, names=tuple(names))


def _as_float(cell: str, decimal: str) -> str:
    return "missing" if is_missing(cell) else repr(float(cell.replace(decimal, ".")))
