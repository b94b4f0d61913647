"""Implementations of mixtures: ours, scikit-learn, and oneDAL by daal4py."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from benchmarks.mixture_workloads import Start, Workload

OURS = "coterie"


@dataclass(frozen=True)
class Found:
    """A mixture, and the log-likelihood by row that entered its last iteration."""

    weights: Any
    means: Any
    covariances: Any
    iterations: int
    score: float


Iterate = Callable[[Workload, Any, Start, int, int], Found]  # (..., iterations, threads)


def _of_estimator(
    kind: Any, workload: Workload, X: Any, start: Start, n: int, **more: Any
) -> Found:
    model = kind(
        workload.k,
        covariance_type=workload.family,
        max_iter=n,
        tol=0,
        reg_covar=1e-6,
        weights_init=start.weights,
        means_init=start.means,
        precisions_init=start.precisions,
        **more,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # n iterations are wanted, not convergence
        model.fit(X)
    return Found(
        model.weights_, model.means_, model.covariances_, model.n_iter_, float(model.lower_bound_)
    )


def coterie(workload: Workload, X: Any, start: Start, n: int, threads: int) -> Found:
    kind = import_module("coterie").GaussianMixture
    return _of_estimator(kind, workload, X, start, n, n_jobs=threads)


def scikit_learn(workload: Workload, X: Any, start: Start, n: int, threads: int) -> Found:
    return _of_estimator(import_module("sklearn.mixture").GaussianMixture, workload, X, start, n)


def onedal(workload: Workload, X: Any, start: Start, n: int, threads: int) -> Found:
    daal4py = import_module("daal4py")
    daal4py.daalinit(threads)
    whole = workload.family == "full"
    given = start.covariances if whole else start.covariances[:, np.newaxis]
    model = daal4py.em_gmm(
        workload.k,
        maxIterations=n,
        accuracyThreshold=0.0,
        covarianceStorage="full" if whole else "diagonal",
        regularizationFactor=0.0,
    )
    found = model.compute(X, start.weights[np.newaxis], start.means, list(given))
    covariances = np.stack([np.asarray(c) for c in found.covariances])
    return Found(
        np.asarray(found.weights)[0],
        np.asarray(found.means),
        covariances if whole else covariances[:, 0],
        int(np.asarray(found.nIterations)[0, 0]),
        float(np.asarray(found.goalFunction)[0, 0]) / len(X),
    )


PEERS: dict[str, Iterate] = {OURS: coterie, "scikit-learn": scikit_learn, "oneDAL": onedal}


def able(name: str, workload: Workload) -> bool:
    if name == "oneDAL":
        return find_spec("daal4py") is not None and workload.family in ("full", "diag")
    return True


def default_fit(name: str, workload: Workload, X: Any, threads: int) -> Found:
    """A whole fit as a user writes it: k-means start, default tolerance."""
    if name == OURS:
        kind, more = import_module("coterie").GaussianMixture, {"n_jobs": threads}
    else:
        kind, more = import_module("sklearn.mixture").GaussianMixture, {}
    model = kind(workload.k, covariance_type=workload.family, random_state=0, **more)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X)
    return Found(
        model.weights_, model.means_, model.covariances_, model.n_iter_, float(model.lower_bound_)
    )
