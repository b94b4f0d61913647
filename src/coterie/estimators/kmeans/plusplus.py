"""Seeds without a fit: greedy k-means++ as a function, with scikit-learn's signature."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.algorithms.kmeans import seeding
from coterie.algorithms.random_words import RandomWords
from coterie.algorithms.restarts import seed_of_run
from coterie.arrays import Floats
from coterie.engines.select import engine_over
from coterie.estimators.kmeans.estimator import KMeans
from coterie.estimators.kmeans.prepared import PreparedRows, prepare_rows
from coterie.estimators.runs import base_seed
from coterie.estimators.threads import team_for
from coterie.estimators.validation import check_rows, check_weights
from coterie.kernels import scan_steps


def kmeans_plusplus(
    X: Any,
    n_clusters: int,
    *,
    sample_weight: Any = None,
    random_state: Any = None,
    n_local_trials: int | None = None,
    n_jobs: int | None = None,
) -> tuple[Floats, NDArray[np.int64]]:
    """Choose `n_clusters` rows of X as initial means, by greedy k-means++.

    Parameters
    ----------
    X : {array-like, CSR matrix} of shape (n_samples, n_features)
    n_clusters : int
    sample_weight : array-like of shape (n_samples,) or None
        A weight of two is the row twice, a weight of zero is no row.
    random_state : int, RandomState or None
    n_local_trials : int or None
        Candidates per seed; None means ``2 + int(log(n_clusters))``.
    n_jobs : int or None
        Threads, as in `KMeans`. The seeds do not depend on it.

    Returns
    -------
    centers : ndarray of shape (n_clusters, n_features), float64
    indices : ndarray of shape (n_clusters,), int64
        The first row of X with the values of each seed.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie import kmeans_plusplus
    >>> X = np.array([[0.0, 0.0], [0.0, 0.1], [9.0, 9.0], [9.0, 9.1]])
    >>> centers, indices = kmeans_plusplus(X, 2, random_state=0)
    >>> sorted(set((indices // 2).tolist()))
    [0, 1]
    """
    estimator = KMeans(n_clusters, n_jobs=n_jobs)
    estimator._validate_params()
    if n_local_trials is not None and n_local_trials < 1:
        raise ValueError(
            f"n_local_trials={n_local_trials}: expected at least one candidate per seed, or None."
        )
    X = check_rows(estimator, X, reset=True)
    weights = check_weights(sample_weight, X.shape[0])
    team = team_for(n_jobs, X.shape[0] * X.shape[1] * n_clusters)
    data = prepare_rows(X, weights, directions=False, team=team, at_least=n_clusters)
    draws = RandomWords(seed_of_run(base_seed(random_state), 0))  # those of the first run of a fit
    seeds = seeding.kmeans_plusplus(data.engine, data.survey, n_clusters, draws, n_local_trials)
    return data.units.rows_out(seeds), _first_rows(data, seeds)


def _first_rows(data: PreparedRows, seeds: Floats) -> NDArray[np.int64]:
    """Return the first row of X with the values of each seed, by hashes: those of equal rows are
    equal."""
    hashes = data.engine.gather(scan_steps.hashes)
    of_seeds = engine_over(np.ascontiguousarray(seeds)).gather(scan_steps.hashes)
    distinct, back = np.unique(of_seeds, return_inverse=True)
    # Last bits first: a table of them excludes most rows in one pass.
    wanted = np.zeros(1 << 16, dtype=np.bool_)
    wanted[distinct.astype(np.uint16)] = True
    rows = np.flatnonzero(wanted[hashes.astype(np.uint16)])
    rows = rows[np.isin(hashes[rows], distinct)]
    _, first = np.unique(hashes[rows], return_index=True)
    found = rows[first][back]
    return found if data.absent is None else np.flatnonzero(~data.absent)[found]
