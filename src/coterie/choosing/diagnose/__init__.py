"""What may be wrong with a fit, as objects: a code, a sentence, and what to change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from sklearn.utils.validation import check_is_fitted

from coterie.choosing import arguments
from coterie.choosing.diagnose import data, dbscan, kmeans, mixture
from coterie.choosing.diagnose.case import Case, Finding
from coterie.choosing.sampling import checked_rows, labels_of, takes_gaps, unwrapped
from coterie.estimators import DBSCAN, GaussianMixture, KMeans


@dataclass(frozen=True)
class Diagnosis:
    """One thing that a person should know about a fit, and could change."""

    code: str  # such as "mostly-noise"; stays the same in later versions
    sentence: str  # what was found
    change: str  # what to do
    parameters: Mapping[str, Any] = field(default_factory=dict)  # the change, for set_params

    def __str__(self) -> str:
        return f"{self.sentence}: {self.change}"


def diagnose(model: Any, X: Any) -> tuple[Diagnosis, ...]:
    """Look at a fitted model and its rows for what often goes wrong.

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
    case = Case(model, rows, labels_of(model, X, rows.shape[0]), names)
    return tuple(
        Diagnosis(found.code, found.sentence, found.change, dict(found.parameters))
        for found in _findings(case)
    )


def _findings(case: Case) -> Iterator[Finding]:
    """Of the method first, then of the data; one diagnosis that explains others comes alone."""
    if isinstance(case.model, DBSCAN):
        yield from dbscan.findings(case)
    elif isinstance(case.model, GaussianMixture):
        yield from mixture.findings(case)
    elif isinstance(case.model, KMeans):
        yield from kmeans.findings(case)
    yield from data.findings(case)
