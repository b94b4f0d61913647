"""`TableFormat`: the protocol of every format of tables, once a file is open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from numpy.typing import NDArray

NUMBER, TRUTH = "number", "truth"  # types of columns that can become numbers
NOTHING = "nothing"  # the type of a column without a value
NEARLY = "numbers and "  # begins the type of a column of numbers and other cells
ROW_NUMBER = "row number"  # the type of a column of row numbers, which X has on request only


@dataclass(frozen=True, eq=False)
class Loaded:
    """The chosen columns as rows, (n, d), and the column of ids, (n,), unchanged."""

    X: NDArray[Any]
    ids: NDArray[Any] | None
    finite: bool = False  # True if all numbers are known to be finite; False if none was checked


class TableFormat(Protocol):
    """An open table: its columns are known, its cells are not read yet."""

    format: str
    names: tuple[str, ...]
    named: bool  # True if the file has names; False if they are ours, column_0 and so on
    types: tuple[str, ...]  # NUMBER, TRUTH, ROW_NUMBER, or words: "text", "timestamp[us]", ...

    def load(self, chosen: Sequence[int], ids: int | None) -> Loaded:
        """Read the cells."""
        ...

    def place(self, row: int) -> str:
        """Return the place of a row (from 0): "line 7" of a text, "row 5" of other formats."""
        ...
