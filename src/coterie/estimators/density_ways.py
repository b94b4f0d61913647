"""Which way an input goes: native kernels, or neighbourhoods some rows at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from coterie.algorithms.density import NOISE, density, kinds_of
from coterie.algorithms.growth import Nearby, Rows, grow, portions
from coterie.algorithms.waves import depths_of
from coterie.estimators.budget import Allowance
from coterie.estimators.density_units import comparable_rows
from coterie.estimators.directions import unit_rows
from coterie.estimators.metrics import SPARSE_METRICS, Metric
from coterie.estimators.nearby import (
    Flags,
    Graph,
    Near,
    by_matrix,
    by_pairs,
    pairwise,
    rows_at_once,
    sparse_pairs,
)
from coterie.estimators.pieces import picked
from coterie.kernels import _native
from coterie.kernels.block import Block
from coterie.kernels.neighbourhoods import core_rows, reach

Labels = NDArray[np.int64]
Kept = tuple[NDArray[np.uint8], NDArray[np.intp], Any]  # kinds, core rows, a copy of them
FAR = np.iinfo(np.int64).max
PER_ROW = 60  # bytes that the kernels take for each row beyond copies of it


@dataclass(frozen=True)
class Found:
    """Clusters, whoever found them."""

    labels: Labels
    kind: NDArray[np.uint8]  # `PointKind` of each row
    cores: NDArray[np.intp]  # the core rows
    components: Any  # a copy of them
    n_clusters: int
    counts: Labels | None
    index: str
    why: str  # this index
    depths: NDArray[np.intp] | None


@dataclass(frozen=True)
class Question:
    """What is asked of the rows."""

    eps: float
    min_samples: float  # in the unit of the weights
    weights: NDArray[np.float64] | None
    counts: bool
    trace: bool
    team: _native.Team
    step: Callable[[str], object]


def native_bytes(X: Any) -> float:
    """Peak memory of the kernels beyond X: two copies at most, and some numbers a row."""
    n, d = X.shape
    copies = 3 if sparse.issparse(X) else 2
    return float(n * (copies * d * X.dtype.itemsize + PER_ROW))


def copied_bytes(X: Any) -> float:
    """A copy of all rows, which is what components_ may be, and some numbers a row."""
    stored = X.nnz * (X.dtype.itemsize + X.indices.itemsize) if sparse.issparse(X) else X.nbytes
    return float(stored + X.shape[0] * PER_ROW)


def goes_native(X: Any, metric: Metric, allowed: Allowance) -> bool:
    """Sparse rows go as dense ones if that takes little of the room, or if it is the only way."""
    if not metric.native or not sparse.issparse(X):
        return metric.native
    return metric.name not in SPARSE_METRICS or native_bytes(X) <= allowed.bytes / 4


def find_native(X: Any, metric: Metric, ask: Question) -> Found:
    rows, eps = comparable_rows(dense(X), metric, ask.eps, ask.team)
    block = Block.over(rows, ask.weights, ask.team)
    measure = metric.measure(eps)
    run = density(block, measure, ask.min_samples, counts=ask.counts, step=ask.step)
    kept: Kept = core_rows(block, run.core, run.labels) if rows is X else _kept(X, run)
    depths = depths_of(rows, run, measure, ask.team) if ask.trace else None
    return Found(run.labels, *kept, run.n_clusters, run.counts, run.index, run.why, depths)


def find_grown(X: Any, by: tuple[Nearby, str, str], room: float, ask: Question) -> Found:
    nearby, name, why = by
    run = grow(nearby, ask.min_samples, ask.weights, room=room, step=ask.step)
    depths = run.depths if ask.trace else None
    return Found(run.labels, *_kept(X, run), run.n_clusters, run.counts, name, why, depths)


def _kept(X: Any, run: Any) -> Kept:
    """What `core_rows` gives, for rows that are in no block."""
    cores = np.flatnonzero(run.core)
    return kinds_of(run.labels, run.core), cores, picked(X, cores)


def supplied(X: Any, metric: Metric, eps: float, team: _native.Team) -> tuple[Nearby, str, str]:
    """Neighbourhoods of rows that no kernel takes, a name for the way, and why it is taken."""
    if metric.name == "precomputed":
        if sparse.issparse(X):
            return Graph.within(X, eps), "graph", "the distances are given"
        return by_matrix(X, eps), "matrix", "the distances are given"
    if sparse.issparse(X):
        rows = comparable(X, metric)
        by_product = by_pairs(rows, sparse_pairs(rows, eps, metric.name))
        return by_product, "sparse", "dense rows would take too much memory"
    rows, eps = comparable_rows(X, metric, eps, team)
    by_function = by_pairs(rows, pairwise(rows, eps, metric.name, metric.parameters))
    return by_function, "pairwise", "the metric has no kernel of ours"


def comparable(X: Any, metric: Metric) -> Any:
    """Sparse rows as float64, of length one for cosine distance."""
    return unit_rows(X, zeros=True) if metric.name == "cosine" else X.astype(np.float64)


def reach_rows(
    X: Any,
    cores: Any,
    labels: Labels,
    metric: Metric,
    eps: float,
    allowed: Allowance,
    team: _native.Team,
) -> Labels:
    """The lowest-numbered cluster with one of these core points nearby each row of X, or -1."""
    if not all(goes_native(rows, metric, allowed) for rows in (X, cores)):
        return reach_supplied(X, cores, labels, metric, eps, team)
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


def reach_supplied(
    X: Any, cores: Any, labels: Labels, metric: Metric, eps: float, team: _native.Team
) -> Labels:
    """cores : rows, or for a matrix of distances the places of the core points."""
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
    for rows in portions(np.arange(X.shape[0]), rows_at_once(len(labels))):
        flags = near(X, rows)
        lowest = np.where(flags, labels, FAR).min(axis=1)
        found[rows] = np.where(flags.any(axis=1), lowest, NOISE)
    return found


def reach_graph(D: Any, cores: NDArray[np.intp], labels: Labels, eps: float) -> Labels:
    """Rows of a sparse graph: stored distances to the points of the fit, others are far."""
    of_column = np.full(D.shape[1], FAR)
    of_column[cores] = labels
    row_of = np.repeat(np.arange(D.shape[0]), np.diff(D.indptr))
    near = D.data <= eps
    lowest = np.full(D.shape[0], FAR)
    np.minimum.at(lowest, row_of[near], of_column[D.indices[near]])
    return np.where(lowest == FAR, NOISE, lowest)


def _near_in_matrix(D: NDArray[Any], rows: Rows, columns: Rows, eps: float) -> Flags:
    flags: Flags = D[np.ix_(rows, columns)] <= eps
    return flags
