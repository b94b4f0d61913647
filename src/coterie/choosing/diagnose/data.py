"""Diagnoses of the rows: columns of unlike scale, many copies of one row."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from coterie.choosing.diagnose.case import Case, Diagnosis
from coterie.choosing.sampling import row_keys, sample_rows
from coterie.choosing.spreads import spreads
from coterie.estimators import GaussianMixture
from coterie.estimators.threads import effective_threads
from coterie.formatting import number, share
from coterie.remedies import Remedy

UNLIKE = 100.0  # ratio of standard deviations
MANY_COPIES = 0.3  # of the rows
LOOKED_AT = 20_000


def diagnoses(case: Case) -> Iterator[Diagnosis]:
    """Diagnoses of dense rows. Rare words and empty rows of texts are no fault."""
    if sparse.issparse(case.X):
        return
    yield from _unlike_scales(case)
    yield from _copies(case)


def _units_matter(model: Any) -> bool:
    """Return whether the answer of a model depends on the units of columns."""
    if isinstance(model, GaussianMixture):
        family = model._family
        return not family.estimated or family.isotropic
    metric = getattr(model, "_fitted_metric", getattr(model, "metric", "euclidean"))
    return metric not in ("haversine", "cosine", "precomputed")


def _unlike_scales(case: Case) -> Iterator[Diagnosis]:
    model = case.model
    if not _units_matter(model):
        return
    spread, _ = spreads(case.X, effective_threads(getattr(model, "n_jobs", None), case.X.size))
    wide, narrow = int(np.argmax(spread)), int(np.argmin(np.where(spread > 0, spread, np.inf)))
    if spread[narrow] == 0 or not spread[wide] / spread[narrow] >= UNLIKE:
        return
    yield Diagnosis(
        "scales-differ",
        f"columns differ in scale by {number(float(f'{spread[wide] / spread[narrow]:.1g}'))} "
        f"({case.column(wide)} against {case.column(narrow)}), so the first alone decides",
        (Remedy("scale them, for example with StandardScaler", code="scale"),),
    )


def _copies(case: Case) -> Iterator[Diagnosis]:
    chosen = sample_rows(case.n, LOOKED_AT, 0)
    rows = case.X if chosen is None else case.X[chosen]
    _, first, counts = np.unique(row_keys(rows), return_index=True, return_counts=True)
    top = int(np.argmax(counts))
    part = counts[top] / len(rows)
    if part < MANY_COPIES or counts[top] < 3:
        return
    where = first[top] if chosen is None else chosen[first[top]]
    values = ", ".join(number(value) for value in rows[first[top]][:4])
    values += ", ..." if rows.shape[1] > 4 else ""
    looked = "" if chosen is None else f" in a sample of {len(rows):,} rows"
    yield Diagnosis(
        "duplicates",
        f"{share(part)} of the rows are the same ({values}), first in row {where}{looked}",
        (
            Remedy("find out whether that stands for missing data, and drop it"),
            Remedy("keep one copy with {sample_weight:name}"),
        ),
    )
