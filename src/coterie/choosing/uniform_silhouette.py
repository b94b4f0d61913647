"""The silhouette that rows without any groups would reach: no better means no clusters."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from coterie.choosing.sampling import centred_and_scaled, sample_rows
from coterie.choosing.silhouettes import silhouettes
from coterie.estimators import KMeans

ROWS = 1500  # of the even spread


def silhouette_of_uniform_rows(X: Any, k: int, random_state: Any) -> float | None:
    """Mean silhouette of k-means on rows spread evenly over a box around the data.

    The box follows the principal directions of X, as in the gap statistic of Tibshirani, Walther
    and Hastie. None for sparse rows, whose box would not be sparse.
    """
    if sparse.issparse(X):
        return None
    random = check_random_state(random_state)
    chosen = sample_rows(X.shape[0], ROWS, random)
    rows = centred_and_scaled(X if chosen is None else X[chosen])
    rows = rows - rows.mean(axis=0)
    _, _, directions = np.linalg.svd(rows, full_matrices=False)
    along_axes = rows @ directions.T
    even = random.uniform(along_axes.min(axis=0), along_axes.max(axis=0), size=along_axes.shape)
    if k >= len(even):
        return None
    labels = KMeans(k, random_state=int(random.randint(2**31 - 1)), n_jobs=1).fit_predict(even)
    return silhouettes(even, [labels], sample_size=None).means[0]
