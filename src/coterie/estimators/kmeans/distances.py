"""Labels and distances of any rows, near or far, for fixed means.

The answer for a row depends on that row and the means alone, never on the rows beside it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from coterie.arrays import Floats
from coterie.engines.protocol import Engine
from coterie.engines.select import engine_over
from coterie.estimators.units import FAR, LARGEST_SPREAD, Reach, scaled_rows, times_power
from coterie.kernels import kmeans_steps
from coterie.kernels.scan_steps import Extent

Question = Literal["nearest", "squared distances"]

ROWS_AT_ONCE = 1 << 20  # values, about: the working memory of one step


@dataclass(frozen=True)
class Comparison:
    """Rows and means, compared in units of a power of two."""

    X: Any
    engine: Engine  # over X
    extent: Extent  # of X
    means: Floats  # (k, d)
    exponent: int  # rows and means are multiplied by 2**exponent

    def nearest(self) -> NDArray[np.int32]:
        """The nearest mean of each row, (n,): the lowest index among equals."""
        return self._answer("nearest")[0]

    def distances(self) -> Floats:
        """Euclidean distances, (n, k); infinite if they are too large for float64."""
        squares, exponents = self._answer("squared distances")
        roots: Floats = np.sqrt(squares, out=squares)
        if not np.any(exponents):
            return roots
        with np.errstate(over="ignore", under="ignore"):
            return np.ldexp(roots, -exponents)

    def _answer(self, question: Question) -> tuple[NDArray[Any], NDArray[np.int32]]:
        """Return an answer for each row, and the exponents of the units in which it was found."""
        usual = np.int32(self.exponent)
        if not self._may_be_far():
            return self._ask(question, self.X, self.exponent), np.array(usual)
        far = self._far()
        if far.all():
            return self._ask(question, self.X, FAR), np.array(np.int32(FAR))
        near_part = self._ask(question, self.X[~far], self.exponent)
        whole = np.empty((len(far), *near_part.shape[1:]), dtype=near_part.dtype)
        whole[~far] = near_part
        if far.any():
            whole[far] = self._ask(question, self.X[far], FAR)
        return whole, np.where(far, np.int32(FAR), usual)[:, np.newaxis]

    def _ask(self, question: Question, X: Any, exponent: int) -> NDArray[Any]:
        same = X is self.X and exponent == 0
        engine = self.engine
        if not same:
            engine = engine_over(scaled_rows(X, exponent), team=self.engine.team)
        means = np.ascontiguousarray(times_power(self.means, exponent), dtype=np.float64)
        if question == "nearest":
            return engine.gather(kmeans_steps.nearest, means, self.extent if same else None)
        return engine.gather(kmeans_steps.squared_distances, means)

    def _may_be_far(self) -> bool:
        """Return whether squared distances of some row may be too large in these units."""
        return bool(self._too_wide(self.extent.low, self.extent.high).any())

    def _far(self) -> NDArray[np.bool_]:
        """Return the same for each row, (n,)."""
        far = np.zeros(self.X.shape[0], dtype=bool)
        step = max(1, ROWS_AT_ONCE // self.X.shape[1])
        for first in range(0, len(far), step):
            rows = self.X[first : first + step]
            rows = rows.toarray() if sparse.issparse(rows) else rows
            far[first : first + step] = self._too_wide(rows, rows).any(axis=1)
        return far

    def _too_wide(self, low: Floats, high: Floats) -> NDArray[np.bool_]:
        means = Reach.of_means(self.means)
        halves = np.maximum(
            0.5 * high.astype(np.float64) - 0.5 * means.low,
            0.5 * means.high - 0.5 * low.astype(np.float64),
        )
        wide: NDArray[np.bool_] = np.frexp(halves)[1] + 1 + self.exponent > LARGEST_SPREAD
        return wide
