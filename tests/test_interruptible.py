"""Long calls on a thread of their own: answers and errors come back, Ctrl-C is heard at once."""

import signal
import threading
from importlib import import_module

import numpy as np
import pytest

from coterie import GaussianMixture, compare
from coterie.algorithms.mixture.covariance import floor
from coterie.interruptible import interruptible

needs_signals = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs signals")


def test_the_answer_comes_back():
    assert interruptible(divmod, 7, 2) == (3, 1)


def test_an_error_comes_back():
    with pytest.raises(np.linalg.LinAlgError, match="square"):
        interruptible(np.linalg.eigh, np.zeros((2, 3)))


def test_other_threads_call_directly():
    """They never get a signal."""
    callers = []
    thread = threading.Thread(
        target=lambda: callers.append(interruptible(threading.current_thread))
    )
    thread.start()
    thread.join()
    assert callers == [thread]


@needs_signals
def test_ctrl_c_does_not_wait_for_the_end():
    """The call ends only after the interrupt was raised: waiting for it would never end."""
    raised = threading.Event()

    def work():
        signal.setitimer(signal.ITIMER_REAL, 0.01)
        assert raised.wait(60)

    def interrupt(number, frame):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        with pytest.raises(KeyboardInterrupt):
            interruptible(work)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        raised.set()


def test_eigenvectors_of_large_matrices_can_be_interrupted(monkeypatch):
    asked = []

    def watched(work, *arguments):
        asked.append((work.__name__, len(arguments[0])))
        return work(*arguments)

    monkeypatch.setattr(floor, "interruptible", watched)
    X = np.random.default_rng(0).random((20, floor.MANY_COLUMNS))
    GaussianMixture(1, random_state=0).fit(X)
    assert {("eigh", floor.MANY_COLUMNS), ("qr", floor.MANY_COLUMNS)} == set(asked)
    asked.clear()
    GaussianMixture(1, random_state=0).fit(X[:, :-1])
    assert not asked


def test_agreement_of_labels_can_be_interrupted(monkeypatch):
    asked = []

    def watched(work, *arguments):
        asked.append(work.__name__)
        return work(*arguments)

    module = import_module("coterie.choosing.compare")  # the name `compare` is the function
    monkeypatch.setattr(module, "interruptible", watched)
    compare(np.arange(4.0)[:, np.newaxis], [[0, 0, 1, 1], [0, 1, 1, 1]])
    assert asked == ["adjusted_rand_score", "adjusted_mutual_info_score"]
