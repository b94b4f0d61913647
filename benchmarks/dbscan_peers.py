"""Implementations of DBSCAN behind one small interface: rows, eps and threads give labels."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from benchmarks.dbscan_workloads import MIN_SAMPLES, SKLEARN, WANG
from benchmarks.report import progress

OURS = "coterie"
PACKAGES = ("coterie", "numpy", "scipy", "scikit-learn", "dbscan", "threadpoolctl")


@dataclass(frozen=True)
class Answer:
    """Labels (n,) with -1 for noise, and the core points."""

    labels: NDArray[np.integer[Any]]
    core: NDArray[np.bool_]


class Peer(Protocol):
    """A call that is timed."""

    def __call__(self, x: NDArray[np.float64], eps: float, threads: int) -> Answer: ...


def coterie(x: NDArray[np.float64], eps: float, threads: int) -> Answer:
    """The library under test, by its estimator, with all attributes of a fit."""
    from coterie import DBSCAN

    return _fitted(DBSCAN(eps, min_samples=MIN_SAMPLES, n_jobs=threads), x)


def scikit_learn(x: NDArray[np.float64], eps: float, threads: int) -> Answer:
    """Its own choice of algorithm; `n_jobs` are threads."""
    from sklearn.cluster import DBSCAN

    return _fitted(DBSCAN(eps=eps, min_samples=MIN_SAMPLES, n_jobs=threads), x)


def wang(x: NDArray[np.float64], eps: float, threads: int) -> Answer:
    """The package `dbscan` (Wang, Gu, Shun 2020). Its threads are set before it is loaded."""
    os.environ.setdefault("PARLAY_NUM_THREADS", str(threads))
    from dbscan import DBSCAN

    labels, core = DBSCAN(x, eps, MIN_SAMPLES)
    return Answer(np.asarray(labels), np.asarray(core, dtype=bool))


def _fitted(model: Any, x: NDArray[np.float64]) -> Answer:
    model.fit(x)
    core = np.zeros(len(x), dtype=bool)
    core[model.core_sample_indices_] = True
    return Answer(model.labels_, core)


MOST_COLUMNS = {WANG: 20}  # beyond which a peer refuses
PEERS: dict[str, Peer] = {OURS: coterie, SKLEARN: scikit_learn, WANG: wang}


def contenders(wanted: Sequence[str] = ()) -> list[str]:
    """The peers that can run, Coterie first; says if `dbscan` is not installed."""
    asked = [name for name in PEERS if name == OURS or not wanted or name in wanted]
    if WANG in asked and find_spec("dbscan") is None:
        progress(f"{WANG}: not installed")
        asked.remove(WANG)
    return asked


def verdict(ours: Answer, theirs: Answer) -> str:
    """A comparison of a peer's answer with ours. The numbering of clusters may differ."""
    if np.array_equal(ours.labels, theirs.labels) and np.array_equal(ours.core, theirs.core):
        return "same labels"
    if not np.array_equal(ours.core, theirs.core):
        return f"wrong: {int((ours.core != theirs.core).sum())} core points differ"
    core = ours.core
    pairs = np.unique(np.stack([ours.labels[core], theirs.labels[core]]), axis=1)
    if any(len(np.unique(side)) != pairs.shape[1] for side in pairs):
        return "wrong: clusters differ"
    renamed = np.full(int(theirs.labels.max(initial=0)) + 2, -1)
    renamed[pairs[1]] = pairs[0]
    other = int((renamed[theirs.labels] != ours.labels).sum())
    return f"same clusters, {other} border points elsewhere" if other else "same clusters"
