"""An engine that uses every freedom of the contract in `coterie.engines.protocol`.

A driver with the same bits here has them on a disk, on a cluster, and after a worker was lost.
"""

from __future__ import annotations

import itertools
import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.engines.protocol import Partial, joined, next_run, own_arguments, total
from coterie.engines.select import engines_made_by
from coterie.kernels import _native, block, mixture_missing_steps
from coterie.kernels.block import Block


class HostileEngine:
    """An engine with random blocks, in random order, over pickled questions and answers.

    It asks blocks twice, and forgets caches of any run at any time.

    align : blocks begin at multiples of it.
    """

    def __init__(
        self,
        X: Any,
        weights: NDArray[np.float64] | None = None,
        *,
        seed: int = 0,
        align: int = 1,
        team: _native.Team | None = None,
    ) -> None:
        self.random = np.random.default_rng(seed)
        self.team = _native.Team(1) if team is None else team
        self._n_rows = int(X.shape[0])
        self.blocks = [
            Block.over(
                X[first:end],
                None if weights is None else weights[first:end].copy(),
                _native.Team(int(self.random.integers(1, 4))),
                first,
            )
            for first, end in self._ranges(align)
        ]
        self.asked = 0

    def _ranges(self, align: int) -> list[tuple[int, int]]:
        """Random cuts at multiples of `align`, at most eight."""
        places = np.arange(align, self._n_rows, align)
        count = min(len(places), int(self.random.integers(1, 9)))
        cuts = np.sort(self.random.choice(places, count, replace=False)) if count else places
        edges = [0, *cuts.tolist(), self._n_rows]
        return list(itertools.pairwise(edges))

    @property
    def n_rows(self) -> int:
        return self._n_rows

    def begin(self) -> int:
        return next_run()

    def end(self, run: int) -> None:
        for each in self.blocks:
            each.forget(run)

    def reduce(self, step: Any, *model: Any, **named: Any) -> Any:
        return total(self._added(self._answers(step, model, named)), self.n_rows)

    def gather(self, step: Any, *model: Any, **named: Any) -> Any:
        return joined(self._answers(step, model, named), self.n_rows)

    def _answers(self, step: Any, model: Any, named: Any) -> list[Partial[Any]]:
        """The answers of all blocks, in random order."""
        found = []
        for place in self.random.permutation(len(self.blocks)):
            each = self.blocks[place]
            own = own_arguments(each.first, each.n_rows, model)
            message = pickle.dumps((step, own, named))
            for _ in range(2 if self.random.random() < 0.2 else 1):
                self._forget(each)
                asked, arguments, words = pickle.loads(message)
                answer = Partial.of(each, asked(each, *arguments, **words))
                answer = pickle.loads(pickle.dumps(answer))
                self.asked += 1
            found.append(answer)
        return found

    def _forget(self, each: Block) -> None:
        """Lose one cache, or all, or none."""
        luck = self.random.random()
        if luck < 0.2:
            each.caches.clear()
        elif luck < 0.4 and each.caches:
            each.caches.pop(int(self.random.choice(list(each.caches))))

    def _added(self, answers: list[Partial[Any]]) -> list[Partial[Any]]:
        """Some of the answers added in pairs, as a tree of workers would."""
        answers = list(answers)
        while len(answers) > 1 and self.random.random() < 0.7:
            a, b = self.random.choice(len(answers), 2, replace=False)
            pair = answers[a] + answers[b]
            answers = [x for i, x in enumerate(answers) if i not in (a, b)]
            answers.insert(int(self.random.integers(len(answers) + 1)), pair)
        return answers


@contextmanager
def hostile_engines(seed: int, align: int = 1) -> Iterator[list[HostileEngine]]:
    """Run estimators on hostile engines; the list holds the engines that were made."""
    made: list[HostileEngine] = []

    def maker(X: Any, weights: Any, team: _native.Team) -> HostileEngine:
        made.append(HostileEngine(X, weights, seed=seed + len(made), align=align, team=team))
        return made[-1]

    with engines_made_by(maker):
        yield made


@contextmanager
def leaves_of(rows: int) -> Iterator[None]:
    """Give leaves of rounded sums so many rows, so that small data have many leaves."""
    modules: list[Any] = [block, mixture_missing_steps]
    before = block.LEAF_ROWS
    for module in modules:
        module.LEAF_ROWS = rows
    try:
        yield
    finally:
        for module in modules:
            module.LEAF_ROWS = before
