"""KMeans: the estimator that people use. It checks, asks the drivers, and keeps their results."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from coterie.algorithms.kmeans.lloyd import Rules
from coterie.algorithms.kmeans.restarts import restarts
from coterie.algorithms.kmeans.seeding import SEEDINGS
from coterie.arrays import Floats
from coterie.estimators.fitting import FitEvent, Progress, fitting
from coterie.estimators.kmeans.fitted import MeansModel
from coterie.estimators.kmeans.initial_means import fixed_means, number_of_runs, starter
from coterie.estimators.kmeans.partial_fit import one_batch
from coterie.estimators.kmeans.results import fitted_attributes, news_of_means, warn_of
from coterie.estimators.runs import base_seed
from coterie.estimators.validation import N_JOBS, check_rows, check_weights

ALGORITHMS = {"lloyd": "brute", "elkan": "bounds"}  # scikit-learn's names for ours


class KMeans(MeansModel):
    """k-means clustering, exact and the same bits for any number of threads.

    A drop-in for :class:`sklearn.cluster.KMeans`: parameters, methods and attributes of the same
    name mean the same. Two defaults are ours: ``algorithm="auto"``, which changes the time and
    never the answer, and ``empty_clusters="keep"``.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters and of means.
    init : {"k-means++", "k-means||", "random", "principal"}, array-like of shape \
(n_clusters, n_features) or callable, default="k-means++"
        Initial means. "k-means++" (greedy) and "k-means||" draw points that are far apart;
        "random" takes `n_clusters` different points; "principal" spreads means along the principal
        direction of the data, without randomness. A callable is called as
        ``init(X, n_clusters, random_state=random_state)`` with the checked rows of positive
        weight, and returns the means.
    n_init : "auto" or int, default="auto"
        Number of runs, of which the one with the smallest error is kept. "auto" is 10 for
        ``init="random"`` and callables, and 1 otherwise.
    max_iter : int or None, default=300
        Most iterations of a run. None: until no assignment changes, which always happens.
    tol : float, default=1e-4
        A run stops when the sum of the squared moves of all means is at most `tol` times the mean
        variance of the columns. 0: never for that reason.
    verbose : int, default=0
        If positive, every iteration is logged (logger "coterie", level INFO). Nothing is printed.
    random_state : int, RandomState instance or None, default=None
        Seed of the initial means. The same int gives the same bits.
    copy_x : bool, default=True
        For compatibility. X is never modified and never copied for that reason.
    algorithm : {"auto", "brute", "bounds", "lloyd", "elkan"}, default="auto"
        The search for nearest means: by all distances ("brute", also "lloyd"), or with bounds of
        Hamerly and Elkan that save most of them ("bounds", also "elkan"). The answer is the same.
    rel_tol : float, default=0.0
        A run also stops when the clustering error falls by less than this part of itself.
    empty_clusters : {"keep", "relocate"}, default="keep"
        A cluster without points keeps its mean, and may get points again. With "relocate" it is
        given the point farthest from its own mean, as in scikit-learn, if that lowers the error.
    metric : {"euclidean", "cosine"}, default="euclidean"
        "cosine" is spherical k-means: rows (in a float64 copy) and means are scaled to length one,
        so that only directions count. Errors and distances are those of the scaled rows.
    max_seconds : float or None, default=None
        Time for all runs together, checked after every iteration; at least one iteration of one
        run is made. There is a ConvergenceWarning if time ran out.
    on_interrupt : {"raise", "keep"}, default="raise"
        After Ctrl-C, raise KeyboardInterrupt and leave the estimator as it was; or keep the best
        so far (before the first iteration there is nothing to keep, and it raises).
    warm_start : bool, default=False
        Start from the means of the last fit if their shape fits, in a single run.
    callback : callable or None, default=None
        Called with a :class:`FitEvent` after each iteration; a true return value ends the fit.
    trace : bool, default=False
        Whether to remember every iteration's means and the points that moved, in ``trace_``.
    n_jobs : int or None, default=None
        Threads. None: as many as scikit-learn would use, which follows the CPU affinity,
        ``OMP_NUM_THREADS`` and threadpoolctl; -1: all CPUs of the affinity, -2: all but one.
        Small data use fewer.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Means, as float64 for any input.
    labels_ : ndarray of shape (n_samples,), int32
        Nearest of these means for every row, the lowest index among equals: always equal to
        ``predict`` of the same rows. Rows of weight zero are labelled too.
    inertia_ : float
        Sum of the (weighted) squared distances of the rows to their means, rounded once.
    clustering_error_ : float
        ``inertia_`` divided by the number of rows, or by their weight.
    n_iter_ : int
        Iterations of the best run.
    active_ : ndarray of shape (n_clusters,), bool
        Whether a cluster has points of positive weight.
    counts_ : ndarray of shape (n_clusters,)
        Weight of the points of each cluster.
    converged_ : bool
        Whether the best run stopped because of `tol` or `rel_tol`, or because no assignment
        changed.
    stopped_ : str
        The reason for the end of the best run, and for no further runs, in words.
    history_ : tuple of Iteration
        Error, moved points, largest move of a mean, seconds and active clusters by iteration.
    runs_ : tuple of RunRecord
        Record of each run.
    trace_ : tuple of TraceStep
        With ``trace=True``: for each assignment update the means and the rows that changed.
    n_features_in_ : int
        Columns of X.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, if X had names that are all strings.

    Notes
    -----
    Distances are compared as float64 differences, squared and added. Sums are exact, and means are
    rounded once (and for ``metric="cosine"`` then scaled to length one). So labels, means and
    errors depend on the rows and the parameters, and not on threads, blocks or the layout of X. A
    weight of 2 is the same as the row twice, a weight of 0 the same as no row, and the order of
    the rows does not matter. Only ``init="principal"``, whose direction is a rounded eigenvector,
    may differ in its last digits.

    Data of any scale are brought into range by a power of two, which changes no digit. Data that
    span too many orders of magnitude for this are refused.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie import KMeans
    >>> X = np.array([[1, 2], [1, 4], [1, 0], [10, 2], [10, 4], [10, 0]])
    >>> model = KMeans(n_clusters=2, random_state=0).fit(X)
    >>> model.cluster_centers_[model.labels_]
    array([[ 1.,  2.],
           [ 1.,  2.],
           [ 1.,  2.],
           [10.,  2.],
           [10.,  2.],
           [10.,  2.]])
    >>> model.inertia_
    16.0
    >>> model.stopped_
    'no assignment changed'
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "init": [
            StrOptions(set(SEEDINGS)),
            callable,
            "array-like",
        ],
        "n_init": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left"), None],
        "tol": [Interval(Real, 0, None, closed="left")],
        "verbose": ["verbose"],
        "random_state": ["random_state"],
        "copy_x": ["boolean"],
        "algorithm": [StrOptions({"auto", "brute", "bounds", "lloyd", "elkan"})],
        "rel_tol": [Interval(Real, 0, 1, closed="left")],
        "empty_clusters": [StrOptions({"keep", "relocate"})],
        "metric": [StrOptions({"euclidean", "cosine"})],
        "max_seconds": [Interval(Real, 0, None, closed="neither"), None],
        "on_interrupt": [StrOptions({"raise", "keep"})],
        "warm_start": ["boolean"],
        "callback": [callable, None],
        "trace": ["boolean"],
        "n_jobs": N_JOBS,
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: Any = "k-means++",
        n_init: int | str = "auto",
        max_iter: int | None = 300,
        tol: float = 1e-4,
        verbose: int = 0,
        random_state: Any = None,
        copy_x: bool = True,
        algorithm: str = "auto",
        rel_tol: float = 0.0,
        empty_clusters: str = "keep",
        metric: str = "euclidean",
        max_seconds: float | None = None,
        on_interrupt: str = "raise",
        warm_start: bool = False,
        callback: Callable[[FitEvent], object] | None = None,
        trace: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.verbose = verbose
        self.random_state = random_state
        self.copy_x = copy_x
        self.algorithm = algorithm
        self.rel_tol = rel_tol
        self.empty_clusters = empty_clusters
        self.metric = metric
        self.max_seconds = max_seconds
        self.on_interrupt = on_interrupt
        self.warm_start = warm_start
        self.callback = callback
        self.trace = trace
        self.n_jobs = n_jobs

    @fitting
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> KMeans:
        """Cluster the rows of X.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
            Rows to cluster. float32 and float64 in C order are used where they lie.
        y : Ignored
            For scikit-learn's pipelines.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weights of the rows, zero or more. A weight of zero means that the row is not there.

        Returns
        -------
        self : KMeans
        """
        started = time.perf_counter()
        previous, directions = getattr(self, "cluster_centers_", None), self.metric == "cosine"
        X = check_rows(self, X, reset=True)
        weights = check_weights(sample_weight, X.shape[0])
        fixed = fixed_means(self, X.shape[1], previous)
        data = self._prepared(X, weights, fixed, at_least=self.n_clusters, directions=directions)
        n_init = number_of_runs(self, fixed)
        news = functools.partial(news_of_means, data.units, self.metric)
        progress = Progress(self, data.X, data.weights, n_init, news)
        found = restarts(
            data.engine,
            data.survey,
            starter(self, data, fixed),
            self._rules(started),
            n_init=n_init,
            seed=base_seed(self.random_state),
            watch=progress.watch,
        )
        warn_of(found, data, self.max_seconds)
        best = data.units.restored(found.best)
        self._adopt(
            fitted_attributes(best, data),
            _metric=self.metric,
            stopped_=found.stopped,
            runs_=tuple(data.units.restored(record) for record in found.records),
        )
        progress.end()
        return self

    @fitting
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> KMeans:
        """Move the means by one batch of rows. An approximation of `fit` for data that come bit
        by bit: each mean becomes the mean of all rows that were nearest to it when they came.

        The first call (without a `fit` before) chooses initial means from its batch by `init`,
        which needs at least `n_clusters` rows. Afterwards ``labels_``, ``inertia_`` and
        ``clustering_error_`` are those of the batch by the moved means, ``counts_`` is the weight
        that each mean has seen, and ``n_iter_`` grows by one.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
            The batch.
        y : Ignored
            For scikit-learn's pipelines.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weights of the rows.

        Returns
        -------
        self : KMeans
        """
        begun = hasattr(self, "cluster_centers_")
        if begun and self._fitted_metric != self.metric:
            raise ValueError(
                f"metric={self.metric!r} is not that of the means so far, "
                f"{self._fitted_metric!r}: expected one metric for all batches. Set it back with "
                f"set_params(metric={self._fitted_metric!r}), or begin anew with a clone."
            )
        directions = self.metric == "cosine"
        X = check_rows(self, X, reset=not begun)
        weights = check_weights(sample_weight, X.shape[0])
        known = self.cluster_centers_ if begun else fixed_means(self, X.shape[1], None)
        enough = self.n_clusters if known is None else 1
        data = self._prepared(X, weights, known, at_least=enough, directions=directions)
        if known is None:
            means = starter(self, data, None)(base_seed(self.random_state))
        else:
            means = np.ascontiguousarray(data.units.rows_in(known), dtype=np.float64)
        counts = self.counts_ if begun else np.zeros(len(means))
        n_before = self.n_iter_ if begun else 0
        run = one_batch(data, means, counts, n_before, directions=directions)
        attributes = fitted_attributes(run, data)
        self._adopt(attributes, _metric=self.metric, runs_=())
        return self

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> NDArray[np.int32]:
        """Fit, and return the labels: ``fit(X).labels_``.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`.

        Returns
        -------
        labels : ndarray of shape (n_samples,), int32
        """
        labels: NDArray[np.int32] = self.fit(X, sample_weight=sample_weight).labels_
        return labels

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> Floats:
        """Fit, and return the distances: ``fit(X).transform(X)``.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`.

        Returns
        -------
        distances : ndarray of shape (n_samples, n_clusters), float64
        """
        return self.fit(X, sample_weight=sample_weight)._distances(X)

    def _rules(self, started: float) -> Rules:
        return Rules(
            max_iter=self.max_iter,
            tol=float(self.tol),
            rel_tol=float(self.rel_tol),
            deadline=None if self.max_seconds is None else started + self.max_seconds,
            relocate=self.empty_clusters == "relocate",
            unit_length=self.metric == "cosine",
            keep_on_interrupt=self.on_interrupt == "keep",
            trace=bool(self.trace),
            algorithm=ALGORITHMS.get(self.algorithm, self.algorithm),
        )

    def _adopt(self, attributes: dict[str, Any], **others: Any) -> None:
        self.__dict__.pop("trace_", None)
        for name, value in (attributes | others).items():
            setattr(self, name, value)
