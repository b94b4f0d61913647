"""The one place where engines are made: estimators and drivers ask here for theirs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from numpy.typing import NDArray

from coterie.engines.memory import MemoryEngine
from coterie.engines.protocol import Engine
from coterie.kernels import _native

Maker = Callable[[Any, "NDArray[Any] | None", _native.Team], Engine]


def _in_memory(X: Any, weights: NDArray[Any] | None, team: _native.Team) -> Engine:
    return MemoryEngine(X, weights, team=team)


_maker: ContextVar[Maker] = ContextVar("coterie_engine_maker", default=_in_memory)


def engine_over(
    X: Any, weights: NDArray[Any] | None = None, *, team: _native.Team | None = None
) -> Engine:
    """The engine for these rows.

    X : (n, d) float32 or float64, C-ordered, or CSR; weights : (n,) positive, or None.
    team : the threads of the fit; None: this thread alone.
    """
    return _maker.get()(X, weights, _native.Team(1) if team is None else team)


@contextmanager
def engines_made_by(maker: Maker) -> Iterator[None]:
    """Let `engine_over` give the engines that ``maker(X, weights, team)`` makes, in the context."""
    token = _maker.set(maker)
    try:
        yield
    finally:
        _maker.reset(token)
