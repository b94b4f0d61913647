"""The choice of columns for X, by name or position."""

from __future__ import annotations

import inspect
import warnings
from collections import Counter
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from numbers import Integral
from typing import Any

import numpy as np

from coterie.data.errors import DataError, DataWarning
from coterie.data.tables.format import NEARLY, NOTHING, NUMBER, ROW_NUMBER, TRUTH, TableFormat

SHOWN = 12  # columns that a message lists


def choose_columns(
    table: TableFormat, columns: str | int | Sequence[str | int] | None, ids: int | None
) -> tuple[list[int], tuple[str, ...]]:
    """Return positions and names of the chosen columns, or of all columns of numbers.

    Names asked for in a file that has none are names for its columns of numbers, in their order.
    """
    numbers = [i for i, kind in enumerate(table.types) if kind == NUMBER and i != ids]
    if columns is None:
        _check_any(numbers, table)
        chosen, names = numbers, [table.names[i] for i in numbers]
    else:
        asked = _listed(columns)
        known = set(table.names)
        if not table.named and all(isinstance(n, str) and n not in known for n in asked):
            chosen, names = numbers, asked
            _check_all_named(numbers, names)
            _check_writable(names)
        else:
            chosen = _positions(table, asked)
            names = [table.names[i] for i in chosen]
        _check_numbers(chosen, table)
    _check_different(names)
    return chosen, tuple(names)


def _positions(table: TableFormat, asked: Sequence[str | int]) -> list[int]:
    """Return positions of columns; a dict of names keeps the time linear."""
    count = Counter(table.names)
    once = {name: i for i, name in enumerate(table.names) if count[name] == 1}
    return [
        once[column] if isinstance(column, str) and column in once else position_of(table, column)
        for column in asked
    ]


def _listed(columns: Any) -> list[Any]:
    one = isinstance(columns, str | bytes) or not isinstance(columns, Iterable)
    asked = [columns] if one else list(columns)
    if not asked:
        raise ValueError("expected at least one column, got an empty list; None takes all")
    return asked


def _check_any(numbers: Sequence[int], table: TableFormat) -> None:
    if not numbers:
        raise DataError(
            f"expected at least one column of numbers, got {described(table)}; "
            "check the separator and the decimal sign, turn text into numbers first, or pass "
            "kind='text' if every line is a text"
        )


def _check_numbers(chosen: Sequence[int], table: TableFormat) -> None:
    for i in chosen:
        if table.types[i] not in (NUMBER, TRUTH, ROW_NUMBER):
            raise DataError(
                f"expected numbers in column {table.names[i]!r}, got {table.types[i]}; choose "
                f"other columns out of {described(table)}"
            )


def _check_different(names: Sequence[str]) -> None:
    twice = [name for name, n in Counter(names).items() if n > 1]
    if twice:
        raise DataError(
            f"expected different columns, got {twice[0]!r} more than once; rename it in the file, "
            "or choose columns by position"
        )


def _check_all_named(numbers: Sequence[int], names: Sequence[str]) -> None:
    if len(names) != len(numbers):
        shown = [*map(repr, names[:SHOWN]), *(["..."] if len(names) > SHOWN else [])]
        raise DataError(
            f"expected {len(names)} columns of numbers, to be named {', '.join(shown)}, got "
            f"{len(numbers)}, and the file has no names; name all in their order, or choose by "
            "position"
        )


def warn_of_unused(table: TableFormat, left_out: Sequence[int], where: str) -> None:
    """Warn of unused columns that seem to hold numbers, or that hold no value."""
    kinds = {
        table.names[i]: "no value" if table.types[i] == NOTHING else table.types[i]
        for i in left_out
        if table.types[i].startswith(NEARLY)
        or (table.types[i] == NOTHING and table.names[i] != f"column_{i}")
    }
    if kinds:
        shown = ", ".join(f"{name!r} ({kind})" for name, kind in list(kinds.items())[:SHOWN])
        more = f" and {len(kinds) - SHOWN} more" if len(kinds) > SHOWN else ""
        warnings.warn(
            f"{where}: columns left out, because they are not numbers all through: {shown}{more}; "
            "leave cells without a value empty, write numbers plainly, or choose columns",
            DataWarning,
            stacklevel=_levels_to_caller(),
        )


def _levels_to_caller() -> int:
    """Return the stack level of the code that called Coterie, for a warning."""
    frame, level = inspect.currentframe(), 0
    while frame is not None and frame.f_globals.get("__name__", "").startswith("coterie."):
        frame, level = frame.f_back, level + 1
    return level


def _check_writable(names: Sequence[str]) -> None:
    for name in names:
        try:
            name.encode()
        except UnicodeEncodeError:
            raise DataError(
                f"expected names of columns that UTF-8 can hold, got {name!a} with half of a "
                "surrogate pair; give the column another name"
            ) from None


def position_of(table: TableFormat, column: str | int) -> int:
    """Return the position of a column given by name or position."""
    if isinstance(column, str):
        found = [i for i, name in enumerate(table.names) if name == column]
        if len(found) == 1:
            return found[0]
        if found:
            raise DataError(
                f"expected one column {column!r}, got {len(found)}, at positions {found}; "
                "choose by position"
            )
        near = get_close_matches(column, table.names, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise DataError(
            f"expected a column {column!r}, found none; there are {described(table)}{hint}"
        )
    if isinstance(column, bool | np.bool_) or not isinstance(column, Integral):
        raise TypeError(
            f"expected columns as names or positions, got {column!r}; pass a list of str or int"
        )
    position = int(column)
    if not 0 <= position < len(table.names):
        raise DataError(
            f"expected a column from 0 to {len(table.names) - 1}, got {position}; "
            f"there are {described(table)}"
        )
    return position


def described(table: TableFormat) -> str:
    """Return names and types of the columns in words."""
    shown = [f"{name!r} ({kind})" for name, kind in zip(table.names, table.types, strict=True)][
        :SHOWN
    ]
    more = len(table.names) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")
