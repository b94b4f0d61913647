"""Initial means of runs, from the parameters ``init``, ``n_init`` and ``warm_start``."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from coterie.algorithms.kmeans.restarts import Start
from coterie.algorithms.kmeans.seeding import SEEDINGS
from coterie.algorithms.random_words import RandomWords
from coterie.arrays import Floats
from coterie.estimators.cosine import unit_rows
from coterie.estimators.fitting import read_only
from coterie.estimators.kmeans.prepared import PreparedRows
from coterie.estimators.units import Reach, row_exponent
from coterie.estimators.validation import check_centres

RUNS = {"k-means++": 1, "k-means||": 1, "principal": 1, "random": 10}  # for n_init="auto"
RUNS_OF_CALLABLE = 10


def fixed_means(estimator: Any, n_features: int, previous: Floats | None) -> Floats | None:
    """Initial means that the parameters give before any row is read, in the units of the user."""
    shape = (estimator.n_clusters, n_features)
    if estimator.warm_start and previous is not None and np.shape(previous) == shape:
        means = np.array(previous, dtype=np.float64, order="C")
        if estimator.metric == estimator._fitted_metric:
            return means
        return _as_asked(estimator, means, "the means of the last fit")
    if isinstance(estimator.init, str) or callable(estimator.init):
        return None
    means = check_centres(estimator.init, *shape, "init")
    return _as_asked(estimator, means, "init")


def number_of_runs(estimator: Any, fixed: Floats | None) -> int:
    """Number of runs: ``n_init``, or one if all runs would be the same."""
    init, n_init = estimator.init, estimator.n_init
    if n_init == "auto":
        if fixed is not None:
            return 1
        return RUNS[init] if isinstance(init, str) else RUNS_OF_CALLABLE
    if n_init > 1 and (fixed is not None or (isinstance(init, str) and init == "principal")):
        reason = "the initial means are given" if fixed is not None else "init='principal' is fixed"
        warnings.warn(
            f"n_init={n_init} runs would all be the same, since {reason}: performing only one. Use "
            "n_init='auto' to silence this.",
            RuntimeWarning,
            stacklevel=5,
        )
        return 1
    return int(n_init)


def starter(estimator: Any, data: PreparedRows, fixed: Floats | None) -> Start:
    """Return a function from the seed of a run to its initial means, in the drivers' units."""
    init, k = estimator.init, estimator.n_clusters
    if fixed is not None:
        means = data.units.rows_in(fixed)
        return lambda seed: means
    if callable(init):
        return lambda seed: _from_callable(estimator, data, seed)
    if init == "principal" and estimator.metric == "cosine":
        raise ValueError(
            "init='principal' puts the initial means on one line, and metric='cosine' can tell at "
            "most two directions on a line apart. Use init='k-means++'."
        )
    seeding = SEEDINGS[init]
    return lambda seed: _as_asked(
        estimator, seeding(data.engine, data.survey, k, RandomWords(seed)), "the initial means"
    )


def _from_callable(estimator: Any, data: PreparedRows, seed: int) -> Floats:
    k, d = estimator.n_clusters, data.X.shape[1]
    random_state = np.random.RandomState(seed % 2**32)
    name = "the array that the callable init returned"
    given = estimator.init(read_only(data.X), k, random_state=random_state)
    means = check_centres(given, k, d, name)
    means = _as_asked(estimator, means, name)
    both = Reach.of(data.survey.extent) | Reach.of_means(data.units.rows_in(means))
    if estimator.metric == "euclidean" and not _in_range(both):
        raise ValueError(
            f"{name} lies too far from the data for squared distances in float64: expected "
            f"initial means among the rows of X, got values up to {np.abs(means).max():.3g}."
        )
    return np.ascontiguousarray(data.units.rows_in(means))


def _in_range(reach: Reach) -> bool:
    try:
        return row_exponent(reach) == 0
    except ValueError:
        return False


def _as_asked(estimator: Any, means: Floats, name: str) -> Floats:
    if estimator.metric != "cosine":
        return means
    unit: Floats = unit_rows(means, name)
    return unit
