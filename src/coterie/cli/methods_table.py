"""The methods: a word for people, names in commands and files, and options with their defaults.

Every command takes its defaults from here, so that a method does the same wherever it is asked for.
Nothing heavy is imported: help must come at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Self


@dataclass(frozen=True)
class Options:
    """Options of a method: the fields are the options of its command."""

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Self:
        """Take the options of this method out of those of a command."""
        return cls(**{f.name: given[f.name] for f in fields(cls) if f.name in given})


@dataclass(frozen=True)
class MeansOptions(Options):
    clusters: int | None = None  # None: chosen
    init: str = "k-means++"
    runs: int = 4
    max_iter: int = 300
    max_seconds: float | None = None
    metric: str | None = None  # None: as suits the data


@dataclass(frozen=True)
class MixtureOptions(Options):
    clusters: int | None = None
    covariance: str = "full"
    runs: int = 4
    max_iter: int = 100
    max_seconds: float | None = None
    tol: float = 1e-3
    floor: float | None = None
    accelerate: bool = False


@dataclass(frozen=True)
class DensityOptions(Options):
    eps: float | None = None  # None: chosen
    min_samples: int = 5
    metric: str | None = None


@dataclass(frozen=True)
class Method:
    """One way of clustering."""

    command: str  # and its name in JSON
    label: str  # for people
    estimator: str  # the class
    stored: str  # in files of models
    options: type[Options]


TABLE = (
    Method("kmeans", "k-means", "KMeans", "kmeans", MeansOptions),
    Method("mixture", "mixture", "GaussianMixture", "gaussian_mixture", MixtureOptions),
    Method("dbscan", "DBSCAN", "DBSCAN", "dbscan", DensityOptions),
)
METHODS = {method.command: method for method in TABLE}
STORED = {method.stored: method.label for method in TABLE} | {"dbscan_path": "DBSCAN for every eps"}


def label_of(command: str) -> str:
    """Return the word for people."""
    return METHODS[command].label


def method_of(estimator: Any) -> str:
    """Return the command of a fitted estimator's method."""
    name = type(estimator).__name__
    return next(method.command for method in TABLE if method.estimator == name)
