"""Candidates for the number of clusters, from the argument `k` and the rows."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any

import numpy as np
from scipy import sparse

MOST_BY_DEFAULT = 10


def candidates_of(k: Any, X: Any) -> list[int]:
    """Return the numbers of clusters to try on the rows of X, ascending.

    k : the largest, a pair (low, high), an iterable of numbers, or None.
    """
    n = int(X.shape[0])
    if k is None:
        most = min(MOST_BY_DEFAULT, _distinct(X, MOST_BY_DEFAULT))
        return list(range(1, most + 1))
    try:
        numbers = _listed(k, n)
    except TypeError:
        numbers = []
    if not numbers or numbers[0] < 1 or numbers[-1] > n:
        raise ValueError(
            f"expected numbers of clusters from 1 to {n}, the number of rows, got k={k!r}; "
            "pass the largest, as k=10, a pair (low, high), or a list"
        )
    return numbers


def _listed(k: Any, n: int) -> list[int]:
    """Numbers asked for, in order. Of a list that goes beyond n only some are read: it may never
    end."""
    pair = isinstance(k, tuple) and len(k) == 2
    if isinstance(k, Iterable) and not pair:
        found: set[int] = set()
        for number in k:
            found.add(operator.index(number))
            if not 1 <= operator.index(number) <= n:
                break
        return sorted(found)
    low, high = map(operator.index, k) if pair else (1, operator.index(k))
    return list(range(low, high + 1)) if low >= 1 and high <= n else [low, high]


def _distinct(X: Any, enough: int) -> int:
    """Number of different rows, counted up to `enough`."""
    seen: set[bytes] = set()
    for row in X:
        values = row.toarray() if sparse.issparse(row) else row
        seen.add((np.asarray(values) + 0.0).tobytes())
        if len(seen) >= enough:
            break
    return len(seen)
