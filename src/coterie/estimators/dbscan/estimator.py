"""DBSCAN: the estimator. It checks the input, calls a driver and keeps the result."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from coterie.algorithms.dbscan.dbscan import NOISE, DbscanResult, PointKind
from coterie.algorithms.dbscan.trace import waves
from coterie.estimators.dbscan.events import DensityEvent, teller
from coterie.estimators.dbscan.metric_parameters import completed
from coterie.estimators.dbscan.metrics import METRIC_NAMES, Metric, check_distances
from coterie.estimators.dbscan.predict import predict_graph, predict_rows, predict_supplied
from coterie.estimators.dbscan.search import SearchOptions, cluster
from coterie.estimators.dbscan.units import checked_eps, finite_extent, scaled_weights
from coterie.estimators.fitting import fitting
from coterie.estimators.memory_budget import Allowance
from coterie.estimators.threads import team_for
from coterie.estimators.validation import MIN_SAMPLES, N_JOBS, check_rows, check_weights
from coterie.kernels import _native
from coterie.kernels.dbscan_steps import CorePoints

Labels = NDArray[np.int64]
WORK_PER_VALUE = 32  # products for each value of X, about: decides how many threads are worth it


class DBSCAN(
    ClusterMixin,  # type: ignore[misc]  # scikit-learn has no types
    BaseEstimator,  # type: ignore[misc]
):
    """DBSCAN: clusters of any shape where points are dense, and outliers between them.

    The clustering is exact, takes linear memory, and is the same for any number of threads.

    A drop-in for :class:`sklearn.cluster.DBSCAN`: parameters, methods and attributes of the same
    name mean the same, and the labels are those of its ``algorithm="kd_tree"``.

    Parameters
    ----------
    eps : float, default=0.5
        Two points are nearby if their distance is at most `eps`.
    min_samples : int, default=5
        A point with at least this many points nearby, itself included, is a core point. With
        weights: with at least this much weight nearby.
    metric : str or callable, default="euclidean"
        "euclidean" (also "l2"), "manhattan" ("l1", "cityblock"), "chebyshev", "minkowski" with `p`
        of at least 1, "cosine" and "haversine" have native kernels. Any other metric of
        :func:`sklearn.metrics.pairwise_distances`, and a callable ``metric(x, y)``, are asked
        for all pairs, some rows at a time; the callable must give numbers of zero or more, np.inf
        for rows that are far apart. With "precomputed" X is a square matrix of distances,
        or a sparse graph of them in which pairs without a stored distance are far apart.
    metric_params : dict or None, default=None
        Further arguments of the metric. "seuclidean" and "mahalanobis" take variances and the
        covariance from X unless they are given; columns that are constant, or that others
        determine, are then an error.
    algorithm : {"auto", "ball_tree", "kd_tree", "brute"}, default="auto"
        For compatibility: the index is chosen by itself, and the answer is the same.
    leaf_size : int, default=30
        For compatibility.
    p : float or None, default=None
        The power of "minkowski"; None is 2. A power to which `eps` cannot be raised in float64,
        in any unit, is refused: some hundreds to thousands are possible.
    n_jobs : int or None, default=None
        Threads. None: as many as scikit-learn's OpenMP code would use, which follows the CPU
        affinity, ``OMP_NUM_THREADS`` and threadpoolctl; -1: all CPUs of the affinity, -2: all but
        one. Small data use fewer.
    count_neighbors : bool, default=False
        True counts all points nearby each point, in ``n_neighbors_``. Otherwise counting stops at
        `min_samples`, which saves time.
    trace : bool, default=False
        True keeps the growth of the clusters, in ``trace_``. A fit then takes longer.
    memory_budget : float or None, default=None
        Bytes that a fit may take beyond X. None: the memory that the system has available. A fit
        that would need more raises MemoryError before it begins.
    callback : callable or None, default=None
        Called with a :class:`DensityEvent` after each step of a fit.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,), int64
        The cluster of each row, -1 for noise. Clusters are numbered by their smallest core point,
        and a border point belongs to the lowest-numbered cluster that reaches it.
    core_sample_indices_ : ndarray of shape (n_core_samples,)
        The indices of the rows that are core points.
    components_ : ndarray or CSR array of shape (n_core_samples, n_features)
        A copy of the core points.
    kind_ : ndarray of shape (n_samples,), uint8
        0 for noise, 1 for border, 2 for core; ``DBSCAN.KINDS`` has the words.
    n_clusters_ : int
        Number of clusters.
    n_neighbors_ : ndarray of shape (n_samples,), int64
        With ``count_neighbors=True``: the number of points nearby, the point itself included.
    trace_ : tuple of Wave
        With ``trace=True``: rows (``.rows``, with ``.labels``) that were reached together. All
        clusters begin with their first core point in the first wave, and grow by one step of at
        most `eps` per wave.
    index_ : str
        The index that found neighbours: "grid", "tree" (a k-d tree), "brute", ...
    index_reason_ : str
        The reason for this index.
    n_features_in_ : int
        Columns of X.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, if X had names that are all strings.

    Notes
    -----
    Distances are decided as if in float64, column after column, for any dtype of X: a squared
    Euclidean distance is compared with ``eps * eps``. Weights are added exactly. So the labels
    depend on the rows and the parameters, and not on threads, on the index or on the layout of X.
    Distances that are given as float32 are compared with `eps` rounded to float32, as scikit-learn
    does.

    For ``metric="cosine"`` a row of zeros is at distance one from every other row, as in
    scikit-learn: it is noise unless it is a core point by itself.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie import DBSCAN
    >>> X = np.array([[1, 2], [2, 2], [2, 3], [8, 7], [8, 8], [25, 80]])
    >>> model = DBSCAN(eps=3, min_samples=2).fit(X)
    >>> model.labels_.tolist()
    [0, 0, 0, 1, 1, -1]
    >>> model.predict([[7, 6], [0, 40]]).tolist()
    [1, -1]
    """

    KINDS: ClassVar[tuple[str, ...]] = tuple(kind.name.lower() for kind in PointKind)

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "eps": [Interval(Real, 0, None, closed="neither")],
        "min_samples": MIN_SAMPLES,
        "metric": [StrOptions(METRIC_NAMES), callable],
        "metric_params": [dict, None],
        "algorithm": [StrOptions({"auto", "ball_tree", "kd_tree", "brute"})],
        "leaf_size": [Interval(Integral, 1, None, closed="left")],
        "p": [Interval(Real, 0, None, closed="both"), None],
        "n_jobs": N_JOBS,
        "count_neighbors": ["boolean"],
        "trace": ["boolean"],
        "memory_budget": [Interval(Real, 0, None, closed="neither"), None],
        "callback": [callable, None],
    }

    def __init__(
        self,
        eps: float = 0.5,
        *,
        min_samples: int = 5,
        metric: Any = "euclidean",
        metric_params: dict[str, Any] | None = None,
        algorithm: str = "auto",
        leaf_size: int = 30,
        p: float | None = None,
        n_jobs: int | None = None,
        count_neighbors: bool = False,
        trace: bool = False,
        memory_budget: float | None = None,
        callback: Callable[[DensityEvent], object] | None = None,
    ) -> None:
        self.eps = eps
        self.min_samples = min_samples
        self.metric = metric
        self.metric_params = metric_params
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.p = p
        self.n_jobs = n_jobs
        self.count_neighbors = count_neighbors
        self.trace = trace
        self.memory_budget = memory_budget
        self.callback = callback

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self.metric == "precomputed"
        return tags

    @fitting
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> DBSCAN:
        """Cluster the rows of X.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
            Rows to cluster, or distances for ``metric="precomputed"``. float32 and float64 in C
            order are used where they lie.
        y : Ignored
            For scikit-learn's pipelines.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weights of the rows, of any sign. A row of weight 3 counts as three points nearby; one
            of weight `min_samples` is a core point by itself; a negative weight can keep its
            neighbours from being core points.

        Returns
        -------
        self : DBSCAN
        """
        tell = teller(self.callback)
        eps = checked_eps(self.eps)
        X, metric, team = self._checked(X, reset=True)
        weights = check_weights(sample_weight, X.shape[0], signed=True)
        tell("check")
        weights, min_samples = scaled_weights(weights, self.min_samples)
        options = SearchOptions(
            metric=metric,
            eps=eps,
            min_samples=min_samples,
            weights=weights,
            counts=bool(self.count_neighbors),
            trace=bool(self.trace),
            allowed=Allowance(self.memory_budget),
            team=team,
            step=tell,
        )
        self._adopt(options, *cluster(X, options))
        if self.trace:
            tell("trace")
        return self

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> Labels:
        """Fit, and return the labels: ``fit(X).labels_``.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`.

        Returns
        -------
        labels : ndarray of shape (n_samples,), int64
        """
        labels: Labels = self.fit(X, sample_weight=sample_weight).labels_
        return labels

    def predict(self, X: Any) -> Labels:
        """The lowest-numbered cluster with a core point at most `eps` away; -1 if there is none.

        This is the rule by which border points join, so ``predict`` of the rows of the fit gives
        ``labels_``.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features) or (n_samples, n_fitted)
            For ``metric="precomputed"``: distances to the points of the fit.

        Returns
        -------
        labels : ndarray of shape (n_samples,), int64
        """
        check_is_fitted(self)
        X, metric, team = self._checked(X, reset=False)
        labels: Labels = self.labels_[self.core_sample_indices_]
        if not len(labels):
            return np.full(X.shape[0], NOISE, dtype=np.int64)
        eps = getattr(self, "_eps", float(self.eps))
        if metric.name == "precomputed":
            if sparse.issparse(X):
                return predict_graph(X, self.core_sample_indices_, labels, eps)
            return predict_supplied(X, self.core_sample_indices_, labels, metric, eps, team)
        allowed = Allowance(self.memory_budget)
        return predict_rows(X, self.components_, labels, metric, eps, allowed, team)

    # Inside

    @property
    def _metric_of_fit(self) -> Metric:
        """The metric of the last fit: parameters may have been set since."""
        now = Metric.of(self.metric, self.p, self.metric_params)  # for models of older versions
        name, p = getattr(self, "_metric", now.name), getattr(self, "_p", now.p)
        return Metric(name, p, self._metric_params)

    def _checked(self, X: Any, *, reset: bool) -> tuple[Any, Metric, _native.Team]:
        metric = (
            Metric.of(self.metric, self.p, self.metric_params) if reset else self._metric_of_fit
        )
        X = check_rows(self, X, reset=reset)
        metric.check(X)
        size = X.nnz if sparse.issparse(X) else X.size
        team = team_for(self.n_jobs, WORK_PER_VALUE * size)
        names = getattr(self, "feature_names_in_", None)
        finite_extent(X, team, names)
        if metric.name == "precomputed":
            check_distances(X, square=reset)
        elif not metric.native:
            metric = completed(metric, X, names) if reset else metric
        if not metric.native:  # one thread: the user's function may have threads of its own
            team = _native.Team(1)
        return X, metric, team

    def _adopt(self, options: SearchOptions, result: DbscanResult, points: CorePoints) -> None:
        self.labels_ = result.labels.astype(np.int64, copy=False)
        self.core_sample_indices_ = points.indices
        self.components_ = points.rows
        self.kind_ = points.kind
        self.n_clusters_ = result.n_clusters
        self.index_, self.index_reason_ = result.index, result.why
        metric = options.metric
        self._eps, self._metric, self._p = options.eps, metric.name, metric.p
        self._metric_params = metric.parameters
        for name in ("n_neighbors_", "trace_"):
            self.__dict__.pop(name, None)
        if options.counts:
            self.n_neighbors_ = result.counts
        if options.trace and result.depths is not None:
            self.trace_ = waves(self.labels_, result.depths)
