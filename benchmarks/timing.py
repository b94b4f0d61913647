"""Timing: contenders take turns, with the same number of threads, and the load is noted."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Generic, TypeVar

from threadpoolctl import threadpool_limits

from benchmarks import machine

T = TypeVar("T")
REST = 0.05  # seconds between runs: OpenMP workers spin for some milliseconds after their last job


@dataclass
class Series(Generic[T]):
    """The repeated runs of one contender, and the answer of its first one."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    load: list[float] = field(default_factory=list)
    answer: T | None = None
    failure: str = ""

    @property
    def best(self) -> float:
        """Shortest wall time: the run that the rest of the machine disturbed least."""
        return min(self.wall)

    @property
    def median(self) -> float:
        """Median wall time: that of a user."""
        return statistics.median(self.wall)

    @property
    def cores_used(self) -> float:
        """CPU seconds per wall second: shows if a limit on threads was obeyed."""
        return sum(self.cpu) / sum(self.wall)

    def record(self) -> dict[str, object]:
        """The record for the JSON."""
        if self.failure:
            return {"failure": self.failure}
        return {
            "best": round(self.best, 6),
            "median": round(self.median, 6),
            "wall": [round(value, 6) for value in self.wall],
            "cpu": [round(value, 6) for value in self.cpu],
            "cores_used": round(self.cores_used, 2),
            "load": self.load,
        }


def run_once(
    call: Callable[[], T], series: Series[T], after: Callable[[T], None] | None = None
) -> None:
    """Time one call into the series, then check it untimed; a failure is noted, not raised."""
    gc.collect()
    time.sleep(REST)
    load = machine.load()[0]
    wall, cpu = time.perf_counter(), time.process_time()
    try:
        answer = call()
    except Exception as error:  # a peer's failure is a result too
        series.failure = f"{type(error).__name__}: {error}"
        return
    series.wall.append(time.perf_counter() - wall)
    series.cpu.append(time.process_time() - cpu)
    series.load.append(load)
    if series.answer is None:
        series.answer = answer
    if after:
        after(answer)


def take_turns(
    calls: Mapping[str, Callable[[], T]],
    repeat: int,
    patience: float = float("inf"),
    always: str = "coterie",
    after: Callable[[str, T], None] | None = None,
    least: float = 0.0,
) -> dict[str, Series[T]]:
    """Run all calls `repeat` times, in rounds, so that a noisy minute hits all of them.

    The first round runs in the given order, later ones start one further each time. A call that
    was more than `patience` times slower than the fastest peer is not repeated: it cannot be the
    peer of the ratio. `always` is repeated in any case. In a round a call is run again until
    it has had `least` seconds: one that takes a tenth of a second would else be judged by a moment,
    where a long one is judged by minutes. `after` sees every answer of every round, outside the
    clock: a first round alone could hide a fault of the second.
    """
    names = list(calls)
    series: dict[str, Series[T]] = {name: Series() for name in names}
    for turn in range(repeat):
        start = turn % len(names)
        for name in names[start:] + names[:start]:
            if turn > 0 and not _worthwhile(name, series, patience, always):
                continue
            one, again = series[name], True
            until = sum(one.wall) + least
            while again:
                run_once(calls[name], one, partial(after, name) if after else None)
                again = sum(one.wall) < until and not one.failure
    return series


def _worthwhile(name: str, series: Mapping[str, Series[T]], patience: float, always: str) -> bool:
    if series[name].failure:
        return False
    peers = [one.best for other, one in series.items() if other != always and one.wall]
    return name == always or series[name].best <= patience * min(peers)


@contextmanager
def limited(threads: int) -> Iterator[None]:
    """Hold every BLAS and OpenMP library that is loaded by now to this many threads."""
    with threadpool_limits(limits=threads):
        yield
