"""Faults of a fit, and changes that may help: a file of checks for each method, and one for rows.

A check looks at a `Case` and yields a `Diagnosis` where it finds something. Begin with `diagnose`
below; `case.py` is used by all checks. The folder may use `choosing` and the estimators.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sklearn.utils.validation import check_is_fitted

from coterie.choosing import arguments
from coterie.choosing.diagnose import data, dbscan, kmeans, mixture
from coterie.choosing.diagnose.case import Case, Diagnosis
from coterie.choosing.sampling import checked_rows, labels_of, takes_gaps, unwrapped
from coterie.estimators import DBSCAN, GaussianMixture, KMeans

__all__ = ["Diagnosis", "diagnose"]


def diagnose(model: Any, X: Any) -> tuple[Diagnosis, ...]:
    """Look for common faults of a fitted model and of its rows.

    Parameters
    ----------
    model : KMeans, GaussianMixture, DBSCAN or a loaded model
        Fitted.
    X : array-like or CSR matrix of shape (n_samples, n_features)
        The rows of the fit; with missing cells as NaN for a mixture that takes them.

    Returns
    -------
    diagnoses : tuple of Diagnosis
        The gravest first; empty if nothing was found. Every number in them was measured.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie import KMeans, diagnose
    >>> X = np.array([[1.0, 1e6], [2.0, 5e6], [3.0, 2e6], [4.0, 7e6]])
    >>> for diagnosis in diagnose(KMeans(2, random_state=0).fit(X), X):
    ...     print(diagnosis)
    columns differ in scale by 2e+06 (column 1 against column 0), so the first alone decides: \
scale them, for example with StandardScaler
    """
    model, X = unwrapped(model, X)
    arguments.model(model, "diagnose")
    check_is_fitted(model)
    rows = checked_rows(X, getattr(model, "n_jobs", None), gaps=takes_gaps(model))
    names = getattr(model, "feature_names_in_", None)
    return tuple(_diagnoses(Case(model, rows, labels_of(model, X, rows.shape[0]), names)))


def _diagnoses(case: Case) -> Iterator[Diagnosis]:
    """Diagnoses of the fit first, then of the rows."""
    if isinstance(case.model, DBSCAN):
        yield from dbscan.diagnoses(case)
    elif isinstance(case.model, GaussianMixture):
        yield from mixture.diagnoses(case)
    elif isinstance(case.model, KMeans):
        yield from kmeans.diagnoses(case)
    yield from data.diagnoses(case)
