"""What a file holds of each estimator: one small table each.

The name in the file is a key of this table, never a class to import. To add an estimator, list its
fitted attributes with their kinds; parameters are stored by their names and checked by the
estimator itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from coterie.algorithms.restarts import RunRecord
from coterie.algorithms.results import Iteration
from coterie.estimators import KMeans
from coterie.models.kinds import Array, Count, Kind, Names, Number, Plain, Records

FLAG, WORDS = Plain(bool), Plain(str)
MEANS = Array("f8", ("k", "d"))
COLUMNS: dict[str, Kind] = {"n_features_in_": Count(1), "feature_names_in_": Names("d")}


@dataclass(frozen=True)
class Schema:
    """One estimator: its name in files, its class, its fitted attributes."""

    name: str
    estimator: Callable[..., Any]
    attributes: Mapping[str, Kind]
    optional: frozenset[str] = frozenset(["feature_names_in_"])  # not every fit leaves these
    passing: frozenset[str] = frozenset(["callback"])  # parameters of a fit, not of a model


ITERATION: dict[str, Kind] = {
    "error": Number(),
    "moved": Count(),
    "largest_move": Number(),
    "seconds": Number(),
    "active": Count(),
}

RUN: dict[str, Kind] = {
    "seed": Count(None),
    "initial_means": MEANS,
    "means": MEANS,
    "inertia": Number(),
    "clustering_error": Number(),
    "n_iter": Count(),
    "converged": FLAG,
    "stopped": WORDS,
    "seconds": Number(),
    "history": Records(Iteration, ITERATION),
}

KMEANS = Schema(
    "kmeans",
    KMeans,
    {
        "cluster_centers_": MEANS,
        "labels_": Array("i4", ("n",), low=0, high="k"),
        "inertia_": Number(0.0),
        "clustering_error_": Number(0.0),
        "n_iter_": Count(),
        "active_": Array("b1", ("k",)),
        "counts_": Array("f8", ("k",), low=0.0),
        "converged_": FLAG,
        "stopped_": WORDS,
        "history_": Records(Iteration, ITERATION),
        "runs_": Records(RunRecord, RUN),
        **COLUMNS,
        "_n_features_out": Count(1),
        "_exponent": Count(None),
    },
)

SCHEMAS: dict[str, Schema] = {schema.name: schema for schema in (KMEANS,)}
