"""The search for neighbours of a fit: by native kernels, or supplied some rows at a time.

Native kernels take dense rows of the metrics that they know. All other inputs are compared in
NumPy and SciPy.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from coterie.algorithms.dbscan.dbscan import DbscanResult, dbscan, kinds_of
from coterie.algorithms.dbscan.supplied_neighbours import Neighbours, grow_clusters
from coterie.algorithms.dbscan.trace import depths_of
from coterie.estimators.cosine import unit_rows
from coterie.estimators.dbscan.metrics import SPARSE_METRICS, Metric
from coterie.estimators.dbscan.pairwise import (
    GraphNeighbours,
    matrix_neighbours,
    pairwise,
    row_neighbours,
    sparse_pairs,
)
from coterie.estimators.dbscan.units import comparable_rows
from coterie.estimators.memory_budget import Allowance
from coterie.estimators.pieces import picked, pieces
from coterie.kernels import _native
from coterie.kernels.block import Block
from coterie.kernels.dbscan_steps import CorePoints, core_points

PER_ROW = 60  # bytes of the kernels for each row, beyond copies of it
REMEDY = "Give float32 rows, fewer rows, fewer columns, or a larger memory_budget."
REMEDY_GIVEN = "Give a sparse graph of the distances up to eps, or a larger memory_budget."


@dataclass(frozen=True)
class SearchOptions:
    """The checked parameters of a fit, with its memory and its team of threads."""

    metric: Metric
    eps: float
    min_samples: float  # in the unit of the weights
    weights: NDArray[np.float64] | None
    counts: bool
    trace: bool
    allowed: Allowance
    team: _native.Team
    step: Callable[[str], object]  # called with the name of each step that ended


def cluster(X: Any, options: SearchOptions) -> tuple[DbscanResult, CorePoints]:
    """Clusters of checked rows, or of given distances."""
    metric, allowed = options.metric, options.allowed
    if takes_kernels(X, metric, allowed):
        allowed.refuse_beyond(native_bytes(X), REMEDY)
        return _cluster_natively(X, options)
    if metric.name == "precomputed":  # components_ can be as large as the matrix
        allowed.refuse_beyond(copied_bytes(X), REMEDY_GIVEN)
    result = grow_clusters(
        neighbours_of(X, metric, options.eps, options.team),
        options.min_samples,
        options.weights,
        cache_bytes=allowed.bytes / 4,
        step=options.step,
    )
    return result, _core_points_of(X, result)


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


def _cluster_natively(X: Any, options: SearchOptions) -> tuple[DbscanResult, CorePoints]:
    """Clusters by native kernels, of dense rows or of rows that are made dense."""
    metric, team = options.metric, options.team
    rows, eps = comparable_rows(dense(X), metric, options.eps, team)
    block = Block.over(rows, options.weights, team)
    measure = metric.measure(eps)
    result = dbscan(block, measure, options.min_samples, counts=options.counts, step=options.step)
    if options.trace:
        result = replace(result, depths=depths_of(rows, result, measure, team))
    if rows is X:
        return result, core_points(block, result.core, result.labels)
    return result, _core_points_of(X, result)


def _core_points_of(X: Any, result: DbscanResult) -> CorePoints:
    """`core_points` of rows that are in no block."""
    indices = np.flatnonzero(result.core)
    return CorePoints(kinds_of(result.labels, result.core), indices, picked(X, indices))


def neighbours_of(X: Any, metric: Metric, eps: float, team: _native.Team) -> Neighbours:
    """Neighbourhoods of rows that no kernel takes."""
    if metric.name == "precomputed":
        return GraphNeighbours.within(X, eps) if sparse.issparse(X) else matrix_neighbours(X, eps)
    if sparse.issparse(X):
        rows = comparable(X, metric)
        by = sparse_pairs(rows, eps, metric.name)
        return row_neighbours(rows, by, "sparse", "dense rows would take too much memory")
    rows, eps = comparable_rows(X, metric, eps, team)
    by = pairwise(rows, eps, metric.name, metric.parameters)
    return row_neighbours(rows, by, "pairwise", "the metric has no native kernel")


def comparable(X: Any, metric: Metric) -> Any:
    """Sparse rows as float64, of length one for cosine distance."""
    return unit_rows(X, zeros=True) if metric.name == "cosine" else X.astype(np.float64)


def dense(X: Any) -> NDArray[Any]:
    """Dense rows, converted in pieces."""
    if not sparse.issparse(X):
        rows: NDArray[Any] = X
        return rows
    rows = np.empty(X.shape, dtype=X.dtype)
    for some in pieces(len(rows), X.shape[1] * rows.itemsize):
        X[some].toarray(out=rows[some])
    return rows
