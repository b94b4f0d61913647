"""Missing values: counted, and then what the caller asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Rule = Literal["error", "drop", "keep", "mean", "median"]
RULES: tuple[Rule, ...] = ("error", "drop", "keep", "mean", "median")
BLOCK = 1 << 14  # rows looked at together


@dataclass(frozen=True)
class Gaps:
    """Values that are not finite numbers: how many, and where the first of each kind is."""

    missing: int = 0
    rows: int = 0
    first_missing: tuple[int, int] | None = None
    first_infinite: tuple[int, int] | None = None


def find_gaps(X: NDArray[Any]) -> Gaps:
    """Look through X, (n, d), once; the usual case, no gaps, costs a sum."""
    missing, rows = 0, 0
    first_missing = first_infinite = None
    with np.errstate(over="ignore", invalid="ignore"):
        for start in range(0, len(X), BLOCK):
            block = X[start : start + BLOCK]
            if np.isfinite(block.sum()):
                continue
            gaps = np.isnan(block)
            if gaps.any():
                if first_missing is None:
                    first_missing = _first(gaps, start)
                missing += int(gaps.sum())
                rows += int(gaps.any(axis=1).sum())
            infinite = np.isinf(block)
            if first_infinite is None and infinite.any():
                first_infinite = _first(infinite, start)
    return Gaps(missing, rows, first_missing, first_infinite)


def treat(X: NDArray[Any], rule: Rule) -> tuple[NDArray[Any], NDArray[np.intp] | None]:
    """Return X without gaps (or with them, for "keep") and the rows that were kept, if not all."""
    if rule == "drop":
        kept = np.flatnonzero(~np.isnan(X).any(axis=1))
        return X[kept], kept
    if rule in ("mean", "median"):
        for column in range(X.shape[1]):
            gaps = np.isnan(X[:, column])
            if gaps.any():
                X[gaps, column] = getattr(np, rule)(X[~gaps, column])
    return X, None


def empty_columns(X: NDArray[Any]) -> list[int]:
    """Return the columns in which every value is missing."""
    return [column for column in range(X.shape[1]) if np.isnan(X[:, column]).all()]


def _first(found: NDArray[np.bool_], start: int) -> tuple[int, int]:
    row, column = np.argwhere(found)[0]
    return start + int(row), int(column)
