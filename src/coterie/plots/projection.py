"""Views of rows in the plane: two columns, or two principal components of more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from coterie.arrays import Floats
from coterie.formatting import share


@dataclass(frozen=True, eq=False)
class Projection:
    """A flat view of rows: (x - origin) @ axes."""

    origin: Floats  # (d,)
    axes: Floats  # (d, 2)
    names: tuple[str, str]
    exact: bool  # the view loses nothing, so that regions can be drawn

    @classmethod
    def of(
        cls, X: Any, columns: Sequence[int] | None = None, names: Sequence[str] | None = None
    ) -> Projection:
        """Return a view of the given columns, else of both columns of two, else of principal ones.

        A single column is drawn along a line.
        """
        d = X.shape[1]
        known = [f"column {i}" for i in range(d)] if names is None else list(map(str, names))
        if columns is not None:
            places = _checked(columns, d)
        elif d <= 2:
            places = list(range(d))
        else:
            return cls._principal(X)
        axes = np.zeros((d, 2))
        for side, place in enumerate(places):
            axes[place, side] = 1.0
        labels = (known[places[0]], known[places[1]] if len(places) > 1 else "")
        return cls(np.zeros(d), axes, labels, exact=d <= 2 and columns is None)

    @classmethod
    def _principal(cls, X: Any, rows: int = 20_000) -> Projection:
        """Return a view along the two directions of largest variance in evenly chosen rows."""
        some = X[:: max(1, X.shape[0] // rows)]
        if sparse.issparse(some):
            some = some[:2000].toarray()
        values = np.asarray(some, dtype=np.float64)
        origin = values.mean(axis=0)
        values = values - origin
        unit = np.abs(values).max(initial=0.0) or 1.0
        _, sizes, directions = np.linalg.svd(values / unit, full_matrices=False)
        axes = np.zeros((values.shape[1], 2))
        axes[:, : len(directions[:2])] = directions[:2].T
        axes *= np.where(axes[np.abs(axes).argmax(axis=0), [0, 1]] < 0, -1.0, 1.0)
        parts = [*(sizes**2 / max(float((sizes**2).sum()), 1e-300)).tolist(), 0.0, 0.0]
        first, second = (
            f"principal component {i + 1} ({share(parts[i])} of the variance)" for i in (0, 1)
        )
        return cls(origin, axes, (first, second), exact=False)

    def points(self, X: Any) -> Floats:
        """(n, 2)"""
        if sparse.issparse(X):
            return np.asarray(X @ self.axes) - self.origin @ self.axes
        if not self.origin.any():  # columns as they are, to the last digit
            return _times(np.asarray(X, dtype=np.float64), self.axes)
        return _times(np.asarray(X, dtype=np.float64) - self.origin, self.axes)

    def covariances(self, mixture: Any, of: Floats) -> Floats:
        """Return covariances in this view, (k, 2, 2), of a mixture's family."""
        found: Floats = mixture._family.projected(
            np.asarray(of, dtype=np.float64), len(mixture.means_), self.axes
        )
        return found

    def lifted(self, points: Floats) -> Floats:
        """Return rows, (n, d), of points of an exact view, (n, 2)."""
        return self.origin + points @ self.axes.T


def _times(rows: Floats, axes: Floats) -> Floats:
    flat: Floats = rows @ axes
    return flat


def _checked(columns: Sequence[int], d: int) -> list[int]:
    places = [int(column) for column in columns]
    if len(places) not in (1, 2) or not all(0 <= place < d for place in places):
        raise ValueError(
            f"expected one or two columns from 0 to {d - 1}, got {list(columns)}; "
            "leave columns out to see principal components"
        )
    return places
