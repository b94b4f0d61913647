"""A good guest in the process: forks, signals, failures, memory, and nothing left behind."""

from __future__ import annotations

import gc
import os
import signal
import threading
import time

import numpy as np
import pytest

from coterie import DBSCAN

from .helpers import assert_same_state, state
from .test_process import peak_growth, resources, surroundings


@pytest.fixture(scope="module")
def large():
    return np.random.default_rng(0).random((20_000, 3))


def fit(X, **parameters):
    return DBSCAN(eps=0.03, n_jobs=2, **parameters).fit(X)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_fork_after_fit(large):
    model = fit(large)
    child = os.fork()
    if child == 0:
        same = np.array_equal(model.predict(large), model.labels_)
        same = same and np.array_equal(fit(large).labels_, model.labels_)
        os._exit(0 if same else 1)
    deadline = time.monotonic() + 60
    while (done := os.waitpid(child, os.WNOHANG)) == (0, 0):
        if time.monotonic() > deadline:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            pytest.fail("the child hangs")
        time.sleep(0.01)
    assert done[1] == 0


class Interrupt:
    """SIGINT to this process, from another thread, soon after the fit has looked at its input."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self._send)

    def _send(self) -> None:
        self.begun.wait(120)
        time.sleep(0.02)
        if not self.ended.is_set():
            os.kill(os.getpid(), signal.SIGINT)

    def __enter__(self):
        self.thread.start()
        return lambda event: self.begun.set()

    def __exit__(self, *error):
        self.ended.set()
        self.begun.set()
        self.thread.join()


def slow(a, b):
    return abs(a[0] - b[0])


@pytest.mark.parametrize("metric", ["euclidean", "minkowski", slow], ids=str)
def test_an_interrupted_fit_leaves_the_estimator_as_it_was(metric):
    # Noise without an end: many columns leave an index nothing to prune.
    vast = np.random.default_rng(0).random((100_000, 24), dtype=np.float32)
    model = DBSCAN(eps=1.3, metric=metric, p=3).fit(vast[:300])
    before = state(model)
    with Interrupt() as callback:
        model.callback = callback
        before["callback"] = callback
        with pytest.raises(KeyboardInterrupt):
            model.fit(vast)
    assert_same_state(before, vars(model))
    np.testing.assert_array_equal(model.predict(vast[:300]), model.labels_)
    again = model.set_params(callback=None).fit(vast[:300])
    np.testing.assert_array_equal(again.labels_, before["labels_"])


@pytest.mark.parametrize(
    "spoil",
    [
        lambda model, X: model.fit(np.where(X > 0.5, X, np.nan)),
        lambda model, X: model.fit(X[:, :2] * np.nan),
        lambda model, X: model.fit(X, sample_weight=np.zeros(len(X))),
        lambda model, X: model.set_params(eps=0).fit(X[:, :2]),
        lambda model, X: model.set_params(callback=lambda event: 1 / 0).fit(X[:, :2]),
        lambda model, X: model.set_params(metric=lambda a, b: 1 / 0).fit(X[:, :2]),
        lambda model, X: model.set_params(memory_budget=1).fit(X[:, :2]),
    ],
)
def test_a_failed_refit_keeps_the_old_model(large, spoil):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(large[:500], columns=["a", "b", "c"])
    model = fit(frame, count_neighbors=True)
    before = state(model)
    with pytest.raises((ValueError, ZeroDivisionError, MemoryError)):
        spoil(model, large[:500])
    after = vars(model) | {name: before[name] for name in model.get_params()}
    assert_same_state(before, after)
    model.set_params(**{name: before[name] for name in model.get_params()})
    np.testing.assert_array_equal(model.predict(frame), model.labels_)


def test_the_process_stays_as_it_was(large, capfd):
    fit(large[:100]).predict(large[:100])
    before = surroundings()
    fit(large, trace=True, count_neighbors=True).predict(large)
    with np.errstate(all="raise"):
        fit(large[:500] * 1e-150, metric="cosine").predict(large[:500])
        fit(large[:500], metric="sqeuclidean")
    with pytest.raises(ValueError, match="NaN"):
        fit(large * np.nan)
    assert surroundings() == before
    assert capfd.readouterr() == ("", "")


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="needs /proc")
def test_hundreds_of_fits_leave_nothing_behind(large):
    X, spoilt = large[:2500], np.full((300, 3), np.nan)

    def work(times):
        for _ in range(times):
            fit(X)
            with pytest.raises(ValueError, match="NaN"):
                fit(spoilt)

    work(60)
    gc.collect()
    threads, files, memory = resources()
    work(300)
    gc.collect()
    now = resources()
    assert now[:2] == (threads, files)
    assert now[2] - memory < 2000  # kilobytes: a leak of the labels of each fit would be 6,000


def test_a_million_equal_points():
    X = np.ones((1_000_000, 2))
    model = DBSCAN(n_jobs=2)
    assert peak_growth(lambda: model.fit(X)) < 300_000  # kilobytes
    assert model.n_clusters_ == 1
    assert not model.labels_.any()
    assert len(model.core_sample_indices_) == len(X)


@pytest.mark.parametrize("d", [2, 3, 16])
def test_memory_is_linear(d):
    X = np.random.default_rng(0).random((300_000, d))
    model = DBSCAN(eps=0.01, n_jobs=2)
    allowed = 2 * X.nbytes + 60 * len(X)
    assert peak_growth(lambda: model.fit(X)) * 1024 < allowed
