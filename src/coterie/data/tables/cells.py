"""Cells of a text: numbers, signs of missing values, and cells that are almost numbers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

BLANK = " \t"  # around a number, as pyarrow reads it
MISSING = frozenset(
    ["", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "-NaN", "-nan", "null", "NULL", "?"]
)
NULLS = MISSING | {f"{a}{sign}{b}" for sign in MISSING for a in ("", " ") for b in ("", " ")}
# Signs of a missing value that are not read as such: their meaning differs between programs.
UNUSUAL = frozenset(
    {".", "..", "-", "--", "---", "*", "na", "n.a.", "n.d.", "nd", "none", "<na>", "nat", "nil"}
    | {"missing", "null", "(null)", "nan", "+nan", "-nan", "nan(ind)", "-nan(ind)", "1.#ind"}
    | {"-1.#ind", "1.#qnan", "#null!", "#num!", "#div/0!", "#value!", "#ref!", "#name?", "#n/a"}
)
_INFINITE = r"inf(?:inity)?"
_NUMBER = {
    sign: re.compile(
        rf"[+-]?(?:\d+(?:{mark}\d*)?(?:[eE][+-]?\d+)?|{mark}\d+(?:[eE][+-]?\d+)?|{_INFINITE})",
        re.IGNORECASE | re.ASCII,
    )
    for sign, mark in ((".", r"\."), (",", ","))
}
# A number with signs between thousands, a currency or a per cent sign: "1,234.50", "12 %".
_DECORATED = re.compile(
    r"[+-]?[$€£]?\s?(?:\d{1,3}(?:[.,' ]\d{3})+|\d+)(?:[.,]\d*)?\s?[%$€£]?", re.ASCII
)
_TRUTH = frozenset(["true", "false"])


def is_number(cell: str, decimal: str = ".") -> bool:
    """Return True for a number, written with this decimal sign."""
    return _NUMBER[decimal].fullmatch(cell.strip(BLANK)) is not None


def is_missing(cell: str) -> bool:
    """Return True for a cell that stands for a missing value."""
    return cell.strip(BLANK) in MISSING


def is_whole(cell: str) -> bool:
    """Return True for a whole number without a sign."""
    bare = cell.strip(BLANK)
    return bare.isascii() and bare.isdigit()


def type_of(cells: Sequence[str], decimal: str) -> str:
    """Return the type of all cells of a column: number, truth, text, nothing."""
    present = [cell for cell in cells if not is_missing(cell)]
    if not present:
        return "nothing"
    if all(is_number(cell, decimal) for cell in present):
        return "number"
    return "truth" if all(cell.strip(BLANK).lower() in _TRUTH for cell in present) else "text"


def odd_cell(cells: Sequence[str], decimal: str) -> str | None:
    """Return the commonest cell that is no number, in a column that seems to hold numbers.

    At least half of the cells are numbers, or written as people write them ("1,234", "12 %"), or
    all are signs of missing values that are not known as such.
    """
    present = [cell.strip(BLANK) for cell in cells if not is_missing(cell)]
    others = Counter(cell for cell in present if not is_number(cell, decimal))
    if not others:
        return None
    decorated = sum(n for cell, n in others.items() if _DECORATED.fullmatch(cell))
    numbers = len(present) - others.total() + decorated
    unusual = all(cell.lower() in UNUSUAL for cell in others)
    return others.most_common(1)[0][0] if 2 * numbers >= len(present) or unusual else None


def as_float(cell: str, decimal: str) -> str:
    """Return the number of a cell for a message."""
    if is_missing(cell):
        return "missing"
    return repr(float(cell.replace(decimal, "."))) if is_number(cell, decimal) else repr(cell)
