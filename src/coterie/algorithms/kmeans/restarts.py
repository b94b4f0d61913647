"""Several runs of k-means from different initial means; the smallest error wins."""

from __future__ import annotations

from collections.abc import Callable

from coterie.algorithms.kmeans.lloyd import Observer, Rules, lloyd
from coterie.algorithms.kmeans.records import Run, RunRecord
from coterie.algorithms.restarts import Restarts, best_of
from coterie.arrays import Floats
from coterie.engines.protocol import Engine
from coterie.kernels.scan_steps import Survey

Start = Callable[[int], Floats]  # seed of a run -> its initial means
Watch = Callable[[int], Observer | None]  # number of a run -> its observer


def restarts(
    engine: Engine,
    survey: Survey,
    start: Start,
    rules: Rules,
    *,
    n_init: int,
    seed: int,
    watch: Watch | None = None,
) -> Restarts[Run, RunRecord]:
    """Run k-means `n_init` times and keep the smallest error."""

    def make(number: int, own_seed: int) -> Run:
        observe = None if watch is None else watch(number)
        return lloyd(engine, survey, start(own_seed), rules, observe)

    return best_of(n_init, seed, rules, make, lambda run: run.inertia, RunRecord.of)
