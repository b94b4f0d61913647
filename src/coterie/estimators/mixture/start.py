"""First mixtures of runs, from ``init_params``, ``warm_start`` and given parts."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from coterie.algorithms.kmeans.lloyd import Rules, lloyd
from coterie.algorithms.kmeans.seeding import SEEDINGS
from coterie.algorithms.mixture.covariance import Family
from coterie.algorithms.mixture.from_labels import mixture_from_degrees, mixture_from_labels
from coterie.algorithms.mixture.records import Mixture
from coterie.algorithms.random_words import RandomWords, mix_all
from coterie.arrays import Floats
from coterie.estimators.kmeans.estimator import KMeans
from coterie.estimators.kmeans.prepared import PreparedRows, prepare_rows
from coterie.estimators.mixture.parameters import Given
from coterie.estimators.mixture.prepared import PreparedMixtureRows
from coterie.kernels import kmeans_steps, scan_steps

# Seedings, by the names of `init_params`; rows become clusters by the nearest point.
NEAREST = {
    "k-means++": "k-means++",
    "random_from_data": "random",
    "principal": "principal",
}
LEAST_SECONDS = 1e-9  # of k-means where time has run out: it still makes one iteration
KMEANS = Rules(max_iter=300, tol=1e-4)  # scikit-learn's own limits

Start = Callable[[int], Mixture]  # seed of a run -> its first mixture, in the units of the user


def starter(
    estimator: Any,
    data: PreparedMixtureRows,
    family: Family,
    given: Given,
    previous: Mixture | None,
    deadline: float | None,
) -> Start:
    """Return a function from the seed of a run to its first mixture."""
    if previous is not None:
        return lambda seed: previous
    if given.complete:
        return lambda seed: given.mixture

    def start(seed: int) -> Mixture:
        floor = data.survey.floor(estimator.reg_covar)
        assert data.filled is not None
        rows, engine = data.filled
        if isinstance(estimator.init_params, str) and estimator.init_params == "random":
            degrees = random_degrees(engine.gather(scan_steps.hashes), estimator.n_components, seed)
            found = mixture_from_degrees(engine, data.survey, family, degrees, floor)
        else:
            labels = first_labels(estimator, rows, data, seed, deadline)
            k = estimator.n_components
            found = mixture_from_labels(engine, data.survey, family, labels, k, floor)
        return given.over(found)

    return start


def runs_differ(estimator: Any, given: Given, previous: Mixture | None) -> bool:
    """Return whether runs with different seeds start differently."""
    fixed = isinstance(estimator.init_params, str) and estimator.init_params == "principal"
    return previous is None and not given.complete and not fixed


def random_degrees(hashes: NDArray[np.uint64], k: int, seed: int) -> Floats:
    """Random degrees of belonging, (n, k), by the hashes of rows: equal rows get equal ones."""
    words = hashes[:, np.newaxis] ^ np.array(
        [RandomWords(seed).word(3, c) for c in range(k)], np.uint64
    )
    words = mix_all(words) >> np.uint64(11)
    degrees: Floats = np.ldexp(words.astype(np.float64) + 0.5, -53)  # never zero
    degrees /= degrees.sum(axis=1, keepdims=True)
    return degrees


def first_labels(
    estimator: Any, rows: Floats, data: PreparedMixtureRows, seed: int, deadline: float | None
) -> NDArray[np.int32]:
    """Labels of a hard clustering, from which a run begins."""
    init, k = estimator.init_params, estimator.n_components
    if isinstance(init, KMeans):
        return _labels_of_model(init, rows, data, k, seed, deadline)
    hard = _prepared_for_kmeans(rows, data, squares_of_values=init == "principal")
    if init == "kmeans":
        seeds = SEEDINGS["k-means++"](hard.engine, hard.survey, k, RandomWords(seed))
        return lloyd(hard.engine, hard.survey, seeds, replace(KMEANS, deadline=deadline)).labels
    try:
        seeds = SEEDINGS[NEAREST[init]](hard.engine, hard.survey, k, RandomWords(seed))
    except ValueError as error:
        words = str(error).replace("init='random'", f"init_params={init!r}")
        raise ValueError(words.replace("n_clusters", "n_components")) from error
    labels: NDArray[np.int32] = hard.engine.gather(kmeans_steps.nearest, seeds, hard.survey.extent)
    return labels


def _prepared_for_kmeans(
    rows: Floats, data: PreparedMixtureRows, *, squares_of_values: bool
) -> PreparedRows:
    """Prepare rows for k-means: as they are, or in the standardized units of the mixture if columns
    differ too much in size for squared distances."""

    def of(values: Floats) -> PreparedRows:
        return prepare_rows(
            values,
            data.weights,
            directions=False,
            team=data.engine.team,
            squares_of_values=squares_of_values,
        )

    try:
        return of(rows)
    except ValueError:
        scaling = data.survey.scaling
        return of(np.ascontiguousarray(np.ldexp(rows - scaling.origin, -scaling.exponent)))


def _labels_of_model(
    init: KMeans, rows: Floats, data: PreparedMixtureRows, k: int, seed: int, deadline: float | None
) -> NDArray[np.int32]:
    model: KMeans = clone(init).set_params(n_clusters=k, n_jobs=data.engine.team.size)
    if init.random_state is None:
        model.set_params(random_state=seed % 2**32)
    if deadline is not None:
        left = max(deadline - time.perf_counter(), LEAST_SECONDS)
        model.set_params(max_seconds=min(left, init.max_seconds or left))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # this is only a start; the mixture has its own warnings
        model.fit(rows, sample_weight=data.weights)
    return model.labels_
