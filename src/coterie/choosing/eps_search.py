"""Labels of DBSCAN for one eps after the other: from one structure, or from a fit for each."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from coterie.arrays import Floats
from coterie.choosing.k_distances import k_distances
from coterie.estimators import DBSCAN, DBSCANPath
from coterie.estimators.dbscan.metrics import Metric
from coterie.estimators.dbscan.path import fit_bytes
from coterie.estimators.memory_budget import allowed_memory

PATH_METRICS = ("euclidean", "manhattan", "chebyshev")
FEW_COLUMNS = 8
MOST_ROWS, MOST_WIDE_ROWS = 1_000_000, 100_000  # of few columns, and of more, for one structure
CANDIDATES, FEWER_CANDIDATES = 32, 14
MANY_VALUES = 1_000_000  # of X: from here on every fit takes long

Labels = NDArray[np.int64]


class EpsSearch(Protocol):
    """The k-distance curve, and labels for any eps."""

    distances: Floats  # to the min_samples-th nearest row, ascending
    sample: int | None  # number of rows whose distances these are; None: all rows
    candidates: int  # number of eps that are worth the time
    path: DBSCANPath | None

    def labels(self, eps: float) -> Labels: ...


class OneStructure:
    """Labels of all rows for every eps, from one DBSCANPath."""

    sample: int | None = None
    candidates = CANDIDATES

    def __init__(self, path: DBSCANPath) -> None:
        self.path: DBSCANPath | None = path
        self.labels = path.labels
        self.distances = np.sort(path.core_distances_)


class ManyFits:
    """Labels from a fit of DBSCAN for each eps."""

    path: DBSCANPath | None = None

    def __init__(self, X: Any, model: DBSCAN, sample_size: int | None, random_state: Any) -> None:
        self.X, self.model = X, model
        self.distances, chosen = k_distances(
            X,
            model.min_samples,
            metric=model.metric,
            sample_size=sample_size,
            random_state=random_state,
            n_jobs=model.n_jobs,
        )
        self.sample = None if chosen is None else len(chosen)
        few = X.shape[0] * X.shape[1] <= MANY_VALUES
        self.candidates = CANDIDATES if few else FEWER_CANDIDATES

    def labels(self, eps: float) -> Labels:
        labels: Labels = self.model.set_params(eps=eps).fit(self.X).labels_
        return labels


def search_for(
    X: Any,
    min_samples: int,
    metric: Any,
    sample_size: int | None,
    random_state: Any,
    n_jobs: int | None,
) -> EpsSearch:
    """Return one structure if it knows the metric and is quick to build, otherwise many fits."""
    asked = Metric.of(metric, None, None)
    asked.check(X)
    name = asked.name
    n, d = X.shape
    possible = (
        isinstance(name, str)
        and name in PATH_METRICS
        and not sparse.issparse(X)
        and n >= min_samples
        and fit_bytes(n, d, min_samples) <= allowed_memory(None)
    )
    quick = n <= (MOST_ROWS if d <= FEW_COLUMNS else MOST_WIDE_ROWS)
    if possible and (quick or sample_size is None):
        path = DBSCANPath(min_samples, metric=name, n_jobs=n_jobs).fit(X)
        if np.isfinite(path.core_distances_).all():
            return OneStructure(path)
    model = DBSCAN(min_samples=min_samples, metric=metric, n_jobs=n_jobs)
    return ManyFits(X, model, sample_size, random_state)
