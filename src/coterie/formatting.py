"""Numbers in sentences, and tables for people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any


def share(part: float) -> str:
    """A part of one as "96 %"; 0 % and 100 % only where they are exact."""
    percent = 100.0 * part
    if percent in (0.0, 100.0) or 0.95 <= percent <= 99.05:
        return f"{percent:.0f} %"
    if percent > 50.0:
        return f"{min(percent, 99.9):.1f} %"
    return f"{percent:.1f} %" if percent >= 0.05 else "under 0.1 %"


def number(value: float) -> str:
    """Three digits, such as 0.531, 12.4 or 1.2e+06; whole numbers up to a million in full."""
    return f"{value:.0f}" if 999.5 <= abs(value) < 1e6 else f"{value:.3g}"


def plural(count: int, singular: str, several: str | None = None) -> str:
    """ "1 cluster", "4 clusters", "1,000 rows"."""
    return f"{count:,} {singular if count == 1 else several or singular + 's'}"


def listed(words: Iterable[object]) -> str:
    """ "a", "a and b", "a, b and c"."""
    *first, last = (str(word) for word in words)
    return f"{', '.join(first)} and {last}" if first else last


def text_table(columns: Mapping[str, Sequence[Any]], mark: int | None = None) -> str:
    """Columns side by side, numbers to the right; a star at the row `mark`."""
    rows = [list(map(_cell, row)) for row in zip(*columns.values(), strict=True)]
    widths = [
        max(len(name), *(len(row[i]) for row in rows)) if rows else len(name)
        for i, name in enumerate(columns)
    ]
    lines = ["  " + "  ".join(name.rjust(w) for name, w in zip(columns, widths, strict=True))]
    for place, row in enumerate(rows):
        cells = "  ".join(cell.rjust(w) for cell, w in zip(row, widths, strict=True))
        lines.append(("* " if place == mark else "  ") + cells)
    return "\n".join(line.rstrip() for line in lines)


def _cell(value: Any) -> str:
    if value is None or value != value:
        return ""
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) < 1e4 else f"{value:.6g}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
