"""Scaling of columns with different units, for the rows of a fit and for later ones.

A distance adds columns up: one in metres outweighs one in kilometres a thousandfold.
A `Scaling` keeps the numbers it used: it is stored with a model, for new rows too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from coterie.arrays import Floats

Kind = Literal["standard", "robust", "min-max", "none"]

KINDS: tuple[Kind, ...] = ("standard", "robust", "min-max", "none")

AT_ONCE = 1 << 20  # numbers that are scaled together


@dataclass(frozen=True, eq=False)
class Scaling:
    """x becomes (x - centre) / spread, column by column.

    Attributes
    ----------
    kind : {"standard", "robust", "min-max", "none"}
        Mean and standard deviation; median and distance of the quartiles; smallest value and
        range; or nothing.
    centre, spread : array (d,)
        Constant columns have a spread of 1.
    """

    kind: Kind
    centre: Floats
    spread: Floats

    @classmethod
    def of(cls, X: Any, kind: Kind = "standard") -> Scaling:
        """Return the scaling of the rows X, (n, d); missing values do not count."""
        if kind not in KINDS:
            raise ValueError(
                f"expected scaling out of {', '.join(map(repr, KINDS))}, got {kind!r}; "
                "'standard' suits most tables"
            )
        if sparse.issparse(X) and kind != "none":
            raise ValueError(
                f"expected scaling='none' for sparse rows, got {kind!r}: centring would fill all "
                "zeros; TF-IDF rows are comparable already"
            )
        d = X.shape[1]
        if kind == "none":
            return cls(kind, np.zeros(d), np.ones(d))
        pairs = [_CENTRE_AND_SPREAD[kind](_present(X[:, column])) for column in range(d)]
        centre, spread = np.array(pairs, dtype=np.float64).reshape(d, 2).T
        return cls(kind, centre.copy(), np.where(spread > 0.0, spread, 1.0))

    def apply(self, X: ArrayLike) -> Any:
        """Return scaled rows; float32 stays float32, everything else becomes float64."""
        if self.kind == "none":
            return X
        rows = self._rows(X)
        dtype = np.dtype(np.float32 if rows.dtype == np.float32 else np.float64)
        centre, spread = self.centre.astype(dtype), self.spread.astype(dtype)
        scaled = np.empty(rows.shape, dtype=dtype)
        step = max(1, AT_ONCE // max(rows.shape[1], 1))
        for start in range(0, len(rows), step):  # Ctrl-C is heard between two pieces
            piece = rows[start : start + step].astype(dtype, copy=False)
            np.divide(piece - centre, spread, out=scaled[start : start + step])
        return scaled

    def undo(self, X: ArrayLike) -> Any:
        """Return rows (means, for example) in the units they had before."""
        if self.kind == "none":
            return X
        rows = self._rows(X)
        rows = rows if rows.dtype == np.float32 else rows.astype(np.float64)
        return rows * self.spread + self.centre

    def _rows(self, X: ArrayLike) -> NDArray[Any]:
        rows = np.asarray(X)
        if rows.ndim != 2 or rows.shape[1] != len(self.centre):
            raise ValueError(
                f"expected rows with {len(self.centre)} columns, as when the scaling was made, got "
                f"shape {rows.shape}; choose the same columns"
            )
        return rows

    def __repr__(self) -> str:
        """Return the kind and the number of columns in words."""
        return f"Scaling({self.kind!r}, {len(self.centre)} columns)"


def _present(column: NDArray[Any]) -> Floats:
    """Return the values of a column without gaps, as float64 (one column is a small copy)."""
    values = column.astype(np.float64)
    missing = np.isnan(values)
    return values[~missing] if missing.any() else values


def _mean_and_deviation(values: Floats) -> tuple[float, float]:
    if not len(values):
        return 0.0, 1.0
    if values.min() == values.max():  # rounding in the mean would leave a spread above zero
        return float(values[0]), 0.0
    largest = float(np.abs(values).max())
    if 1e-150 < largest < 1e150:
        return float(values.mean()), float(values.std())
    unit = values / largest  # squares of very large and very small numbers leave float64
    return float(unit.mean() * largest), float(unit.std() * largest)


def _median_and_quartiles(values: Floats) -> tuple[float, float]:
    if not len(values):
        return 0.0, 1.0
    low, middle, high = np.quantile(values, [0.25, 0.5, 0.75])
    return float(middle), float(high - low)


def _smallest_and_range(values: Floats) -> tuple[float, float]:
    if not len(values):
        return 0.0, 1.0
    low, high = float(values.min()), float(values.max())
    if np.isinf(high - low):
        raise ValueError(
            f"expected a range that float64 can hold, got {low:g} to {high:g}; "
            "divide the column by a power of ten first"
        )
    return low, high - low


_CENTRE_AND_SPREAD = {
    "standard": _mean_and_deviation,
    "robust": _median_and_quartiles,
    "min-max": _smallest_and_range,
}
