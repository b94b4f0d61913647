"""Data in memory: threads, blocks and levels give the same bits, and an interrupt does no harm."""

from __future__ import annotations

import itertools
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.kmeans_cases import (
    FORMATS,
    LEVELS,
    THREADS,
    Case,
    assert_same,
    cases,
    definition,
    fit,
    level,
    make_case,
    thorough,
)

from coterie.algorithms.kmeans.lloyd import Rules, lloyd
from coterie.algorithms.kmeans.survey import survey
from coterie.engines.memory import MemoryEngine
from coterie.kernels import _native, kmeans_steps, reference

BLOCKS = (1, 7, 512, None)
ALGORITHMS = ("auto", "brute", "bounds")


@given(cases(max_n=40), st.sampled_from(THREADS), st.sampled_from(BLOCKS))
@thorough(400)
def test_small_cases_are_those_of_the_definition(case, n_threads, block_rows):
    run = fit(case, n_threads=n_threads, block_rows=block_rows)
    assert_same(run, definition(case))


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize(("d", "k"), [(2, 40), (12, 40)])
def test_threads_blocks_levels_and_algorithms_give_the_same_bits(form, d, k):
    rng = np.random.default_rng(d)
    # Means leave the data far behind at first: the scaling of float32 values has to follow.
    case = make_case(rng, 701, d, k, "blobs", form, "float", means="far")
    expected = definition(case)
    settings = itertools.product(THREADS, (7, 512, None), LEVELS, ALGORITHMS)
    for turn, (n_threads, block_rows, simd, algorithm) in enumerate(settings):
        if block_rows == 7 and turn % 5:
            continue  # a hundred blocks are slow: a fifth of these will do
        with level(simd):
            run = fit(case, Rules(algorithm=algorithm), n_threads=n_threads, block_rows=block_rows)
        assert_same(run, expected)


@pytest.mark.parametrize("form", ["float64", "csr32"])
def test_blocks_of_one_row(form):
    case = make_case(np.random.default_rng(1), 60, 3, 5, "lattice", form, "whole")
    assert_same(fit(case, block_rows=1, n_threads=2), definition(case))


@pytest.mark.parametrize(("n", "d", "k"), [(30_011, 2, 40), (30_011, 3, 5), (20_011, 12, 30)])
def test_many_chunks_on_many_threads(n, d, k):
    # Large enough that every thread gets several chunks.
    case = make_case(np.random.default_rng(n), n, d, k, "blobs")
    rules = Rules(max_iter=8)
    alone = fit(case, rules)
    np.testing.assert_array_equal(alone.labels, reference.nearest(case.X, alone.means))
    for n_threads in THREADS[1:]:
        assert_same(fit(case, rules, n_threads=n_threads), alone)
    assert_same(fit(case, Rules(max_iter=8, algorithm="brute"), n_threads=2), alone)


def test_sixteen_callers_at_once():
    case = make_case(np.random.default_rng(3), 3000, 4, 30, "blobs")
    expected = fit(case)
    with ThreadPoolExecutor(16) as pool:
        for run in pool.map(lambda _: fit(case, n_threads=2), range(16)):
            assert_same(run, expected)


@pytest.mark.parametrize("again", ["the same step", "an older one"])
def test_a_step_taken_twice_counts_the_same(again):
    case = make_case(np.random.default_rng(5), 300, 3, 8, "blobs")
    engine = MemoryEngine(case.X)
    known, run = survey(engine), engine.begin()
    first, second = case.means, case.means + 0.5
    step = (kmeans_steps.assign, known, second, run, "auto", first)
    engine.reduce(kmeans_steps.assign, known, first, run, "auto")
    once = engine.reduce(*step)
    if again == "an older one":
        engine.reduce(kmeans_steps.assign, known, first + 3.0, run, "auto", second)
    twice = engine.reduce(*step)
    assert once.moved == twice.moved > 0
    np.testing.assert_array_equal(once.sums.sums, twice.sums.sums)


STATUS = Path("/proc/self/status")


COUNT_THREADS = """
import time
from pathlib import Path
import numpy as np
from coterie.engines.memory import MemoryEngine

def native_threads():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Threads"))

before = native_threads()
engine = MemoryEngine(np.zeros((10, 2)), n_threads=5)
assert native_threads() == before + 4
del engine
# The system may count a thread a moment longer than it takes to join it.
deadline = time.monotonic() + 30
while native_threads() > before and time.monotonic() < deadline:
    time.sleep(0.001)
assert native_threads() == before
"""


@pytest.mark.skipif(not STATUS.exists(), reason="the system does not tell how many threads run")
def test_the_threads_of_a_fit_end_with_it():
    """A process of its own: in that of the tests, threads of other tests may be about to end."""
    subprocess.run([sys.executable, "-c", COUNT_THREADS], check=True, timeout=120)


@pytest.fixture(scope="module")
def large():
    rng = np.random.default_rng(0)
    X = rng.random((1_000_000, 2), dtype=np.float32)
    return Case(X, X[:64].astype(np.float64))


@contextmanager
def interrupt_after(seconds):
    """A signal strikes while the block runs, or else at its end."""

    def strike():
        time.sleep(seconds)
        signal.raise_signal(signal.SIGINT)

    thread = threading.Thread(target=strike)
    thread.start()
    try:
        yield
    finally:
        thread.join()


def assert_nearest(run, case):
    """Labels of a sample of the rows, by the definition."""
    sample = np.random.default_rng(1).integers(len(case.X), size=20_000)
    expected = reference.nearest(case.X[sample].astype(np.float64), run.means)
    np.testing.assert_array_equal(run.labels[sample], expected)


@pytest.mark.parametrize("n_threads", [1, 3])
@pytest.mark.parametrize("delay", [0.02, 0.1, 0.2])
def test_an_interrupt_leaves_the_engine_usable(large, n_threads, delay):
    engine = MemoryEngine(large.X, n_threads=n_threads)
    known = survey(engine)
    runs = []
    with pytest.raises(KeyboardInterrupt), interrupt_after(delay):
        runs.append(lloyd(engine, known, large.means, Rules(algorithm="brute")))  # takes seconds
    assert not runs
    run = lloyd(engine, known, large.means, Rules(max_iter=3))
    assert_same(run, fit(large, Rules(max_iter=3)))
    assert_nearest(run, large)


def test_an_interrupt_may_keep_what_there_is(large):
    engine = MemoryEngine(large.X)
    known = survey(engine)
    seen = []

    def observe(iteration, record, means):
        seen.append(means)
        if iteration == 1:
            threading.Timer(0.1, signal.raise_signal, [signal.SIGINT]).start()
        return False

    rules = Rules(keep_on_interrupt=True, algorithm="brute")
    run = lloyd(engine, known, large.means, rules, observe)
    assert run.stopped == "interrupted"
    assert not run.converged
    assert np.array_equal(run.means, seen[-1])
    assert_nearest(run, large)


def test_team_sizes():
    assert _native.Team(3).size == 3
    assert _native.Team(0).size == 1
