"""The number of clusters: fits for every candidate, criteria, the pick and its reason in words."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.utils import check_random_state

from coterie.algorithms.mixture.covariance import FAMILIES
from coterie.choosing import arguments
from coterie.choosing.k_candidates import candidates_of
from coterie.choosing.k_criteria import CRITERIA, pick_by_each, pick_with_reason
from coterie.choosing.sampling import checked_rows
from coterie.choosing.silhouettes import silhouettes
from coterie.choosing.uniform_silhouette import silhouette_of_uniform_rows
from coterie.estimators import GaussianMixture, KMeans
from coterie.formatting import text_table
from coterie.interruptible import interruptible

MOST_RESTARTS = 1_000_000
FEW_COLUMNS = 100  # up to so many, full covariances are quick
ITERATIONS = 10  # of a usual fit
EIGENVECTORS = 50  # times d^3 operations, with the roots made from them
MOST_WORK = 1e12  # operations, which take about a minute


@dataclass(frozen=True)
class KRow:
    """Figures of one number of clusters. None: does not apply."""

    k: int
    error: float  # clustering error, or soft clustering error of a mixture
    explained: float | None  # part of the error of one cluster that is gone (k-means)
    silhouette: float | None  # mean
    stability: float | None  # mean adjusted Rand index of other restarts with the best
    bic: float | None
    aic: float | None
    icl: float | None
    n_iter: int
    converged: bool
    seconds: float


@dataclass(frozen=True, eq=False)
class KChoice:
    """A table of candidates, the pick, and the reason for it."""

    k: int
    reason: str
    criterion: str  # the one that decided
    method: str  # "kmeans" or "mixture"
    picks: Mapping[str, int]  # by criterion: the k that it alone would take
    rows: tuple[KRow, ...]
    sample: int | None  # rows whose silhouettes stand for all; None: exact
    models: Mapping[int, Any] = field(repr=False)  # fitted, the best of the restarts, by k

    @property
    def model(self) -> Any:
        """The fitted estimator of the pick."""
        return self.models[self.k]

    def table(self) -> dict[str, list[Any]]:
        """Columns that apply to the method, with one entry per candidate."""
        names = ("k", "error", "explained", "silhouette", "stability", "bic", "aic", "icl")
        columns = {name: [getattr(row, name) for row in self.rows] for name in names}
        known = {name for name in names if any(v is not None for v in columns[name])}
        return {name: columns[name] for name in names if name in known}

    def __str__(self) -> str:
        mark = [row.k for row in self.rows].index(self.k)
        return f"{text_table(self.table(), mark)}\n\n{self.reason}"


def choose_k(
    X: Any,
    k: int | tuple[int, int] | Iterable[int] | None = None,
    *,
    method: str = "kmeans",
    criterion: str = "auto",
    n_restarts: int = 4,
    sample_size: int | None = 5000,
    covariance_type: str | None = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
    callback: Callable[[int, int, int], object] | None = None,
) -> KChoice:
    """Fit every candidate number of clusters and pick one, with a reason.

    Parameters
    ----------
    X : array-like or CSR matrix of shape (n_samples, n_features)
        Rows, scaled as for the fit to come.
    k : int, (low, high), iterable of int or None, default=None
        Candidates: 1 to k, low to high, or those listed. None: 1 to 10, or to the number of
        different rows if that is smaller.
    method : {"kmeans", "mixture"}, default="kmeans"
    criterion : {"auto", "silhouette", "knee", "stability", "bic", "aic", "icl"}, default="auto"
        The criterion that decides. "auto": BIC for mixtures; for k-means the silhouette, and one
        cluster if rows without any groups would reach the same silhouette.
    n_restarts : int, default=4
        Fits for each candidate. The best is kept; its stability is the agreement of the others.
    sample_size : int or None, default=5000
        Rows whose silhouettes stand for all when there are more; None: exact, quadratic in n.
    covariance_type : {"full", "tied", "diag", "spherical"} or None, default=None
        Of mixtures. None: "full", or "diag" if full covariances of more than 100 columns would
        take minutes; the reason says so.
    random_state : int, RandomState instance or None, default=0
        Seed of the fits and of the sample.
    n_jobs : int or None, default=None
        Threads of each fit.
    callback : callable or None, default=None
        Called as ``callback(done, total, k)`` after each candidate.

    Returns
    -------
    KChoice
    """
    arguments.one_of(method, "method", CRITERIA)
    arguments.one_of(criterion, "criterion", ("auto", *CRITERIA[method]))
    if covariance_type is not None:
        arguments.one_of(covariance_type, "covariance_type", FAMILIES)
    n_restarts = arguments.whole(n_restarts, "n_restarts", "4 is the default", most=MOST_RESTARTS)
    sample_size = arguments.sample_size(sample_size)
    arguments.seed(random_state)
    arguments.threads(n_jobs, "choose_k")
    arguments.callback(callback, "done, total, k")
    if method == "mixture" and sparse.issparse(X):
        raise TypeError(
            "X is sparse: expected dense rows for a mixture, whose covariances are dense; use "
            "method='kmeans', fewer columns (for example by TruncatedSVD), or X.toarray()"
        )
    rows = checked_rows(X)
    candidates = candidates_of(k, rows)
    too_wide = covariance_type is None and _takes_minutes(rows.shape, candidates, n_restarts)
    covariance_type = covariance_type or ("diag" if too_wide else "full")
    random = check_random_state(random_state)
    seeds = random.randint(2**31 - 1, size=n_restarts)
    fits: list[_Fits] = []
    for number in candidates:
        plain = _estimator(method, number, covariance_type, n_jobs)
        fits.append(_Fits.of(plain, X, number, seeds))
        if callback is not None:
            callback(len(fits), len(candidates), number)
    looked = silhouettes(
        rows, [fit.labels for fit in fits], sample_size=sample_size, random_state=random
    )
    first = fits[0].error if candidates[0] == 1 else None
    table = tuple(
        fit.row(rows, first, silhouette) for fit, silhouette in zip(fits, looked.means, strict=True)
    )
    picks = pick_by_each(table, method)

    def of_uniform_rows(number: int) -> float | None:
        return silhouette_of_uniform_rows(rows, number, random)

    pick, decided, reason = pick_with_reason(
        table, picks, method, criterion, looked.sample, of_uniform_rows
    )
    if method == "mixture" and too_wide:
        reason += (
            f" Covariances are diagonal: full ones of {rows.shape[1]:,} columns would take minutes"
            " (covariance_type='full' fits them)."
        )
    models = {fit.k: fit.model for fit in fits}
    return KChoice(pick, reason, decided, method, picks, table, looked.sample, models)


@dataclass(frozen=True)
class _Fits:
    """Restarts for one k."""

    k: int
    model: Any  # of the restart with the smallest error
    labels: NDArray[np.intp]
    stability: float | None
    seconds: float

    @classmethod
    def of(cls, plain: Any, X: Any, k: int, seeds: NDArray[np.int64]) -> _Fits:
        began = time.perf_counter()
        best, labels, others = None, None, []
        # One cluster has one answer.
        for seed in seeds[:1] if k == 1 else seeds:
            model = clone(plain).set_params(random_state=int(seed))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)  # the table tells
                found = np.asarray(model.fit_predict(X), dtype=np.intp)
            others.append(found)
            if best is None or _error(model) < _error(best):
                best, labels = model, found
        agreement = [
            interruptible(adjusted_rand_score, labels, other)
            for other in others
            if other is not labels
        ]
        stability = float(np.mean(agreement)) if agreement else None
        assert labels is not None
        return cls(k, best, labels, stability, time.perf_counter() - began)

    @property
    def error(self) -> float:
        return _error(self.model)

    def row(self, X: Any, error_of_one: float | None, silhouette: float | None) -> KRow:
        mixture = hasattr(self.model, "bic")
        explained = None
        if error_of_one and not mixture:
            explained = 1.0 - self.error / error_of_one
        return KRow(
            k=self.k,
            error=self.error,
            explained=explained,
            silhouette=silhouette,
            stability=self.stability,
            bic=self.model.bic(X) if mixture else None,
            aic=self.model.aic(X) if mixture else None,
            icl=self.model.icl(X) if mixture else None,
            n_iter=int(self.model.n_iter_),
            converged=bool(self.model.converged_),
            seconds=self.seconds,
        )


def _takes_minutes(shape: tuple[int, int], candidates: list[int], n_restarts: int) -> bool:
    """Return True where mixtures with full covariances of these columns take very many operations.

    Each component costs a product of the rows in each iteration, and where it has fewer rows than
    columns the eigenvectors of its matrix too.
    """
    n, d = shape
    if d <= FEW_COLUMNS:
        return False
    work = 0.0
    for k in candidates:
        of_a_component = float(n) * d**2 + (EIGENVECTORS * float(d) ** 3 if n < k * d else 0.0)
        work += ITERATIONS * k * of_a_component * (1 if k == 1 else n_restarts)
    return work > MOST_WORK


def _estimator(method: str, k: int, covariance_type: str, n_jobs: int | None) -> Any:
    if method == "kmeans":
        return KMeans(k, n_jobs=n_jobs)
    return GaussianMixture(k, covariance_type=covariance_type, n_jobs=n_jobs)


def _error(model: Any) -> float:
    name = "clustering_error_" if hasattr(model, "clustering_error_") else "soft_clustering_error_"
    return float(getattr(model, name))
