"""Checks of the answers that are timed.

`check_own` needs no peer: labels must be nearest by the definition, and a finished fit must be a
fixed point. `compare` measures the difference of a peer's answer from ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from benchmarks.peers import Fit

Verdict = Literal["same labels", "same error", "near error", "differs"]

TIE = 1e-12  # relative gap of two squared distances below which either label is right
SAME_ERROR = {"float64": 1e-9, "float32": 1e-5}
NEAR_ERROR = 0.01  # a peer counts in the ratio if its error is at most this much above ours
SAMPLE = 20_000  # rows whose label is checked against all k means
CHUNK = 4_000_000  # numbers held at once by the checks, which must not need the data twice


@dataclass(frozen=True)
class Comparison:
    """A peer's answer beside ours; `error_gap` > 0 means that theirs is worse."""

    verdict: Verdict
    rows_differing: int
    ties: int
    error_gap: float

    @property
    def counts(self) -> bool:
        """True if the peer did the same task at least nearly as well."""
        return self.error_gap <= NEAR_ERROR


def compare(x: NDArray[Any], ours: Fit, theirs: Fit) -> Comparison:
    """Compare labels but for proven ties, then errors; the difference of errors decides last."""
    gap = relative(error(x, theirs), error(x, ours))
    rows = np.flatnonzero(ours.labels != theirs.labels)
    tied = _tied(x[rows], ours, ours.labels[rows], theirs.labels[rows]) if rows.size else 0
    verdict: Verdict
    if rows.size == tied:
        verdict = "same labels"
    elif abs(gap) <= SAME_ERROR[x.dtype.name]:
        verdict = "same error"
    elif abs(gap) <= NEAR_ERROR:
        verdict = "near error"
    else:
        verdict = "differs"
    return Comparison(verdict, int(rows.size), tied, gap)


def error(x: NDArray[Any], fit: Fit) -> float:
    """Sum of squared distances to the own mean, by differences in float64."""
    total = 0.0
    step = max(1, CHUNK // x.shape[1])
    means = fit.means.astype(np.float64)
    for start in range(0, len(x), step):
        gap = x[start : start + step] - means[fit.labels[start : start + step]]
        total += float(np.einsum("ij,ij->", gap, gap, dtype=np.float64))
    return total


def relative(value: float, reference: float) -> float:
    """(value - reference) / reference, and 0 where both are 0."""
    return (value - reference) / reference if reference else value


def fingerprint(*arrays: NDArray[Any]) -> tuple[int, ...]:
    """Wrapping sums of the bits: a cheap test that no contender wrote into its input."""
    bits = (array.view(f"u{array.itemsize}") for array in arrays)
    return tuple(int(np.add.reduce(words, axis=None, dtype=np.uint64)) for words in bits)


def check_own(x: NDArray[Any], fit: Fit, max_iter: int) -> list[str]:
    """Faults of our own answer, by the definition alone; an empty list is a pass."""
    faults = []
    wrong = _not_nearest(x, fit)
    if wrong:
        faults.append(f"{wrong} of {min(SAMPLE, len(x))} sampled labels are not nearest")
    if fit.iterations < max_iter:
        drift = _distance_from_fixed_point(x, fit)
        allowed = 1e-9 if x.dtype == np.float64 else 1e-5
        if drift > allowed:
            faults.append(f"means are not the means of their rows (relative {drift:.1e})")
    return faults


def _tied(x: NDArray[Any], fit: Fit, a: NDArray[Any], b: NDArray[Any]) -> int:
    """The number of rows x that are as near to mean a[i] as to mean b[i], by direct differences."""
    means = fit.means.astype(np.float64)
    to_a = ((x - means[a]) ** 2).sum(axis=1)
    to_b = ((x - means[b]) ** 2).sum(axis=1)
    return int(np.count_nonzero(np.abs(to_a - to_b) <= TIE * np.maximum(to_a, to_b)))


def _not_nearest(x: NDArray[Any], fit: Fit) -> int:
    """Sampled rows that have a mean nearer than their own, beyond a tie.

    Means are handed out rounded to their dtype, which moves a distance by up to eps |mean|.
    """
    rows = np.random.default_rng(0).permutation(len(x))[:SAMPLE]
    means = fit.means.astype(np.float64)
    rounding = float(np.finfo(fit.means.dtype).eps * np.linalg.norm(means, axis=1).max())
    step = max(1, CHUNK // means.size)
    wrong = 0
    for start in range(0, len(rows), step):
        part = rows[start : start + step]
        gap = x[part, None, :] - means[None, :, :]
        distance = np.sqrt(np.einsum("ikd,ikd->ik", gap, gap))
        own = distance[np.arange(len(part)), fit.labels[part]]
        wrong += int(np.count_nonzero(own > distance.min(axis=1) * (1.0 + TIE) + rounding))
    return wrong


def _distance_from_fixed_point(x: NDArray[Any], fit: Fit) -> float:
    """Largest gap between a mean and the mean of its rows, relative to the data's extent."""
    k = len(fit.means)
    counts = np.bincount(fit.labels, minlength=k)
    columns = [np.bincount(fit.labels, weights=column, minlength=k) for column in x.T]
    active = counts > 0
    expected = np.stack(columns, axis=1)[active] / counts[active, None]
    extent = float(np.abs(x).max()) or 1.0
    return float(np.abs(fit.means[active] - expected).max()) / extent
