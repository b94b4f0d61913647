"""DBSCANPath: DBSCAN for every eps at once. One fit gives the labels of any eps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from coterie.algorithms.dbscan.every_eps import LEAST_REACH, build_path
from coterie.arrays import Floats
from coterie.estimators.dbscan.estimator import WORK_PER_VALUE
from coterie.estimators.dbscan.events import DensityEvent, teller
from coterie.estimators.dbscan.units import checked_eps, finite_extent
from coterie.estimators.fitting import fitting
from coterie.estimators.memory_budget import Allowance
from coterie.estimators.threads import team_for
from coterie.estimators.units import Reach
from coterie.estimators.validation import MIN_SAMPLES, N_JOBS, check_rows, refuse_other_than_numbers
from coterie.kernels import _native
from coterie.kernels.block import Block
from coterie.kernels.dbscan_path_steps import METRICS

Labels = NDArray[np.int64]
Counts = NDArray[np.int64]

# Exponents of two, in the units of the kernels:
SPREAD = 100  # of the widest column, about
LARGEST_VALUE = 1000  # of the largest value
PER_ROW = 128  # bytes of each row while a fit runs, beyond coordinates and lists
PER_NEIGHBOUR = 12  # a distance and a row
MOST_VALUES = 256  # of eps in a curve, unless they are given
REMEDY = "Give fewer rows, a smaller min_samples, or a larger memory_budget."


@dataclass(frozen=True)
class PathCurve:
    """Numbers of clusters and points at several eps; arrays of one length."""

    eps: Floats  # increasing
    n_clusters: Counts
    n_core: Counts  # core points
    n_noise: Counts  # points in no cluster
    largest: Counts  # points of the largest cluster, 0 if there is none

    def __len__(self) -> int:
        return len(self.eps)


class DBSCANPath(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """DBSCAN for every `eps` at once: ``labels(eps)`` gives the labels of ``DBSCAN(eps)``, the same
    for border points too, without another pass over the data.

    A fit finds the nearest points of each point and a minimum spanning tree under mutual
    reachability (Campello et al. 2015). They hold the clusters of all eps, for a choice of eps or
    for a slider over it.

    Parameters
    ----------
    min_samples : int, default=5
        As in :class:`DBSCAN`: a point with at least this many points nearby, itself included, is a
        core point.
    metric : {"euclidean", "manhattan", "chebyshev"}, default="euclidean"
        The distance of points.
    n_jobs : int or None, default=None
        Threads, as in :class:`DBSCAN`.
    memory_budget : float or None, default=None
        Bytes that a fit may take beyond X. None: the memory that the system has available. A fit
        that would need more raises MemoryError before it begins.
    callback : callable or None, default=None
        Called with a :class:`DensityEvent` after each step of a fit: "check", "index", "nearest",
        "span".

    Attributes
    ----------
    core_distances_ : ndarray of shape (n_samples,)
        The smallest `eps` at which each point is a core point; infinite if there are fewer than
        `min_samples` points. In order, this is the k-distance curve.
    member_distances_ : ndarray of shape (n_samples,)
        The smallest `eps` at which each point is in a cluster, as a core or a border point.
    merge_distances_ : ndarray of shape (n_samples - 1,)
        The `eps` at which clusters merge: the edges of the spanning tree, increasing.
    n_features_in_ : int
        Columns of X.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, if X had names that are all strings.

    Notes
    -----
    Distances are those of :class:`DBSCAN`, bit for bit, and are kept in the form that it compares:
    so ties at `eps` are decided alike. The structure takes ``12 * (min_samples - 1) + 28`` bytes a
    point, and a fit somewhat more. It does not depend on the number of threads.

    Distances below about 1e-160 of the extent of the data count as zero, and smaller `eps` are
    refused.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie import DBSCANPath
    >>> X = np.array([[1, 2], [2, 2], [2, 3], [8, 7], [8, 8], [25, 80]])
    >>> path = DBSCANPath(min_samples=2).fit(X)
    >>> path.labels(eps=3).tolist()
    [0, 0, 0, 1, 1, -1]
    >>> path.labels(eps=8).tolist()
    [0, 0, 0, 0, 0, -1]
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "min_samples": MIN_SAMPLES,
        "metric": [StrOptions(set(METRICS))],
        "n_jobs": N_JOBS,
        "memory_budget": [Interval(Real, 0, None, closed="neither"), None],
        "callback": [callable, None],
    }

    def __init__(
        self,
        min_samples: int = 5,
        *,
        metric: str = "euclidean",
        n_jobs: int | None = None,
        memory_budget: float | None = None,
        callback: Callable[[DensityEvent], object] | None = None,
    ) -> None:
        self.min_samples = min_samples
        self.metric = metric
        self.n_jobs = n_jobs
        self.memory_budget = memory_budget
        self.callback = callback

    @fitting
    def fit(self, X: Any, y: Any = None) -> DBSCANPath:
        """Find the structure that gives the clusters of every eps.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to cluster. float32 and float64 in C order are used where they lie.
        y : Ignored
            For scikit-learn's pipelines.

        Returns
        -------
        self : DBSCANPath
        """
        tell = teller(self.callback)
        X = check_rows(self, X, reset=True, accept_sparse=False)
        team = team_for(self.n_jobs, WORK_PER_VALUE * X.size)
        reach = Reach.of(finite_extent(X, team, getattr(self, "feature_names_in_", None)))
        needed = fit_bytes(X.shape[0], X.shape[1], int(self.min_samples))
        Allowance(self.memory_budget, "DBSCANPath").refuse_beyond(needed, REMEDY)
        tell("check")
        block = Block.over(X, None, team)
        path = build_path(block, self.metric, unit_of(reach), int(self.min_samples), tell)
        self._path = path
        self._least_eps = 0.0 if reach.spread is None else LEAST_REACH / path.unit
        self.core_distances_ = path.distances(path.near.core)
        self.member_distances_ = path.distances(path.near.member)
        self.merge_distances_ = path.distances(np.sort(path.chain.height)[:-1])
        return self

    def labels(self, eps: float) -> Labels:
        """The labels of ``DBSCAN(eps, min_samples=min_samples).fit(X)``.

        Parameters
        ----------
        eps : float
            Two points are nearby if their distance is at most `eps`.

        Returns
        -------
        labels : ndarray of shape (n_samples,), int64
            The cluster of each row, -1 for noise.
        """
        check_is_fitted(self)
        labels, _ = self._path.labels(self._checked(eps), self._team())
        return labels

    def core(self, eps: float) -> NDArray[np.bool_]:
        """True for the points that are core points at `eps`.

        Parameters
        ----------
        eps : float
            Two points are nearby if their distance is at most `eps`.

        Returns
        -------
        core : ndarray of shape (n_samples,), bool
        """
        check_is_fitted(self)
        flags: NDArray[np.bool_] = self._path.core(self._checked(eps))
        return flags

    def changes(self) -> Floats:
        """Every `eps` at which a point becomes a core point or joins a cluster, or clusters merge.

        Each is the smallest float64 with which :class:`DBSCAN` gives that change.

        Returns
        -------
        eps : ndarray of shape (n_changes,)
            Increasing.
        """
        check_is_fitted(self)
        return self._path.changes()

    def curve(self, eps: Any = None) -> PathCurve:
        """Numbers of clusters, core points, noise and points of the largest cluster, by `eps`.

        Parameters
        ----------
        eps : array-like of shape (n_eps,) or None, default=None
            Values of `eps`; each costs as much as `labels`. None: all `changes()`, or 256 of them,
            evenly spaced in their order, if there are more.

        Returns
        -------
        curve : PathCurve
        """
        check_is_fitted(self)
        if eps is None:
            wanted = self._path.changes()
            wanted = wanted[wanted > self._least_eps]
            if len(wanted) > MOST_VALUES:
                wanted = wanted[np.linspace(0, len(wanted) - 1, MOST_VALUES).round().astype(int)]
        else:
            refuse_other_than_numbers(eps, "eps", "values of eps")
            given = np.asarray(eps).ravel().tolist()
            wanted = np.sort(np.array([self._checked(one) for one in given], dtype=np.float64))
        clusters, core, member = self._path.counts(wanted)
        team = self._team()
        largest = [self._largest(one, team) for one in wanted]
        return PathCurve(
            eps=wanted,
            n_clusters=clusters,
            n_core=core,
            n_noise=len(self.core_distances_) - member,
            largest=np.array(largest, dtype=np.int64),
        )

    # Inside

    def _largest(self, eps: float, team: _native.Team) -> int:
        labels, _ = self._path.labels(eps, team)
        return int(np.bincount(labels + 1)[1:].max(initial=0))

    def _team(self) -> _native.Team:
        return team_for(self.n_jobs, int(self._path.near.sums.size))

    def _checked(self, eps: Any) -> float:
        number = checked_eps(eps)
        if number < self._least_eps:
            raise ValueError(
                f"eps={number:g}: expected at least {self._least_eps:.3g}. Squares of smaller "
                "distances vanish beside the extent of these data. Use DBSCAN(eps), which has no "
                "such limit."
            )
        return number


def unit_of(reach: Reach) -> float:
    """A power of two as a unit in which squares of differences neither overflow nor vanish.

    It changes no digit of the values.
    """
    exponent = LARGEST_VALUE - reach.value
    if reach.spread is not None:
        exponent = min(exponent, SPREAD - reach.spread)
    return float(np.ldexp(1.0, min(max(exponent, -LARGEST_VALUE), LARGEST_VALUE)))


def fit_bytes(n: int, d: int, min_samples: int) -> float:
    """Peak memory of a fit beyond X: two float64 copies at most, neighbours, and `PER_ROW`."""
    k = min(min_samples, n) - 1
    return float(n * (2 * 8 * d + PER_NEIGHBOUR * k + PER_ROW))
