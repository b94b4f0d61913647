"""Missing values: counted, then refused, left out, kept or filled."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from coterie.data.tables.averages import exact_mean, exact_median

Rule = Literal["error", "drop", "keep", "mean", "median"]
RULES: tuple[Rule, ...] = ("error", "drop", "keep", "mean", "median")
BLOCK = 1 << 14  # rows looked at together


@dataclass(frozen=True)
class Gaps:
    """Values that are not finite numbers: counts, and the place of the first of each kind."""

    missing: int = 0
    rows: int = 0
    first_missing: tuple[int, int] | None = None
    first_infinite: tuple[int, int] | None = None


def find_gaps(X: NDArray[Any]) -> Gaps:
    """Count the gaps of X, (n, d), in one pass; without gaps it costs a sum."""
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
        return _whole_rows(X)
    if rule in ("mean", "median"):
        for column in range(X.shape[1]):
            _fill(X[:, column], exact_mean if rule == "mean" else exact_median)
    return X, None


def empty_columns(X: NDArray[Any]) -> list[int]:
    """Return the columns in which every value is missing."""
    empty = np.ones(X.shape[1], dtype=bool)
    for block in _blocks(X):
        empty &= np.isnan(block).all(axis=0)
        if not empty.any():
            break
    return np.flatnonzero(empty).tolist()


def _whole_rows(X: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the rows without gaps and their numbers."""
    whole = np.concatenate([~np.isnan(block).any(axis=1) for block in _blocks(X)])
    kept = np.flatnonzero(whole)
    rows = np.empty((len(kept), X.shape[1]), dtype=X.dtype)
    for start in range(0, len(kept), BLOCK):
        rows[start : start + BLOCK] = X[kept[start : start + BLOCK]]
    return rows, kept


def _fill(column: NDArray[Any], average: Callable[[NDArray[Any]], float]) -> None:
    """Write the mean or median of a column, (n,), into its gaps."""
    if any(np.isnan(block).any() for block in _blocks(column)):
        value = average(column)
        for block in _blocks(column):
            block[np.isnan(block)] = value


def _blocks(X: NDArray[Any]) -> Iterator[NDArray[Any]]:
    """Yield views of some rows at a time; Ctrl-C is heard between them."""
    for start in range(0, len(X), BLOCK):
        yield X[start : start + BLOCK]


def _first(found: NDArray[np.bool_], start: int) -> tuple[int, int]:
    row, column = np.argwhere(found)[0]
    return start + int(row), int(column)
