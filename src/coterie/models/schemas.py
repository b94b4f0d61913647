"""Contents of a model file: one small table for each estimator.

The name in the file is a key of this table, never a class to import. To add an estimator, list its
fitted attributes with their kinds; parameters are stored by their names and checked by the
estimator itself.
"""

from __future__ import annotations

from coterie.algorithms.dbscan.every_eps import Path
from coterie.algorithms.kmeans.records import Iteration, RunRecord
from coterie.algorithms.mixture.records import Mixture, MixtureIteration, MixtureRun
from coterie.estimators import DBSCAN, DBSCANPath, GaussianMixture, KMeans
from coterie.kernels.dbscan_path_steps import Chain, Nearest
from coterie.kernels.mixture_steps import Standardization
from coterie.models import consistency
from coterie.models.fields import (
    Array,
    Count,
    Kind,
    Names,
    Number,
    Plain,
    Record,
    Rows,
    Sequence,
    Table,
)
from coterie.models.schema import Nested, Parameter, Schema

MOST_POWER = 2500  # of two, between any two float64
FLAG, WORDS = Plain(bool), Plain(str)
MEANS = Array("f8", ("k", "d"))
COLUMNS: dict[str, Kind] = {"n_features_in_": Count(1), "feature_names_in_": Names("d")}

# k-means

HISTORY = Sequence(
    Record(
        Iteration,
        {
            "error": Number(),
            "moved": Count(),
            "largest_move": Number(),
            "seconds": Number(),
            "active": Count(),
        },
    )
)

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
    "history": HISTORY,
}

KMEANS_SCHEMA = Schema(
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
        "history_": HISTORY,
        "runs_": Sequence(Record(RunRecord, RUN)),
        **COLUMNS,
        "_n_features_out": Count(1),
        "_exponent": Count(-MOST_POWER, MOST_POWER),
        "_metric": WORDS,
    },
    optional=frozenset(["feature_names_in_", "_metric"]),  # older files have no metric of the fit
    inconsistency=consistency.of_kmeans,
)

# Gaussian mixtures

WEIGHTS = Array("f8", ("k",), low=0.0)
COVARIANCES = Array("f8", None)  # their shape depends on the covariance type
MIXTURE: dict[str, Kind] = {"weights": WEIGHTS, "means": MEANS, "covariances": COVARIANCES}

MIXTURE_HISTORY = Sequence(
    Record(
        MixtureIteration,
        {
            "error": Number(),
            "decrease": Number(),
            "largest_move": Number(),
            "seconds": Number(),
            "sweeps": Count(),
        },
    )
)

MIXTURE_RUN: dict[str, Kind] = {
    **MIXTURE,
    "precisions_cholesky": COVARIANCES,
    "soft_clustering_error": Number(),
    "log_likelihood": Number(),
    "n_iter": Count(),
    "converged": FLAG,
    "stopped": WORDS,
    "history": MIXTURE_HISTORY,
    "notes": Sequence(WORDS),
    "seconds": Number(),
    "start": Record(Mixture, MIXTURE),
}


MIXTURE_SCHEMA = Schema(
    "gaussian_mixture",
    GaussianMixture,
    {
        "weights_": WEIGHTS,
        "means_": MEANS,
        "covariances_": COVARIANCES,
        "precisions_": COVARIANCES,
        "precisions_cholesky_": COVARIANCES,
        "converged_": FLAG,
        "n_iter_": Count(),
        "lower_bound_": Number(),
        "lower_bounds_": Sequence(Number(), list),
        "soft_clustering_error_": Number(),
        "stopped_": WORDS,
        "history_": MIXTURE_HISTORY,
        "runs_": Sequence(Record(MixtureRun, MIXTURE_RUN)),
        **COLUMNS,
        "_covariance_type": WORDS,
        "_fixed": Sequence(WORDS),
        "_frame": Record(
            Standardization,
            {
                "origin": Array("f8", ("d",)),
                "exponent": Array("i4", ("d",), low=-MOST_POWER, high=MOST_POWER),
            },
        ),
    },
    optional=frozenset(["feature_names_in_", "_covariance_type", "_fixed"]),  # not in older files
    parameters={"init_params": Nested(KMEANS_SCHEMA), "fixed": Sequence(WORDS)},
    inconsistency=consistency.of_mixture,
)

# DBSCAN


DBSCAN_SCHEMA = Schema(
    "dbscan",
    DBSCAN,
    {
        "labels_": Array("i8", ("n",), low=-1),
        "core_sample_indices_": Array("i8", ("c",), low=0, high="n"),
        "components_": Rows(("c", "d")),
        "kind_": Array("u1", ("n",), high=2),
        "n_clusters_": Count(),
        "n_neighbors_": Array("i8", ("n",), low=0),
        "index_": WORDS,
        "index_reason_": WORDS,
        **COLUMNS,
        "_metric_params": Table(Parameter()),
        "_eps": Number(0.0),
        "_metric": Parameter(),
        "_p": Number(0.0),
    },
    # Older files have no metric and eps of the fit.
    optional=frozenset(
        [
            "components_",
            "n_neighbors_",
            "index_reason_",
            "feature_names_in_",
            "_eps",
            "_metric",
            "_p",
        ]
    ),
    parameters={"metric_params": Table(Parameter())},
    inconsistency=consistency.of_dbscan,
    # components_ are n x c distances, and predict takes those of new rows
    left_out=lambda model: (
        {"components_"} if model._metric_of_fit.name == "precomputed" else set()
    ).union({"_metric"} if callable(model._metric_of_fit.name) else set()),
)

# DBSCAN for every eps


REACH = Array("f8", ("n",), low=0.0, finite=False)

DBSCAN_PATH_SCHEMA = Schema(
    "dbscan_path",
    DBSCANPath,
    {
        "_path": Record(
            Path,
            {
                "near": Record(
                    Nearest,
                    {
                        "core": REACH,
                        "member": REACH,
                        "sums": Array("f8", ("n", "k"), low=0.0, finite=False),
                        "neighbours": Array("i4", ("n", "k"), low=-1, high="n"),
                    },
                ),
                "chain": Record(
                    Chain, {"order": Array("i4", ("n",), low=0, high="n"), "height": REACH}
                ),
                "metric": WORDS,
                "unit": Number(0.0),
                "seconds": Table(Number()),
            },
        ),
        "_least_eps": Number(0.0),
        "core_distances_": REACH,
        "member_distances_": REACH,
        "merge_distances_": Array("f8", ("merges",), low=0.0, finite=False),
        **COLUMNS,
    },
    inconsistency=consistency.of_path,
)

SCHEMAS: dict[str, Schema] = {
    schema.name: schema
    for schema in (KMEANS_SCHEMA, MIXTURE_SCHEMA, DBSCAN_SCHEMA, DBSCAN_PATH_SCHEMA)
}
