"""`dbscan`: core points and labels in one call, as scikit-learn's function."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.estimators.dbscan.estimator import DBSCAN


def dbscan(
    X: Any,
    eps: float = 0.5,
    *,
    min_samples: int = 5,
    metric: Any = "minkowski",
    metric_params: dict[str, Any] | None = None,
    algorithm: str = "auto",
    leaf_size: int = 30,
    p: float | None = 2,
    sample_weight: Any = None,
    n_jobs: int | None = None,
) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
    """Core points and labels in one call, with the signature of scikit-learn's function.

    Parameters
    ----------
    X, sample_weight
        As for :meth:`DBSCAN.fit`.
    eps, min_samples, metric, metric_params, algorithm, leaf_size, p, n_jobs
        As for :class:`DBSCAN`.

    Returns
    -------
    core_samples : ndarray of shape (n_core_samples,)
        The indices of the rows that are core points.
    labels : ndarray of shape (n_samples,), int64
        The cluster of each row, -1 for noise.
    """
    model = DBSCAN(
        eps,
        min_samples=min_samples,
        metric=metric,
        metric_params=metric_params,
        algorithm=algorithm,
        leaf_size=leaf_size,
        p=p,
        n_jobs=n_jobs,
    ).fit(X, sample_weight=sample_weight)
    return model.core_sample_indices_, model.labels_
