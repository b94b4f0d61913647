"""Silhouettes (Rousseeuw 1987): a row is nearer to its own cluster, or to the next one.

For a row with mean distance a to the others of its cluster, and b to the rows of the nearest other
cluster, the silhouette is (b - a) / max(a, b); 0 for a row alone. Noise takes no part.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.preprocessing import normalize

from coterie.arrays import Floats
from coterie.choosing import arguments
from coterie.choosing.sampling import (
    Rows,
    centred_and_scaled,
    checked_rows,
    chunks,
    distances,
    labels_given,
    sample_rows,
)


@dataclass(frozen=True, eq=False)
class Silhouettes:
    """Silhouettes of all rows or of a sample, for one or more labellings."""

    rows: Rows | None  # of a sample; None: all
    values: tuple[Floats, ...]  # (m,) for each labelling; NaN for noise, and for a single cluster
    labels: tuple[NDArray[np.intp], ...]  # (m,) of the same rows

    @property
    def means(self) -> tuple[float | None, ...]:
        """Mean silhouette of each labelling; None: fewer than two clusters."""
        return tuple(
            float(np.nanmean(values)) if np.isfinite(values).any() else None
            for values in self.values
        )

    @property
    def sample(self) -> int | None:
        """Number of rows that stand for all; None: the silhouettes are exact."""
        return None if self.rows is None else len(self.rows)


def silhouettes(
    X: Any,
    labellings: Sequence[ArrayLike],
    *,
    metric: Any = "euclidean",
    sample_size: int | None = 5000,
    random_state: Any = 0,
) -> Silhouettes:
    """Silhouettes of all labellings, in one pass over the distances.

    Parameters
    ----------
    X : array or CSR matrix (n, d)
        Rows, or for ``metric="precomputed"`` their distances, (n, n).
    labellings : sequence of arrays (n,)
        Clusters as numbers; -1 is noise.
    metric : str or callable, default="euclidean"
        "cosine" compares directions: rows are scaled to length one.
    sample_size : int or None, default=5000
        With more rows than this, a random sample of rows among themselves stands for all.
        None: all rows, whose number squared is the cost.
    random_state : int, RandomState instance or None, default=0
        Seed of the sample.
    """
    sample_size = arguments.sample_size(sample_size)
    arguments.metric(metric, "silhouettes")
    arguments.seed(random_state)
    listed = _labellings(labellings)
    X = checked_rows(X)
    n = X.shape[0]
    checked = [labels_given(_whole(labels), n) for labels in listed]
    if isinstance(metric, str) and metric == "precomputed" and X.shape[1] != n:
        raise ValueError(
            f"X has shape {X.shape}: expected metric='precomputed' with a square matrix of the "
            "distances between all rows; pass the rows with another metric"
        )
    chosen = sample_rows(n, sample_size, random_state)
    take: Any = slice(None) if chosen is None else chosen
    kept = tuple(labels[take] for labels in checked)
    return Silhouettes(chosen, _measure(X, take, kept, metric), kept)


def _labellings(labellings: Any) -> list[Any]:
    if isinstance(labellings, str | bytes) or not isinstance(labellings, Iterable):
        raise TypeError(
            "expected labellings to be a list of label arrays, got "
            f"{type(labellings).__name__}; pass one labelling as [labels]"
        )
    return list(labellings)


def _whole(labels: Any) -> Any:
    """Return labels as integers if they are whole numbers of another type."""
    values = np.asarray(labels)
    if values.dtype.kind in "bf" and (values == np.floor(values)).all():
        return values.astype(np.intp)
    return labels


@dataclass(frozen=True)
class _Groups:
    """Clusters of one labelling, ready for sums of distances."""

    member: Any  # (m, clusters) sparse: one for each row in its cluster, nothing for noise
    column: Rows  # (m,) of the own cluster; 0 for noise
    noise: NDArray[np.bool_]  # (m,)
    sizes: Floats  # (clusters,)

    @classmethod
    def of(cls, labels: Rows) -> _Groups:
        inside = np.flatnonzero(labels >= 0)
        present, places = np.unique(labels[inside], return_inverse=True)
        shape = (len(labels), len(present))
        member = sparse.csc_array((np.ones(len(inside)), (inside, places)), shape)
        column = np.zeros(len(labels), dtype=np.intp)
        column[inside] = places
        sizes = np.bincount(places, minlength=len(present)).astype(np.float64)
        return cls(member, column, labels < 0, sizes)

    def silhouettes(self, apart: Floats, part: slice) -> Floats:
        """Silhouettes of the rows in `part`, whose distances to all rows are `apart`, (rows, m)."""
        totals, column = np.asarray(apart @ self.member), self.column[part]
        places, own_size = np.arange(len(apart)), self.sizes[column]
        within = totals[places, column] / np.maximum(own_size - 1, 1)
        others = totals / self.sizes
        others[places, column] = np.inf
        between = others.min(axis=1)
        larger = np.maximum(within, between)
        found: Floats = np.divide(
            between - within, larger, out=np.zeros(len(apart)), where=larger > 0
        )
        found[own_size == 1] = 0.0
        found[self.noise[part]] = np.nan
        return found


def _measure(X: Any, take: Any, labellings: tuple[Rows, ...], metric: Any) -> tuple[Floats, ...]:
    m = len(labellings[0]) if labellings else 0
    groups = [_Groups.of(labels) for labels in labellings]
    values = tuple(np.full(m, np.nan) for _ in labellings)
    given = isinstance(metric, str) and metric == "precomputed"
    rows = X[take]
    if isinstance(metric, str) and metric == "cosine":
        rows, metric = normalize(rows), "euclidean"
    if isinstance(metric, str) and metric == "euclidean":
        rows = centred_and_scaled(rows)
    for part in chunks(m, m):
        apart = rows[part][:, take] if given else distances(rows[part], rows, metric)
        for group, out in zip(groups, values, strict=True):
            if len(group.sizes) >= 2:
                out[part] = group.silhouettes(apart, part)
    return values
