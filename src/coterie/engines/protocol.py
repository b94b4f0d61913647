"""The contract between drivers and engines, for data in memory, on disk or on a cluster.

The data are n rows, cut into blocks B_1, ..., B_m of consecutive rows, in the order of the rows.

**Promises of an engine.** Let f be a step, a function of `coterie.kernels`. Let M be its model, the
arguments after the block:

    reduce(f, *M) = f(B_1, *M) + f(B_2, *M) + ... + f(B_m, *M)
    gather(f, *M) = the arrays f(B_1, *M), ..., f(B_m, *M), one after the other

An argument ``by_row(A)`` stands for the rows of A that belong to the block, A[first : first + n].

1. Cover: every row is in exactly one block, and every block is counted exactly once.
2. Alignment: every block begins at a multiple of `LEAF_ROWS` rows. Steps whose sums are exact need
   no alignment; the others check it.
3. Run: ``begin()`` gives a number that no other run of this engine has. After ``end(run)`` nobody
   asks for the caches of that run.

**Demands of an engine.**

1. Purity: f(B, *M) depends on the rows of B, their weights and M alone. So it may be computed
   twice, on any machine, by any number of threads, and one of the answers be thrown away.
2. Sums: ``+`` of answers is associative and commutative to the last bit. So answers may be added
   in any order, in pairs, on the machine where they were made.
3. Caches: ``block.caches[run]`` may be lost at any moment. A cache saves time and never decides
   an answer.
4. Messages: a step is a function of a module; models and answers are arrays, numbers, texts and
   frozen records of these. All of them can be pickled.

An engine that breaks its promise gets the error `BrokenContract`, never a wrong sum.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from coterie.kernels import _native
from coterie.kernels.block import LEAF_ROWS, Block, BrokenContract

__all__ = [
    "LEAF_ROWS",
    "BrokenContract",
    "ByRow",
    "Engine",
    "Partial",
    "by_row",
    "joined",
    "next_run",
    "own_arguments",
    "total",
]

P = ParamSpec("P")
Answer = TypeVar("Answer")

_runs = itertools.count(1)


class Engine(Protocol):
    """Data in blocks. A driver knows neither the number of blocks nor their places."""

    team: _native.Team  # the threads of this process, for the work of a driver between steps

    @property
    def n_rows(self) -> int:
        """n, the number of rows of all blocks together."""
        ...

    def begin(self) -> int:
        """The number of a new run: the key of its caches."""
        ...

    def end(self, run: int) -> None:
        """The caches of that run may go."""
        ...

    def reduce(
        self, step: Callable[Concatenate[Block, P], Answer], *model: P.args, **named: P.kwargs
    ) -> Answer:
        """step(B_1, *model) + ... + step(B_m, *model)"""
        ...

    def gather(
        self, step: Callable[Concatenate[Block, P], NDArray[Any]], *model: P.args, **named: P.kwargs
    ) -> NDArray[Any]:
        """The arrays of all blocks, one after the other in the order of the rows."""
        ...


def next_run() -> int:
    """A number that no run of this process had before."""
    return next(_runs)


@dataclass(frozen=True)
class ByRow:
    """An array with a row for each row of the data; a block gets its own rows of it."""

    values: NDArray[Any]


def by_row(values: NDArray[Any]) -> Any:
    """`values` as an argument of a step; every block gets the rows that belong to it."""
    return ByRow(values)


def own_arguments(first: int, n_rows: int, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments as the block of these rows gets them."""
    if ByRow not in map(type, arguments):
        return arguments
    rows = slice(first, first + n_rows)
    return tuple(a.values[rows] if isinstance(a, ByRow) else a for a in arguments)


@dataclass(frozen=True)
class Partial(Generic[Answer]):
    """The answer of some blocks together, and the rows that it counts."""

    ranges: tuple[tuple[int, int], ...]  # (first row, end), in ascending order, none adjacent
    answer: Answer

    @classmethod
    def of(cls, block: Block, answer: Answer) -> Partial[Answer]:
        return cls(((block.first, block.first + block.n_rows),), answer)

    def __add__(self, other: Partial[Answer]) -> Partial[Answer]:
        ranges = _united(self.ranges + other.ranges)
        both: Any = self.answer + other.answer  # type: ignore[operator]
        return Partial(ranges, both)


def _united(ranges: tuple[tuple[int, int], ...]) -> tuple[tuple[int, int], ...]:
    """Ranges of rows in ascending order, adjacent ones as one; none may overlap."""
    united: list[tuple[int, int]] = []
    for first, end in sorted(ranges):
        if united and first < united[-1][1]:
            raise BrokenContract(
                f"rows {first} to {min(end, united[-1][1]) - 1} were counted twice: an engine must "
                "count the answer of every block once"
            )
        if united and first == united[-1][1]:
            united[-1] = (united[-1][0], end)
        else:
            united.append((first, end))
    return tuple(united)


def total(partials: Iterable[Partial[Answer]], n_rows: int) -> Answer:
    """The sum of all answers; `BrokenContract` unless they count each of the n rows once."""
    parts = list(partials)
    whole = parts[0]
    for part in parts[1:]:
        whole = whole + part
    _must_cover(whole.ranges, n_rows)
    return whole.answer


def joined(partials: Iterable[Partial[NDArray[Any]]], n_rows: int) -> NDArray[Any]:
    """The arrays of all blocks in the order of their rows; `BrokenContract` if a row is absent."""
    parts = sorted(partials, key=lambda part: part.ranges)
    _must_cover(_united(tuple(r for part in parts for r in part.ranges)), n_rows)
    if len(parts) == 1:
        return parts[0].answer
    return np.concatenate([part.answer for part in parts])


def _must_cover(ranges: tuple[tuple[int, int], ...], n_rows: int) -> None:
    if ranges != ((0, n_rows),):
        counted = ", ".join(f"{first} to {end - 1}" for first, end in ranges)
        raise BrokenContract(
            f"the answer counts rows {counted} and should count rows 0 to {n_rows - 1}: an engine "
            "must ask every block"
        )
