"""Data that many tests share, and a process that can be interrupted."""

from __future__ import annotations

import signal

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.datasets import make_blobs

# A shell starts background jobs with Ctrl-C ignored, and Python leaves it so. Tests of interrupts
# must not depend on the shell; their child processes inherit the usual handling.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def blobs() -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Five groups that are far apart, and the group of each row. Read-only."""
    X, y = make_blobs(300, 4, centers=5, random_state=3, cluster_std=0.3)
    X.setflags(write=False)
    y.setflags(write=False)
    return X, y


@pytest.fixture(scope="session")
def cloud() -> NDArray[np.float64]:
    """Groups that run into each other, so that runs are long and their ends differ. Read-only."""
    X, _ = make_blobs(2000, 6, centers=20, random_state=1, cluster_std=3.0)
    X.setflags(write=False)
    return X
