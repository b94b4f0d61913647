"""Distances by a user's own function: asked for pair by pair, and checked before use."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.algorithms.dbscan.supplied_neighbours import Rows


def asked_pairs(
    Y: NDArray[Any], eps: float, metric: Callable[..., Any], parameters: dict[str, Any], other: str
) -> Callable[[Any, Rows], NDArray[np.bool_]]:
    """near(X, rows) -> (len(rows), m): true where ``metric(x, y)`` is at most eps, for these rows
    of X and all rows of Y. other : the name of a row of Y in messages."""

    def near(X: Any, rows: Rows) -> NDArray[np.bool_]:
        flags = np.empty((len(rows), len(Y)), dtype=bool)
        for place, i in enumerate(rows):
            x = X[i]
            flags[place] = [
                _distance(metric(x, y, **parameters), i, j, other) <= eps for j, y in enumerate(Y)
            ]
        return flags

    return near


def _distance(value: Any, i: int, j: int, other: str) -> float:
    """The value as a number. A number that is no distance would make every point noise."""
    number = np.nan
    if not isinstance(value, str | bytes | np.timedelta64):
        with contextlib.suppress(TypeError, ValueError):
            number = float(value.item() if isinstance(value, np.ndarray) else value)
    if not number >= 0:
        raise ValueError(
            f"metric(x, y) gave {value!r} for row {i} of X and {other} {j}: expected a distance, a "
            "number that is zero or more. Let the function give np.inf for rows that are far "
            "apart, or drop the rows that it cannot compare."
        )
    return number
