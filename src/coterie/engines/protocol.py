"""What a driver may ask of an engine, whatever holds the data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from numpy.typing import NDArray

from coterie.kernels import _native
from coterie.kernels.block import Block

P = ParamSpec("P")
Statistic = TypeVar("Statistic")


class Engine(Protocol):
    """Data in blocks, each a run of consecutive rows.

    Steps are the functions of `coterie.kernels.steps`: pure in (block, model), with results that
    can be added in any order. So a driver neither knows nor cares how many blocks there are,
    where they live, or which of them answered first.
    """

    team: _native.Team  # the threads of this process, for what a driver does between steps

    def reduce(
        self, step: Callable[Concatenate[Block, P], Statistic], *model: P.args, **named: P.kwargs
    ) -> Statistic:
        """step(block 1, *model) + step(block 2, *model) + ..."""
        ...

    def gather(
        self, step: Callable[Concatenate[Block, P], NDArray[Any]], *model: P.args, **named: P.kwargs
    ) -> NDArray[Any]:
        """The arrays of all blocks, one after the other in the order of the rows."""
        ...
