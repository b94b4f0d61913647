"""Data in memory: blocks are slices of one array, worked on by the threads of one team."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from coterie.kernels import _native
from coterie.kernels.block import Block

P = ParamSpec("P")
Statistic = TypeVar("Statistic")


class MemoryEngine:
    """One block unless `block_rows` says otherwise: the team shares out its rows by itself.

    X : (n, d) float32 or float64, C-ordered, or CSR with sorted indices; not copied.
    weights : (n,) float64, positive, or None.
    align : blocks begin at multiples of it (`block_rows` is rounded up), for steps whose sums are
        the same bits for any blocks only then.
    """

    def __init__(
        self,
        X: Any,
        weights: NDArray[np.float64] | None = None,
        *,
        n_threads: int = 1,
        block_rows: int | None = None,
        align: int = 1,
    ) -> None:
        n = X.shape[0]
        size = n if block_rows is None else -(-block_rows // align) * align
        self.team = _native.Team(n_threads)
        whole = size >= n
        self.blocks = [
            Block.over(
                X if whole else X[first : first + size],
                None if weights is None else weights[first : first + size],
                self.team,
                first,
            )
            for first in range(0, n, max(size, 1))
        ]

    def reduce(
        self, step: Callable[Concatenate[Block, P], Statistic], *model: P.args, **named: P.kwargs
    ) -> Statistic:
        results = [step(block, *model, **named) for block in self.blocks]
        total: Statistic = functools.reduce(operator.add, results)
        return total

    def gather(
        self, step: Callable[Concatenate[Block, P], NDArray[Any]], *model: P.args, **named: P.kwargs
    ) -> NDArray[Any]:
        parts = [step(block, *model, **named) for block in self.blocks]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)
