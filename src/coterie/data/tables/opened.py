"""What every format of tables can say and do once it is opened."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from numpy.typing import NDArray

NUMBER, TRUTH = "number", "truth"  # types of columns that can become numbers
Loaded = tuple[NDArray[Any], NDArray[Any] | None]


class Opened(Protocol):
    """A table whose columns are known and whose cells are not read yet."""

    format: str
    names: tuple[str, ...]
    types: tuple[str, ...]  # NUMBER, TRUTH, or in words what else: "text", "timestamp[us]", ...

    def load(self, chosen: Sequence[int], ids: int | None) -> Loaded:
        """Return the chosen columns as rows, (n, d), and the column of ids, (n,), as it is."""
        ...

    def place(self, row: int) -> str:
        """Say where a row (from 0) is found: "line 7" of a text, "row 5" of anything else."""
        ...
