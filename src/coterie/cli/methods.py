"""The methods: names for people and for files, options with their defaults, and their estimators.

Every command takes its defaults from this table, so that a method does the same in all of them.
Nothing heavy is imported at the top: help must come at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from coterie.cli.records import Record

if TYPE_CHECKING:
    from coterie.data import Dataset


@dataclass(frozen=True)
class Running(Record):
    """Seed, threads and gaps, which every method takes."""

    seed: int = 0
    threads: int | None = None
    missing: str | None = None

    @property
    def gaps(self) -> bool:
        """Empty cells of a table stay empty."""
        return self.missing == "keep"


@dataclass(frozen=True)
class MethodOptions(Record):
    """Options of one method: the fields are the options of its command."""

    @property
    def size(self) -> Any:
        """The number of clusters, or eps; None if it is to be chosen."""
        raise NotImplementedError

    def estimator(self, size: Any, data: Dataset, running: Running) -> Any:
        """Return the estimator that these options describe."""
        raise NotImplementedError


@dataclass(frozen=True)
class KMeansOptions(MethodOptions):
    clusters: int | None = None  # None: chosen
    init: str = "k-means++"
    runs: int = 4
    max_iter: int = 300
    max_seconds: float | None = None
    metric: str | None = None  # None: as suits the data

    @property
    def size(self) -> int | None:
        return self.clusters

    def estimator(self, size: int, data: Dataset, running: Running) -> Any:
        from coterie.estimators import KMeans

        check_rows(size, len(data))
        return KMeans(
            size,
            init=self.init,
            n_init=1 if self.init == "principal" else self.runs,
            max_iter=self.max_iter,
            max_seconds=self.max_seconds,
            metric=metric_for(data, self.metric),
            random_state=running.seed,
            n_jobs=running.threads,
        )


@dataclass(frozen=True)
class MixtureOptions(MethodOptions):
    clusters: int | None = None
    covariance: str = "full"
    runs: int = 4
    max_iter: int = 100
    max_seconds: float | None = None
    tol: float = 1e-3
    floor: float | None = None
    accelerate: bool = False

    @property
    def size(self) -> int | None:
        return self.clusters

    def estimator(self, size: int, data: Dataset, running: Running) -> Any:
        from coterie.estimators import GaussianMixture

        check_rows(size, len(data))
        return GaussianMixture(
            size,
            covariance_type=self.covariance,
            tol=self.tol,
            reg_covar=self.floor,
            max_iter=self.max_iter,
            n_init=self.runs,
            max_seconds=self.max_seconds,
            accelerate=self.accelerate,
            missing="marginal" if running.gaps else "error",
            random_state=running.seed,
            n_jobs=running.threads,
        )


@dataclass(frozen=True)
class DBSCANOptions(MethodOptions):
    eps: float | None = None  # None: chosen
    min_samples: int = 5
    metric: str | None = None

    @property
    def size(self) -> float | None:
        return self.eps

    def estimator(self, size: float, data: Dataset, running: Running) -> Any:
        from coterie.estimators import DBSCAN

        metric = metric_for(data, self.metric)
        return DBSCAN(size, min_samples=self.min_samples, metric=metric, n_jobs=running.threads)


def check_rows(k: int, n: int) -> None:
    """Refuse more clusters than rows."""
    if k > n:
        raise ValueError(
            f"expected at least one row per cluster, got {n} rows for {k} clusters. Use -k {n} or "
            "fewer, or give more rows."
        )


def metric_for(data: Dataset, asked: str | None) -> str:
    """Return the metric asked for; by default cosine for texts, of which only directions count."""
    return asked or ("cosine" if data.kind == "text" else "euclidean")


@dataclass(frozen=True)
class Method:
    """One way of clustering."""

    command: str  # and its name in JSON
    label: str  # for people
    estimator: str  # the class
    stored: str  # in files of models
    options: type[MethodOptions]


TABLE = (
    Method("kmeans", "k-means", "KMeans", "kmeans", KMeansOptions),
    Method("mixture", "mixture", "GaussianMixture", "gaussian_mixture", MixtureOptions),
    Method("dbscan", "DBSCAN", "DBSCAN", "dbscan", DBSCANOptions),
)
METHODS = {method.command: method for method in TABLE}
STORED = {method.stored: method.label for method in TABLE} | {"dbscan_path": "DBSCAN for every eps"}


def label_of(command: str) -> str:
    """Return the name of a method for people."""
    return METHODS[command].label


def method_of(estimator: Any) -> str:
    """Return the command of a fitted estimator's method."""
    name = type(estimator).__name__
    return next(method.command for method in TABLE if method.estimator == name)
