"""Distances from rows to their k-th nearest row, counting themselves: exact, of all or a sample."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.spatial import cKDTree

from coterie.arrays import Floats
from coterie.choosing.sampling import DIRECT, NAMES, Rows, chunks, distances, sample_rows
from coterie.estimators.threads import effective_threads

TREE_COLUMNS = 16  # with more, a tree visits nearly all rows
TREE_POWERS = {"cityblock": 1.0, "euclidean": 2.0, "chebyshev": np.inf}
MOST_PAIRS = 2e9  # values of differences, when all pairs are looked at


def k_distances(
    X: Any,
    k: int,
    *,
    metric: Any = "euclidean",
    sample_size: int | None = 10_000,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> tuple[Floats, Rows | None]:
    """Return the distances in ascending order, and the rows of a sample or None for all rows.

    Every distance is that to the k-th nearest of all rows of X, by direct differences, also if
    only a sample of rows is asked. Of fewer than k rows: the distance to the farthest.
    """
    n, d = X.shape
    k = min(k, n)
    tree = isinstance(metric, str) and metric in DIRECT and d <= TREE_COLUMNS
    if sparse.issparse(X) or not tree:
        if sample_size is not None:
            sample_size = min(sample_size, max(500, int(MOST_PAIRS / (n * max(d, 1)))))
        chosen = sample_rows(n, sample_size, random_state)
        return np.sort(_by_pairs(X, X if chosen is None else X[chosen], k, metric)), chosen
    chosen = sample_rows(n, sample_size, random_state)
    rows = np.asarray(X, dtype=np.float64)
    asked = rows if chosen is None else rows[chosen]
    power = TREE_POWERS[NAMES.get(metric, metric)]
    # Tight boxes and median cuts take long to build where many rows are equal.
    index = cKDTree(rows, balanced_tree=False, compact_nodes=False)
    threads = effective_threads(n_jobs, 64 * asked.size)
    found, _ = index.query(asked, k=[k], p=power, workers=threads)
    return np.sort(found[:, 0]), chosen


def _by_pairs(X: Any, asked: Any, k: int, metric: Any) -> Floats:
    found = np.empty(asked.shape[0])
    for part in chunks(asked.shape[0], X.shape[0]):
        found[part] = np.partition(distances(asked[part], X, metric), k - 1, axis=1)[:, k - 1]
    return found
