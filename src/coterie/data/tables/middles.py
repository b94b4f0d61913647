"""Mean and median of a column with gaps: exact, rounded once, and computed in short steps.

A sum of float64 can overflow and depends on the order; a sum of integers does neither. No step
takes long, so that Ctrl-C is heard.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

BLOCK = 1 << 18  # values looked at together
FEW = 1 << 16  # values that are sorted at once
DIGITS = 16  # bits by which values are told apart in one pass
_SIGN = np.uint64(1 << 63)


def exact_mean(column: NDArray[Any]) -> float:
    """Return the mean of the values of a column, (n,), that are not missing."""
    units, n = Counter[int](), 0  # how many of 2**exponent, by exponent
    for values in _present(column):
        n += len(values)
        fractions, exponents = np.frexp(values)
        whole = np.ldexp(fractions, 53).astype(np.int64)
        least = int(exponents.min(initial=0))
        places = exponents - least
        # Halves of 27 bits, of which 2**18 make sums that float64 holds exactly.
        high = np.bincount(places, weights=whole >> 27).tolist()
        low = np.bincount(places, weights=whole & ((1 << 27) - 1)).tolist()
        for place, (more, less) in enumerate(zip(high, low, strict=True), least - 53):
            units[place] += (int(more) << 27) + int(less)
    lowest = min(units)
    total = sum(count << (place - lowest) for place, count in units.items())
    return float(Fraction(2) ** lowest * Fraction(total, n))


def exact_median(column: NDArray[Any]) -> float:
    """Return the median of the values of a column, (n,), that are not missing."""
    n = sum(map(len, _present(column)))
    lower, upper = _ranked(column, (n - 1) // 2), _ranked(column, n // 2)
    return lower if lower == upper else float((Fraction(lower) + Fraction(upper)) / 2)


def _ranked(column: NDArray[Any], rank: int) -> float:
    """Return the value with so many smaller ones: found by its first bits, then by further ones."""
    first, bits = np.uint64(0), 64  # the bits above these are known
    while bits > 0:
        alike = _counts(column, first, bits)
        if int(alike.sum()) <= FEW:
            break
        below = np.cumsum(alike)
        digit = int(np.searchsorted(below, rank, side="right"))
        rank -= int(below[digit - 1]) if digit else 0
        bits -= DIGITS
        first |= np.uint64(digit << bits)
    keys = np.concatenate([_matching(keys, first, bits) for keys in _keys(column)])
    keys.sort()
    return _value(keys[rank] if bits > 0 else first)


def _counts(column: NDArray[Any], first: np.uint64, bits: int) -> NDArray[np.int64]:
    """Count the values that begin with known bits by the next ones."""
    counts = np.zeros(1 << DIGITS, dtype=np.int64)
    for keys in _keys(column):
        digits = _matching(keys, first, bits) >> np.uint64(bits - DIGITS)
        counts += np.bincount(digits.astype(np.int64) & 0xFFFF, minlength=1 << DIGITS)
    return counts


def _matching(keys: NDArray[np.uint64], first: np.uint64, bits: int) -> NDArray[np.uint64]:
    return keys if bits == 64 else keys[keys >> np.uint64(bits) == first >> np.uint64(bits)]


def _keys(column: NDArray[Any]) -> Iterator[NDArray[np.uint64]]:
    """Yield integers in the order of the values."""
    for values in _present(column):
        bits = values.view(np.uint64)
        yield np.where(bits >= _SIGN, ~bits, bits | _SIGN)


def _value(key: np.uint64) -> float:
    bits = key ^ _SIGN if key >= _SIGN else ~key
    return float(np.array(bits).view(np.float64))


def _present(column: NDArray[Any]) -> Iterator[NDArray[np.float64]]:
    """Yield the values that are not missing, as float64, some at a time."""
    for start in range(0, len(column), BLOCK):
        block = column[start : start + BLOCK].astype(np.float64)
        yield block[~np.isnan(block)]
