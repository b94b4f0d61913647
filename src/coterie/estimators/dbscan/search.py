"""The search for neighbours: by native kernels, or supplied some rows at a time.

Native kernels take dense rows of the metrics that they know. All other inputs are compared in
NumPy and SciPy.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from coterie.algorithms.dbscan.dbscan import NOISE, DbscanResult, density, kinds_of
from coterie.algorithms.dbscan.supplied_neighbours import Nearby, Rows, batches
from coterie.algorithms.dbscan.trace import depths_of
from coterie.estimators.cosine import unit_rows
from coterie.estimators.dbscan.metrics import SPARSE_METRICS, Metric
from coterie.estimators.dbscan.pairwise import (
    Flags,
    Graph,
    Near,
    by_matrix,
    by_pairs,
    near_entries,
    pairwise,
    rows_at_once,
    sparse_pairs,
)
from coterie.estimators.dbscan.units import comparable_rows
from coterie.estimators.memory_budget import Allowance
from coterie.estimators.pieces import picked
from coterie.kernels import _native
from coterie.kernels.block import Block
from coterie.kernels.dbscan_steps import CorePoints, core_points, reach

Labels = NDArray[np.int64]
FAR = np.iinfo(np.int64).max
PER_ROW = 60  # bytes that the kernels take for each row beyond copies of it


@dataclass(frozen=True)
class SearchOptions:
    """The parameters of a fit, checked, and its team of threads."""

    eps: float
    min_samples: float  # in the unit of the weights
    weights: NDArray[np.float64] | None
    counts: bool
    trace: bool
    team: _native.Team
    step: Callable[[str], object]


def native_bytes(X: Any) -> float:
    """Peak memory of the kernels beyond X: at most two copies, and `PER_ROW` bytes a row."""
    n, d = X.shape
    copies = 3 if sparse.issparse(X) else 2
    return float(n * (copies * d * X.dtype.itemsize + PER_ROW))


def copied_bytes(X: Any) -> float:
    """Memory of a copy of all rows, the largest components_, and `PER_ROW` bytes a row."""
    stored = X.nnz * (X.dtype.itemsize + X.indices.itemsize) if sparse.issparse(X) else X.nbytes
    return float(stored + X.shape[0] * PER_ROW)


def takes_kernels(X: Any, metric: Metric, allowed: Allowance) -> bool:
    """True if native kernels search: sparse rows are made dense if that takes little memory, or if
    there is no other way."""
    if not metric.native or not sparse.issparse(X):
        return metric.native
    return metric.name not in SPARSE_METRICS or native_bytes(X) <= allowed.bytes / 4


def cluster_natively(
    X: Any, metric: Metric, options: SearchOptions
) -> tuple[DbscanResult, CorePoints]:
    """Clusters by native kernels, of dense rows or of rows that are made dense."""
    team = options.team
    rows, eps = comparable_rows(dense(X), metric, options.eps, team)
    block = Block.over(rows, options.weights, team)
    measure = metric.measure(eps)
    result = density(block, measure, options.min_samples, counts=options.counts, step=options.step)
    if options.trace:
        result = replace(result, depths=depths_of(rows, result, measure, team))
    if rows is X:
        return result, core_points(block, result.core, result.labels)
    return result, core_points_of(X, result)


def core_points_of(X: Any, result: DbscanResult) -> CorePoints:
    """`core_points` of rows that are in no block."""
    indices = np.flatnonzero(result.core)
    return CorePoints(kinds_of(result.labels, result.core), indices, picked(X, indices))


def neighbours_of(X: Any, metric: Metric, eps: float, team: _native.Team) -> Nearby:
    """Neighbourhoods of rows that no kernel takes."""
    if metric.name == "precomputed":
        return Graph.within(X, eps) if sparse.issparse(X) else by_matrix(X, eps)
    if sparse.issparse(X):
        rows = comparable(X, metric)
        near = sparse_pairs(rows, eps, metric.name)
        return by_pairs(rows, near, "sparse", "dense rows would take too much memory")
    rows, eps = comparable_rows(X, metric, eps, team)
    near = pairwise(rows, eps, metric.name, metric.parameters)
    return by_pairs(rows, near, "pairwise", "the metric has no kernel of ours")


def comparable(X: Any, metric: Metric) -> Any:
    """Sparse rows as float64, of length one for cosine distance."""
    return unit_rows(X, zeros=True) if metric.name == "cosine" else X.astype(np.float64)


def predict_rows(
    X: Any,
    cores: Any,
    labels: Labels,
    metric: Metric,
    eps: float,
    allowed: Allowance,
    team: _native.Team,
) -> Labels:
    """The lowest-numbered cluster with one of these core points nearby each row of X, or -1."""
    if not all(takes_kernels(rows, metric, allowed) for rows in (X, cores)):
        return predict_supplied(X, cores, labels, metric, eps, team)
    (cores, eps_there), (X, _) = (
        comparable_rows(dense(rows), metric, eps, team) for rows in (cores, X)
    )
    dtype = np.result_type(X.dtype, cores.dtype)
    blocks = [
        Block.over(np.ascontiguousarray(rows, dtype=dtype), None, team) for rows in (cores, X)
    ]
    return reach(blocks[0], labels, blocks[1], metric.measure(eps_there))


def dense(X: Any) -> NDArray[Any]:
    rows: NDArray[Any] = X.toarray() if sparse.issparse(X) else X
    return rows


def predict_supplied(
    X: Any, cores: Any, labels: Labels, metric: Metric, eps: float, team: _native.Team
) -> Labels:
    """`predict_rows` without kernels.

    cores : the core points, or for a matrix of distances their indices.
    """
    near: Near
    if metric.name == "precomputed":
        near = partial(_near_in_matrix, columns=cores, eps=eps)
    elif metric.native:  # too large to be dense
        X, cores = (comparable(sparse.csr_array(rows), metric) for rows in (X, cores))
        near = sparse_pairs(cores, eps, metric.name)
    else:
        X, _ = comparable_rows(X, metric, eps, team)
        cores, eps = comparable_rows(cores, metric, eps, team)
        near = pairwise(cores, eps, metric.name, metric.parameters, "core point")
    found = np.full(X.shape[0], NOISE, dtype=np.int64)
    for rows in batches(np.arange(X.shape[0]), rows_at_once(len(labels))):
        flags = near(X, rows)
        lowest = np.where(flags, labels, FAR).min(axis=1)
        found[rows] = np.where(flags.any(axis=1), lowest, NOISE)
    return found


def predict_graph(D: Any, cores: NDArray[np.intp], labels: Labels, eps: float) -> Labels:
    """`predict_rows` of a sparse graph of distances to the points of the fit; others are far."""
    of_column = np.full(D.shape[1], FAR)
    of_column[cores] = labels
    lowest = np.full(D.shape[0], FAR)
    for rows, row_of, near in near_entries(D, eps):
        columns = D.indices[D.indptr[rows.start] : D.indptr[rows.stop]]
        np.minimum.at(lowest, row_of[near], of_column[columns[near]])
    return np.where(lowest == FAR, NOISE, lowest)


def _near_in_matrix(D: NDArray[Any], rows: Rows, columns: Rows, eps: float) -> Flags:
    flags: Flags = D[np.ix_(rows, columns)] <= eps
    return flags
