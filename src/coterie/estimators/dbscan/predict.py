"""Labels of new rows: the lowest-numbered cluster with a core point nearby."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from coterie.algorithms.dbscan.dbscan import NOISE
from coterie.algorithms.dbscan.supplied_neighbours import Rows, batches
from coterie.estimators.dbscan.metrics import Metric
from coterie.estimators.dbscan.pairwise import (
    Comparison,
    Flags,
    near_entries,
    pairwise,
    sparse_pairs,
)
from coterie.estimators.dbscan.search import comparable, dense, takes_kernels
from coterie.estimators.dbscan.units import comparable_rows
from coterie.estimators.memory_budget import Allowance
from coterie.kernels import _native
from coterie.kernels.block import Block
from coterie.kernels.dbscan_steps import reach

Labels = NDArray[np.int64]
FAR = np.iinfo(np.int64).max


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


def predict_supplied(
    X: Any, cores: Any, labels: Labels, metric: Metric, eps: float, team: _native.Team
) -> Labels:
    """`predict_rows` without kernels.

    cores : the core points, or for a matrix of distances their indices.
    """
    if metric.name == "precomputed":
        by = Comparison(partial(_near_in_matrix, columns=cores, eps=eps), len(cores))
    elif metric.native:  # too large to be dense
        X, cores = (comparable(sparse.csr_array(rows), metric) for rows in (X, cores))
        by = sparse_pairs(cores, eps, metric.name)
    else:
        X, _ = comparable_rows(X, metric, eps, team)
        cores, eps = comparable_rows(cores, metric, eps, team)
        by = pairwise(cores, eps, metric.name, metric.parameters, "core point")
    found = np.full(X.shape[0], NOISE, dtype=np.int64)
    for rows in batches(np.arange(X.shape[0]), by.batch_rows):
        flags = by.near(X, rows)
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
