"""Names of columns in the first line of a text, and numbers of rows in its first column."""

from __future__ import annotations

from collections.abc import Sequence

from coterie.data.errors import DataError
from coterie.data.tables.cells import is_missing, is_number, is_whole
from coterie.data.tables.first_lines import Record

SHOWN = 60  # characters of a line that a message quotes


def has_header(first: Record, below: Sequence[Record], types: Sequence[str], decimal: str) -> bool:
    """Return True if the first line looks like names: no numbers above columns of numbers."""
    if below[0] is first:
        return not any(is_number(cell, decimal) for cell in first)
    if is_count(first):
        return _names_by_number(first, below, types)
    over_numbers = [cell for cell, kind in zip(first, types, strict=True) if kind == "number"]
    named = [cell for cell in over_numbers if not is_number(cell, decimal) and not is_missing(cell)]
    return bool(named) or not over_numbers


def is_count(first: Record) -> bool:
    """Return True for the line 0, 1, 2, ..., as pandas names columns, also behind an empty cell."""
    cells = [cell.strip() for cell in first]
    counted = cells[1:] if not cells[0] else cells
    return len(cells) > 1 and counted == [str(i) for i in range(len(counted))]


def _names_by_number(first: Record, below: Sequence[Record], types: Sequence[str]) -> bool:
    """Return True if a line 0, 1, 2, ... must be names: above row numbers, or above decimals."""
    if not first[0].strip() and counts_rows([record[0] for record in below]):
        return True
    columns = [[r[i] for r in below if not is_missing(r[i])] for i in range(len(first))]
    decimals = [
        len(cells) > 1 and not any(map(is_whole, (cell.lstrip("+-") for cell in cells)))
        for cells, kind in zip(columns, types, strict=True)
        if kind == "number"
    ]
    return any(decimals)


def counts_rows(cells: Sequence[str]) -> bool:
    """Return True for cells that could be row numbers: whole and distinct."""
    return all(map(is_whole, cells)) and len({c.strip().lstrip("0") for c in cells}) == len(cells)


def names_rows(first: Record, below: Sequence[Record], types: Sequence[str]) -> bool:
    """Return True if the first column holds row numbers, as R and pandas write them: unnamed."""
    if first[0].strip() or types[0] != "number" or not all(cell.strip() for cell in first[1:]):
        return False
    return len(first) > 1 and counts_rows([record[0] for record in below])


def check_clear(records: Sequence[Record], types: Sequence[str], titled: bool) -> None:
    """Raise if the first line could be names as well as data."""
    first, others = records[0], records[1:]
    if titled or not others:
        return
    texts = [i for i, kind in enumerate(types) if kind == "text"]
    repeated = any(first[i] in [r[i] for r in others if i < len(r)] for i in texts)
    counted = is_count(first) and first not in others
    if counted or (texts and not repeated):
        raise DataError(
            f"expected a first line that is clearly names or clearly data, got {_shown(first)}; "
            "pass header=True if it has names, header=False if it is data"
        )


def check_width(first: Record, line: int, width: int, separator: str) -> None:
    """Raise if the first line has fewer or more cells than most others."""
    if len(first) == width:
        return
    said = separator.join(first)[:SHOWN]
    raise DataError(
        f"expected {width} cells in every line, as most lines have, got {len(first)} in line "
        f"{line}: {said!r}; give each column its name there, and delete lines that stand above "
        "the table, or begin them with '#'"
    )


def _shown(first: Record) -> str:
    shown = str(first)
    return shown if len(shown) <= 400 else f"{shown[:400]}... ({len(first):,} cells)"
