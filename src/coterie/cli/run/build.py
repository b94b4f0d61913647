"""Estimators as the options of the command line say, and those that a choice has measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sklearn.base import clone

from coterie.cli.methods_table import DensityOptions, MeansOptions, MixtureOptions
from coterie.estimators import DBSCAN, GaussianMixture, KMeans

OF_A_RESTART = {"random_state", "n_init", "missing"}  # in which a restart differs from the whole

if TYPE_CHECKING:
    from coterie.choosing import KChoice
    from coterie.data import Dataset


@dataclass(frozen=True)
class Running:
    """Seed, threads and gaps, which every method takes."""

    seed: int
    threads: int | None
    gaps: bool  # whether cells may be missing

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> Running:
        return cls(options["seed"], options["threads"], options.get("missing") == "keep")

    @property
    def random(self) -> dict[str, Any]:
        return {"random_state": self.seed, "n_jobs": self.threads}


@dataclass(frozen=True)
class ChosenK:
    """A number of clusters, the reason, and whether all rows were looked at."""

    choice: KChoice
    reason: str
    whole: bool


def metric_for(data: Dataset, asked: str | None) -> str:
    """As asked for; of texts only the direction counts."""
    return asked or ("cosine" if data.kind == "text" else "euclidean")


def kmeans(k: int, own: MeansOptions, data: Dataset, running: Running) -> KMeans:
    return KMeans(
        k,
        init=own.init,
        n_init=1 if own.init == "principal" else own.runs,
        max_iter=own.max_iter,
        max_seconds=own.max_seconds,
        metric=metric_for(data, own.metric),
        **running.random,
    )


def mixture(k: int, own: MixtureOptions, data: Dataset, running: Running) -> GaussianMixture:
    return GaussianMixture(
        k,
        covariance_type=own.covariance,
        tol=own.tol,
        reg_covar=own.floor,
        max_iter=own.max_iter,
        n_init=own.runs,
        max_seconds=own.max_seconds,
        accelerate=own.accelerate,
        missing="marginal" if running.gaps else "error",
        **running.random,
    )


def dbscan(eps: float, own: DensityOptions, data: Dataset, running: Running) -> DBSCAN:
    metric = metric_for(data, own.metric)
    return DBSCAN(eps, min_samples=own.min_samples, metric=metric, n_jobs=running.threads)


def measured(chosen: ChosenK, plain: KMeans | GaussianMixture) -> Any:
    """Return an estimator whose fit gives the very model that was measured for a choice.

    Its seed is that of the best restart, and the same seed gives the same bits. Where a sample was
    looked at, the fit of all rows goes on from what was found there. `plain` is what the options
    ask for, and is returned where a choice measures something else.
    """
    found = chosen.choice.model
    asked, looked_at = plain.get_params(deep=False), found.get_params(deep=False)
    if any(asked[name] != looked_at[name] for name in set(asked) - OF_A_RESTART):
        return plain
    if chosen.whole:
        return clone(found)
    return plain.set_params(n_init=1, **_start(found))


def _start(found: Any) -> dict[str, Any]:
    """Return the parameters with which a fit goes on from a model."""
    if isinstance(found, KMeans):
        return {"init": found.cluster_centers_}
    return {
        "weights_init": found.weights_,
        "means_init": found.means_,
        "precisions_init": found.precisions_,
    }
