"""What silhouette rows without any groups would reach: the measure of "there are no clusters"."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from coterie.choosing.sampling import comfortable, sample_rows
from coterie.choosing.silhouettes import silhouettes
from coterie.estimators import KMeans

ROWS = 1500


def silhouette_without_groups(X: Any, k: int, random_state: Any) -> float | None:
    """The mean silhouette of k-means on rows spread evenly over a box around the data.

    The box follows the principal directions of X, as in the gap statistic of Tibshirani, Walther
    and Hastie. None for sparse rows, whose box would not be sparse.
    """
    if sparse.issparse(X):
        return None
    random = check_random_state(random_state)
    chosen = sample_rows(X.shape[0], ROWS, random)
    rows = comfortable(X if chosen is None else X[chosen])
    rows = rows - rows.mean(axis=0)
    _, _, directions = np.linalg.svd(rows, full_matrices=False)
    turned = rows @ directions.T
    even = random.uniform(turned.min(axis=0), turned.max(axis=0), size=turned.shape)
    if k >= len(even):
        return None
    labels = KMeans(k, random_state=int(random.randint(2**31 - 1)), n_jobs=1).fit_predict(even)
    return silhouettes(even, [labels], sample_size=None).means[0]
