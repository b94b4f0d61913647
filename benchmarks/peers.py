"""Contenders that can be timed: Coterie and its peers, each behind the same small interface.

A contender gets the data, the initial means, a cap on the iterations and a number of threads; it
gives labels, means and the iterations it made. Imports happen on first use: a peer that is not
installed, or does not load, is reported and left out.
"""

from __future__ import annotations

import contextlib
import importlib
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from benchmarks.options import DTYPES
from benchmarks.report import progress


@dataclass(frozen=True)
class Fit:
    """The answer of a whole fit: labels (n,), means (k, d), iterations made."""

    labels: NDArray[np.integer[Any]]
    means: NDArray[np.floating[Any]]
    iterations: int


class Contender:
    """One implementation of k-means, fitted from given initial means with tolerance zero."""

    name: str
    module: str
    dtypes: Sequence[str] = DTYPES
    #: 'itself': stops when no label changes. 'count': makes as many iterations as it is told.
    stops: Literal["itself", "count"] = "itself"
    #: Where it cannot start from given means, it finds another local minimum.
    given_means: bool = True

    def why_missing(self) -> str:
        """'' if it can be imported, else the reason that it cannot."""
        try:
            self.load()
        except ModuleNotFoundError as error:
            absent = error.name == self.module.partition(".")[0]
            return "not installed" if absent else f"does not import: {error}"
        except Exception as error:  # a broken peer must not stop the others
            return f"does not import: {error}"
        return ""

    def load(self) -> Any:
        """The module that holds it."""
        return importlib.import_module(self.module)

    def fit(self, x: NDArray[Any], means: NDArray[Any], max_iter: int, threads: int) -> Fit:
        """A whole fit of x (n, d) from means (k, d), labels included.

        Each fit gets means of its own: mlpack writes its result over them, and the fits after it
        would start from a solved problem.
        """
        return self._fit(x, means.copy(), max_iter, threads)

    def warm_up(self, x: NDArray[Any], means: NDArray[Any], threads: int) -> None:
        """Load libraries and start pools on a few rows; a failure comes again in the timed call."""
        with contextlib.suppress(Exception):
            self.fit(x[:2000], means[:8], 2, threads)

    def _fit(self, x: NDArray[Any], means: NDArray[Any], max_iter: int, threads: int) -> Fit:
        """The fit itself; `means` may be overwritten."""
        raise NotImplementedError


class Coterie(Contender):
    """The library under test."""

    name = "coterie"
    module = "coterie"

    def __init__(self, algorithm: str = "auto") -> None:
        self.algorithm = algorithm

    def _fit(self, x: NDArray[Any], means: NDArray[Any], max_iter: int, threads: int) -> Fit:
        """Threads by `n_jobs`."""
        model = self.load().KMeans(
            len(means),
            init=means,
            n_init=1,
            max_iter=max_iter,
            tol=0.0,
            algorithm=self.algorithm,
            empty_clusters="relocate",  # the peers' rule: ours would keep them where they are
            n_jobs=threads,
        )
        return _fitted(model, x)


class ScikitLearn(Contender):
    """scikit-learn; OpenMP and BLAS threads follow threadpoolctl."""

    module = "sklearn.cluster"

    def __init__(self, algorithm: str) -> None:
        self.name = self.algorithm = algorithm

    def _fit(self, x: NDArray[Any], means: NDArray[Any], max_iter: int, threads: int) -> Fit:
        """Threads by the surrounding threadpoolctl limit."""
        model = self.load().KMeans(
            len(means), init=means, n_init=1, max_iter=max_iter, tol=0.0, algorithm=self.algorithm
        )
        return _fitted(model, x)


class Sklearnex(Contender):
    """scikit-learn-intelex (oneDAL). Its TBB pool obeys `n_jobs`, not threadpoolctl."""

    name = "sklearnex"
    module = "sklearnex.cluster"

    def _fit(self, x: NDArray[Any], means: NDArray[Any], max_iter: int, threads: int) -> Fit:
        """Threads by `n_jobs`, which this package adds to the estimator."""
        model = self.load().KMeans(len(means), init=means, n_init=1, max_iter=max_iter, tol=0.0)
        return _fitted(model.set_params(n_jobs=threads), x)


class Mlpack(Contender):
    """mlpack: a dual-tree method (one thread) for low dimension, Hamerly's bounds (OpenMP) above.

    It stops when the means move less than 1e-5, a little earlier than 'no label changes'.
    """

    name = "mlpack"
    module = "mlpack"
    dtypes = ("float64",)

    def _fit(self, x: NDArray[Any], means: NDArray[Any], max_iter: int, threads: int) -> Fit:
        """The faster of its algorithms for this dimension; the iterations are not reported."""
        k, d = means.shape
        result = self.load().kmeans(
            input_=x,
            clusters=k,
            initial_centroids=means,
            max_iterations=max_iter,
            algorithm="dualtree" if d <= 4 else "hamerly",
            labels_only=True,
        )
        labels = np.asarray(result["output"]).ravel().astype(np.int64)
        return Fit(labels, np.asarray(result["centroid"]), 0)


class Faiss(Contender):
    """faiss, float32 only. It splits empty clusters, so its error is compared, not its labels.

    Its own stopping rule looks at a float32 objective, whose rounding can end a fit at half of the
    iterations with a worse error; so the rule is off and it makes as many iterations as Coterie.
    """

    name = "faiss"
    module = "faiss"
    dtypes = ("float32",)
    stops = "count"

    def _fit(self, x: NDArray[Any], means: NDArray[Any], max_iter: int, threads: int) -> Fit:
        """No sampling, no restarts; the search for labels counts, as it does for the others."""
        faiss = self.load()
        k, d = means.shape
        faiss.omp_set_num_threads(threads)
        settings: dict[str, float] = {
            "niter": max_iter,
            "nredo": 1,
            "min_points_per_centroid": 1,
            "max_points_per_centroid": len(x),
        }
        if hasattr(faiss.ClusteringParameters(), "early_stop_threshold"):
            settings["early_stop_threshold"] = -1.0
        model = faiss.Kmeans(d, k, **settings)
        model.train(x, init_centroids=means)
        _, labels = model.assign(x)
        return Fit(labels, model.centroids, len(model.obj))


class SuperKMeans(Contender):
    """superkmeans, float32 only: prunes dimensions after a rotation, always from its own seeds."""

    name = "superkmeans"
    module = "superkmeans"
    dtypes = ("float32",)
    stops = "count"
    given_means = False

    def _fit(self, x: NDArray[Any], means: NDArray[Any], max_iter: int, threads: int) -> Fit:
        """No hierarchy, no sampling, no early end: plain Lloyd iterations, as the others do."""
        k, d = means.shape
        model = self.load().SuperKMeans(
            k,
            d,
            hierarchical=False,
            iters=max_iter,
            sampling_fraction=1.0,
            max_points_per_cluster=len(x),
            n_threads=threads,
            early_termination=False,
            tol=0.0,
        )
        found = model.train(x)
        return Fit(model.assign(x, found).astype(np.int64), found, max_iter)


PEERS: tuple[Contender, ...] = (
    ScikitLearn("lloyd"),
    ScikitLearn("elkan"),
    Sklearnex(),
    Mlpack(),
    Faiss(),
    SuperKMeans(),
)


def contenders(wanted: Sequence[str] = ()) -> list[Contender]:
    """The contenders that can run, Coterie first; says why each of the others cannot."""
    names = [peer.name for peer in PEERS]
    unknown = sorted(set(wanted) - set(names))
    if unknown:
        raise ValueError(f"--peers {' '.join(unknown)}: unknown; choose from: {', '.join(names)}")
    asked = [Coterie(), *(peer for peer in PEERS if not wanted or peer.name in wanted)]
    missing = {one.name: why for one in asked if (why := one.why_missing())}
    for name, why in missing.items():
        progress(f"{name}: {why}")
    return [one for one in asked if one.name not in missing]


def by_name(name: str) -> Contender:
    """One contender, without importing any other."""
    return next(one for one in (Coterie(), *PEERS) if one.name == name)


def _fitted(model: Any, x: NDArray[Any]) -> Fit:
    """Fit an estimator of the scikit-learn kind; reaching the iteration cap is no news here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(x)
    return Fit(np.asarray(model.labels_), np.asarray(model.cluster_centers_), int(model.n_iter_))
