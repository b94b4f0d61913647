"""What every format of tables can say and do once it is opened."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from numpy.typing import NDArray

NUMBER, TRUTH = "number", "truth"  # types of columns that can become numbers
NOTHING = "nothing"  # the type of a column without a value
NEARLY = "numbers and "  # begins the type of a column of a text that other cells keep from numbers
ROW_NUMBER = "row number"  # another, of a column that becomes numbers only if it is asked for


@dataclass(frozen=True, eq=False)
class Loaded:
    """The chosen columns as rows, (n, d), and the column of ids, (n,), as it is."""

    X: NDArray[Any]
    ids: NDArray[Any] | None
    finite: bool = False  # whether all numbers are known to be finite; if not, nobody has looked


class Opened(Protocol):
    """A table whose columns are known and whose cells are not read yet."""

    format: str
    names: tuple[str, ...]
    named: bool  # whether names are in the file, or else only our own, column_0 and so on
    types: tuple[str, ...]  # NUMBER, TRUTH, ROW_NUMBER, or words: "text", "timestamp[us]", ...

    def load(self, chosen: Sequence[int], ids: int | None) -> Loaded:
        """Read the cells."""
        ...

    def place(self, row: int) -> str:
        """Say where a row (from 0) is found: "line 7" of a text, "row 5" of anything else."""
        ...
