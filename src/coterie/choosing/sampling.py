"""Rows, samples, distances and labels, as all functions that choose need them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.metrics import pairwise_distances
from sklearn.utils import check_random_state
from sklearn.utils.random import sample_without_replacement

from coterie.arrays import Floats
from coterie.estimators import GaussianMixture, KMeans
from coterie.estimators.kmeans.prepared import look_at
from coterie.estimators.mixture.prepared import look_at_rows
from coterie.estimators.threads import team_for
from coterie.estimators.validation import check_rows

Rows = NDArray[np.intp]
DIRECT = {"euclidean", "cityblock", "manhattan", "l1", "l2", "chebyshev"}  # no digits cancel
NAMES = {"manhattan": "cityblock", "l1": "cityblock", "l2": "euclidean"}
VALUES_AT_ONCE = 1 << 22
FEW_OF_MANY = 50  # times the sample: from here on NumPy would take long to shuffle all rows


def checked_rows(X: Any, n_jobs: int | None = None, *, gaps: bool = False) -> Any:
    """Check X as the estimators do; return an array or a CSR matrix of finite numbers.

    gaps : whether cells may be missing, as NaN; then X is dense.
    """
    door = KMeans()
    checked = check_rows(
        door, X, reset=True, accept_sparse=False if gaps else "csr", masked_is_missing=gaps
    )
    names = getattr(door, "feature_names_in_", None)
    team = team_for(n_jobs, checked.size)
    if gaps:
        look_at_rows(checked, marginal=True, team=team, names=names)
    else:
        look_at(checked, directions=False, team=team, names=names)
    return checked


def takes_gaps(model: Any) -> bool:
    """Return whether a model clusters rows with missing cells."""
    return isinstance(model, GaussianMixture) and model.missing == "marginal"


def sample_rows(n: int, size: int | None, random_state: Any) -> Rows | None:
    """Draw rows that stand for all: `size` of n in ascending order; None: all rows."""
    if size is None or size >= n:
        return None
    random = check_random_state(random_state)
    if n > FEW_OF_MANY * size:
        chosen: Rows = sample_without_replacement(n, size, random_state=random)
    else:
        chosen = random.choice(n, size, replace=False)
    return np.sort(chosen)


def centred_and_scaled(X: Any) -> Any:
    """Return dense rows as float64 about their middle, times a power of two: squares are safe.

    Ratios of distances stay as they are, and no digit is lost to a far offset.
    """
    if sparse.issparse(X):
        return X
    X = np.asarray(X, dtype=np.float64)
    low, high = X.min(axis=0), X.max(axis=0)
    X = X / 2 - (low / 4 + high / 4)
    return np.ldexp(X, -int(np.frexp(np.abs(X).max(initial=0.0))[1]))


def row_keys(X: Any) -> NDArray[np.void]:
    """Bytes of each dense row, (n,), equal if the values are: fast to sort, however wide."""
    rows = np.ascontiguousarray(X) + 0.0  # one zero, not two
    return rows.view(np.dtype((np.void, rows.shape[1] * rows.itemsize))).ravel()


def distances(A: Any, B: Any, metric: Any = "euclidean") -> Floats:
    """Distances of all pairs, (a, b), by direct differences if the metric allows it."""
    if not sparse.issparse(A) and isinstance(metric, str) and metric in DIRECT:
        found: Floats = cdist(A, B, NAMES.get(metric, metric))
        return found
    return np.asarray(pairwise_distances(A, B, metric=metric), dtype=np.float64)


def chunks(n: int, per_row: int) -> Iterator[slice]:
    """Yield slices of n rows that make about four million values each."""
    step = max(1, VALUES_AT_ONCE // max(per_row, 1))
    for begin in range(0, n, step):
        yield slice(begin, min(n, begin + step))


def labels_given(values: Any, n: int) -> Rows:
    """Check labels that were given instead of a model: whole numbers, one for each of n rows."""
    labels = np.asarray(values)
    if labels.shape != (n,) or labels.dtype.kind not in "iu":
        raise ValueError(
            f"expected a model, or integer labels of shape ({n},), got "
            f"{type(values).__name__} of shape {labels.shape} and dtype {labels.dtype}"
        )
    return labels.astype(np.intp)


def labels_of(model: Any, X: Any, n: int) -> Rows:
    """Labels of n rows: those of the fit if it had as many rows, predicted otherwise."""
    labels = getattr(model, "labels_", None)
    if labels is None or len(labels) != n:
        if not hasattr(model, "predict"):
            remedy = "pass labels of your own, such as path.labels(eps) of a DBSCANPath"
            raise TypeError(
                f"expected a model that has a label for each of the {n} rows or can predict "
                f"them, got {type(model).__name__}; {remedy}"
            )
        labels = model.predict(X)
    return np.asarray(labels, dtype=np.intp)


def unwrapped(model: Any, X: Any) -> tuple[Any, Any]:
    """Return the estimator and the rows as it sees them: a loaded model may carry a scaling."""
    if hasattr(model, "estimator") and hasattr(model, "rows"):
        return model.estimator, model.rows(X)
    return model, X
