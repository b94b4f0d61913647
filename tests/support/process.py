"""Helpers of the tests of processes: forks, interrupts, threads, open files and memory."""

from __future__ import annotations

import gc
import os
import signal
import threading
import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from support.estimators import assert_same_state, state

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
needs_proc = pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="needs /proc")


def holds_in_a_fork(check: Callable[[], Any]) -> bool:
    """True if a child of this process ends, and finds the check to be true."""
    child = os.fork()
    if child == 0:
        try:
            os._exit(0 if check() else 1)
        finally:
            os._exit(2)
    deadline = time.monotonic() + 60
    while (done := os.waitpid(child, os.WNOHANG)) == (0, 0):
        if time.monotonic() > deadline:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            pytest.fail("the child hangs")
        time.sleep(0.01)
    return done[1] == 0


class Interrupt:
    """SIGINT to this process, from another thread, soon after the fit has called back.

    `with Interrupt() as callback` gives the callback for the fit. A signal that comes while Python
    collects what is no longer needed is dropped by Python, so one that has no effect is repeated.
    """

    def __init__(self, after: float = 0.05) -> None:
        self.after = after
        self.begun = threading.Event()
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self._send)

    def _send(self) -> None:
        self.begun.wait(120)
        wait = self.after
        while not self.ended.wait(wait):
            os.kill(os.getpid(), signal.SIGINT)
            wait = 10

    def __enter__(self) -> Callable[[Any], None]:
        self.thread.start()
        return lambda event: self.begun.set()

    def __exit__(self, *error: object) -> None:
        self.ended.set()
        self.begun.set()
        self.thread.join()


def interrupted(model: Any, X: Any, after: float = 0.05) -> dict[str, Any]:
    """Break off a fit that would take very long; the estimator must be as it was, which is
    returned."""
    before = state(model)
    with Interrupt(after) as callback:
        model.callback = before["callback"] = callback
        with pytest.raises(KeyboardInterrupt):
            model.fit(X)
    assert_same_state(before, vars(model))
    return before


def surroundings() -> dict[str, Any]:
    """The state of the process that a fit must not change."""
    numpy_state = np.random.get_state()  # noqa: NPY002
    return {
        "errstate": np.geterr(),
        "environment": dict(os.environ),
        "signals": {s: signal.getsignal(s) for s in (signal.SIGINT, signal.SIGTERM)},
        "random": (numpy_state[0], numpy_state[1].tobytes(), *numpy_state[2:]),
        "affinity": os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else None,
        "pools": threadpool_info(),
        "threads": threading.active_count(),
        "warnings": list(__import__("warnings").filters),
        "directory": os.getcwd(),
    }


def resources() -> tuple[int, int, int]:
    """(threads, open files, kilobytes) of this process.

    The fewest threads of some looks: the system counts one a moment longer than it takes to join.
    """
    threads = []
    for _ in range(5):
        time.sleep(0.005)
        threads.append(int(_status()["Threads"]))
    files = len(os.listdir("/proc/self/fd"))
    return min(threads), files, int(_status()["VmRSS"].split()[0])


def kept_by(work: Callable[[], object]) -> float:
    """Kilobytes the process keeps each time; threads and open files may not change at all.

    The least of three times: the allocator's own variation does not come every time, a leak does.
    """
    held = []
    for _ in range(4):
        work()
        gc.collect()
        held.append(resources())
    assert {now[:2] for now in held} == {held[0][:2]}
    return min(after[2] - before[2] for before, after in pairwise(held))


def peak_growth(work: Callable[[], object]) -> int:
    """Kilobytes at the peak of `work` beyond the memory of the process before."""
    try:
        with open("/proc/self/clear_refs", "w") as marks:
            marks.write("5")  # the peak starts anew
    except OSError:
        pytest.skip("needs /proc/self/clear_refs")
    before = resources()[2]
    work()
    return int(_status()["VmHWM"].split()[0]) - before


def _status() -> dict[str, str]:
    with open("/proc/self/status") as lines:
        return dict(line.split(":", 1) for line in lines)
