"""The definition of every answer in plain NumPy, slow and readable.

Every kernel, engine, thread count and instruction set must give these answers. There is a file per
method, to be read beside the paper: begin with `kmeans.py`. These files use NumPy and Python
integers, and nothing else of this package.
"""

from coterie.kernels.reference.arithmetic import exact_mean_variance, exact_squares
from coterie.kernels.reference.columns import interleave
from coterie.kernels.reference.dbscan import Clusters, clusters, dbscan, nearby
from coterie.kernels.reference.dbscan_path import Thresholds, thresholds
from coterie.kernels.reference.kmeans import (
    Answer,
    k_means,
    nearest,
    squared_distances,
    updated_means,
)
from coterie.kernels.reference.kmeans_seeding import (
    D2Sampler,
    distinct_points,
    hash_row,
    kmeans_parallel,
    kmeans_plusplus,
    mix,
    principal,
    random_points,
    word,
)
from coterie.kernels.reference.mixture import (
    Mixture,
    SoftAnswer,
    degrees,
    estimates,
    in_family,
    log_densities,
    soft_clustering,
    soft_clustering_error,
)

__all__ = [
    "Answer",
    "Clusters",
    "D2Sampler",
    "Mixture",
    "SoftAnswer",
    "Thresholds",
    "clusters",
    "dbscan",
    "degrees",
    "distinct_points",
    "estimates",
    "exact_mean_variance",
    "exact_squares",
    "hash_row",
    "in_family",
    "interleave",
    "k_means",
    "kmeans_parallel",
    "kmeans_plusplus",
    "log_densities",
    "mix",
    "nearby",
    "nearest",
    "principal",
    "random_points",
    "soft_clustering",
    "soft_clustering_error",
    "squared_distances",
    "thresholds",
    "updated_means",
    "word",
]
