"""A block: rows of one array, and what the kernels remember about them between calls."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.kernels import _native


@dataclass
class Block:
    """Rows ``first .. first + n_rows`` of the data.

    ``cache`` holds labels, bounds and distances. All of it can be rebuilt from the rows and the
    model: a block that lost its cache gives the same answers, only later.
    """

    rows: _native.Block
    team: _native.Team
    first: int
    weights: NDArray[np.float64] | None
    cache: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def over(
        cls,
        X: Any,
        weights: NDArray[np.float64] | None,
        team: _native.Team,
        first: int = 0,
    ) -> Block:
        """A block over a C-ordered float32 or float64 array, or a CSR matrix of either."""
        if isinstance(X, np.ndarray):
            return cls(_native.Block(X, weights, team), team, first, weights)
        rows = _native.Block(
            X.data,
            X.indices.astype(np.int32, copy=False),
            X.indptr.astype(np.int64, copy=False),
            X.shape[1],
            weights,
            team,
        )
        return cls(rows, team, first, weights)

    @property
    def n_rows(self) -> int:
        return self.rows.n_rows
