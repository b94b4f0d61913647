"""Data in memory: blocks are slices of one array, worked on by the threads of one team."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from coterie.engines.protocol import Partial, joined, next_run, own_arguments, total
from coterie.kernels import _native
from coterie.kernels.block import Block

P = ParamSpec("P")
Answer = TypeVar("Answer")


class MemoryEngine:
    """One block unless `block_rows` says otherwise: the team shares out its rows by itself.

    X : (n, d) float32 or float64, C-ordered, or CSR with sorted indices; not copied.
    weights : (n,) float64, positive, or None.
    team : the threads of the fit; None: this thread and ``n_threads - 1`` others.
    align : blocks begin at multiples of it, and `block_rows` is rounded up. The contract asks for
        `LEAF_ROWS`; sums that are exact hold for any cuts.
    """

    def __init__(
        self,
        X: Any,
        weights: NDArray[np.float64] | None = None,
        *,
        team: _native.Team | None = None,
        n_threads: int = 1,
        block_rows: int | None = None,
        align: int = 1,
    ) -> None:
        self.team = _native.Team(n_threads) if team is None else team
        self.blocks = blocks_over(X, weights, self.team, block_rows, align)
        self._n_rows = int(X.shape[0])

    @property
    def n_rows(self) -> int:
        return self._n_rows

    def begin(self) -> int:
        return next_run()

    def end(self, run: int) -> None:
        for block in self.blocks:
            block.forget(run)

    def reduce(
        self, step: Callable[Concatenate[Block, P], Answer], *model: P.args, **named: P.kwargs
    ) -> Answer:
        if len(self.blocks) == 1:  # nothing to add: small fits ask thousands of times
            return step(self.blocks[0], *own_arguments(0, self._n_rows, model), **named)
        return total([_ask(block, step, model, named) for block in self.blocks], self.n_rows)

    def gather(
        self, step: Callable[Concatenate[Block, P], NDArray[Any]], *model: P.args, **named: P.kwargs
    ) -> NDArray[Any]:
        if len(self.blocks) == 1:
            return step(self.blocks[0], *own_arguments(0, self._n_rows, model), **named)
        return joined([_ask(block, step, model, named) for block in self.blocks], self.n_rows)


def _ask(
    block: Block, step: Callable[..., Answer], model: tuple[Any, ...], named: dict[str, Any]
) -> Partial[Answer]:
    own = own_arguments(block.first, block.n_rows, model)
    return Partial.of(block, step(block, *own, **named))


def blocks_over(
    X: Any,
    weights: NDArray[np.float64] | None,
    team: _native.Team,
    block_rows: int | None,
    align: int,
) -> list[Block]:
    """Blocks of `block_rows` rows, rounded up to a multiple of `align`; None: one block."""
    n = X.shape[0]
    size = n if block_rows is None else -(-block_rows // align) * align
    if size >= n:
        return [Block.over(X, weights, team)]
    return [
        Block.over(
            X[first : first + size],
            None if weights is None else weights[first : first + size],
            team,
            first,
        )
        for first in range(0, n, size)
    ]
