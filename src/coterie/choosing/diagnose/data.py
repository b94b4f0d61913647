"""Diagnoses of the rows: columns of unlike scale, many copies of one row."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from scipy import sparse

from coterie.choosing.diagnose.case import Case, Diagnosis
from coterie.choosing.sampling import Floats, row_keys, sample_rows
from coterie.estimators import GaussianMixture
from coterie.estimators.threads import effective_threads
from coterie.formatting import number, share
from coterie.remedies import Remedy

UNLIKE = 100.0  # ratio of standard deviations
MANY_COPIES = 0.3  # of the rows
LOOKED_AT = 20_000
BLOCK = 1 << 14  # rows that stay in the cache


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


def spreads(X: Any, n_threads: int = 1) -> tuple[Floats, int]:
    """Standard deviations (d,) in units of a power of two, and its exponent; 0 for a constant
    column. NaN is a missing cell, which does not count."""
    values = np.asarray(X, dtype=np.float64)
    with ThreadPoolExecutor(n_threads) as pool:  # NumPy works on blocks side by side

        def over_blocks(look: Callable[[Any], Any]) -> list[Any]:
            return list(pool.map(lambda block: look(_columns(block)), _blocks(values)))

        def ends(columns: Any) -> tuple[Any, Any]:
            return np.fmin.reduce(columns, axis=1), np.fmax.reduce(columns, axis=1)

        lows, highs = zip(*over_blocks(ends), strict=True)
        low, high = np.fmin.reduce(lows), np.fmax.reduce(highs)
        exponent = int(np.frexp(np.fmax.reduce(np.abs(high / 2 - low / 2)))[1]) + 1
        exponent = max(exponent, -1000)
        unit = 2.0**-exponent  # finite, so that a product is as good as ldexp
        middle = (low / 2 + high / 2)[:, np.newaxis]

        def sums(columns: Any) -> tuple[Any, Any, Any]:
            part = np.multiply(np.subtract(columns, middle, out=columns), unit, out=columns)
            gone = np.isnan(part)
            part[gone] = 0.0
            there = part.shape[1] - gone.sum(axis=1)
            return there, part.sum(axis=1), np.einsum("ij,ij->i", part, part)

        found = over_blocks(sums)
    there, total, squares = (np.sum(parts, axis=0) for parts in zip(*found, strict=True))
    count = np.maximum(there, 1)
    variance = np.maximum(squares / count - (total / count) ** 2, 0.0)
    return np.where(high > low, np.sqrt(variance), 0.0), exponent


def _blocks(values: Any) -> Iterator[Any]:
    for begin in range(0, len(values), BLOCK):
        yield values[begin : begin + BLOCK]


def _columns(block: Any) -> Any:
    """Copy a block column by column: NumPy adds up long columns much faster than short rows."""
    return np.array(block.T, order="C")


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
