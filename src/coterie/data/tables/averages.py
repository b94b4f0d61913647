"""Mean and median of a column with gaps: exact, rounded once, and computed in short steps.

A sum of float64 can overflow and depends on the order; a sum of integers does neither. Steps are
short, so that Ctrl-C is heard.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

BLOCK = 1 << 18  # values looked at together
FEW = 1 << 20  # values that are put in order at once
DIGITS = 16  # bits by which values are separated in one pass
LAST, SIGN = np.uint64(0xFFFF), np.uint64(1 << 63)


def exact_mean(column: NDArray[Any]) -> float:
    """Return the mean of the values of a column, (n,), that are not missing."""
    units, n = Counter[int](), 0  # multiples of 2**exponent, by exponent
    for values in _present(column):
        n += len(values)
        fractions, exponents = np.frexp(values)
        whole = np.ldexp(fractions, 53).astype(np.int64)
        least = int(exponents.min(initial=0))
        places = exponents - least
        # Halves of 27 bits: float64 holds the sum of 2**18 of them exactly.
        high = np.bincount(places, weights=whole >> 27).tolist()
        low = np.bincount(places, weights=whole & ((1 << 27) - 1)).tolist()
        for place, (more, less) in enumerate(zip(high, low, strict=True), least - 53):
            units[place] += (int(more) << 27) + int(less)
    lowest = min(units)
    total = sum(count << (place - lowest) for place, count in units.items())
    return float(Fraction(2) ** lowest * Fraction(total, n))


def exact_median(column: NDArray[Any]) -> float:
    """Return the median of the values of a column, (n,), that are not missing."""
    keys = np.concatenate([_keys(values) for values in _present(column)])
    n = len(keys)
    lower = _ranked(keys, (n - 1) // 2)
    if n % 2:
        return _value(lower)
    pieces = [keys[start : start + BLOCK] for start in range(0, n, BLOCK)]
    if sum(np.count_nonzero(piece <= lower) for piece in pieces) > n // 2:
        return _value(lower)
    above = (piece[piece > lower] for piece in pieces)
    upper = min(some.min() for some in above if len(some))
    return float((Fraction(_value(lower)) + Fraction(_value(upper))) / 2)


def _ranked(keys: NDArray[np.uint64], rank: int) -> np.uint64:
    """Return the key of this rank (from 0), found by its first bits, then by further ones."""
    bits = 64
    while len(keys) > FEW and bits:
        bits -= DIGITS
        digits = [
            ((keys[start : start + BLOCK] >> np.uint64(bits)) & LAST).astype(np.uint16)
            for start in range(0, len(keys), BLOCK)
        ]
        counts = sum(np.bincount(some, minlength=1 << DIGITS) for some in digits)
        below = np.cumsum(counts)
        digit = int(np.searchsorted(below, rank, side="right"))
        rank -= int(below[digit - 1]) if digit else 0
        alike = [keys[i * BLOCK : (i + 1) * BLOCK][some == digit] for i, some in enumerate(digits)]
        keys = np.concatenate(alike)
    keys.partition(rank)
    return np.uint64(keys[rank])


def _keys(values: NDArray[np.float64]) -> NDArray[np.uint64]:
    """Return integers that compare as the values do."""
    bits = values.view(np.uint64)
    return np.where(bits >= SIGN, ~bits, bits | SIGN)


def _value(key: np.uint64) -> float:
    bits = key ^ SIGN if key >= SIGN else ~key
    return float(np.array(bits).view(np.float64))


def _present(column: NDArray[Any]) -> Iterator[NDArray[np.float64]]:
    """Yield the values that are not missing, as float64, some at a time."""
    for start in range(0, len(column), BLOCK):
        block = column[start : start + BLOCK].astype(np.float64)
        yield block[~np.isnan(block)]
