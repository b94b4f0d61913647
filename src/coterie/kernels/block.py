"""A block: consecutive rows of the data, and the caches of the kernels between calls."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.kernels import _native

LEAF_ROWS = 1 << 16
"""Engines cut the data at multiples of it. Sums that round are taken leaf by leaf, so that their
bits do not depend on the cuts."""

OF_THE_ROWS = 0  # the run number of caches that hold for every model


class BrokenContract(Exception):
    """Blocks or answers that an engine may not give: see `coterie.engines.protocol`."""


@dataclass
class Block:
    """Rows ``first .. first + n_rows`` of the data.

    ``caches`` holds labels, bounds and distances under the number of their run. All of it can be
    rebuilt from the rows and the model: a block that lost its caches gives the same answers later.
    """

    data: Any  # the rows as they were given: an array, or a CSR matrix
    rows: _native.Block
    team: _native.Team
    first: int
    weights: NDArray[np.float64] | None
    caches: dict[int, dict[str, Any]] = field(default_factory=dict)

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
            return cls(X, _native.Block(X, weights, team), team, first, weights)
        rows = _native.Block(
            X.data,
            X.indices.astype(np.int32, copy=False),
            X.indptr.astype(np.int64, copy=False),
            X.shape[1],
            weights,
            team,
        )
        return cls(X, rows, team, first, weights)

    @property
    def n_rows(self) -> int:
        return self.rows.n_rows

    def cache(self, run: int | None) -> dict[str, Any]:
        """The cache of a run in this block; a new and empty one where `run` is None."""
        return {} if run is None else self.caches.setdefault(run, {})

    def forget(self, run: int) -> None:
        """Drop the cache of a run that has ended."""
        self.caches.pop(run, None)

    def part(self, rows: slice) -> Block:
        """Some consecutive rows of the block, as a block without caches."""
        if rows.start == 0 and rows.stop == self.n_rows:
            return Block(self.data, self.rows, self.team, self.first, self.weights)
        weights = None if self.weights is None else self.weights[rows]
        return Block.over(self.data[rows], weights, self.team, self.first + rows.start)

    def leaves(self) -> Iterator[tuple[int, slice]]:
        """The number of each leaf in the whole data, and its rows in this block."""
        self.must_begin_at_a_multiple_of(LEAF_ROWS)
        for begin in range(0, self.n_rows, LEAF_ROWS):
            number = (self.first + begin) // LEAF_ROWS
            yield number, slice(begin, min(self.n_rows, begin + LEAF_ROWS))

    def must_begin_at_a_multiple_of(self, rows: int) -> None:
        """Refuse a block that would share a leaf of a sum with the block before it."""
        if self.first % rows:
            raise BrokenContract(
                f"a block begins at row {self.first}, and this step needs blocks that begin at "
                f"multiples of {rows} rows: an engine must cut the data there"
            )
