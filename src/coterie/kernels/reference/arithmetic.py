"""Exact arithmetic over Python integers, which have any length."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Labels = NDArray[np.intp]
Numbers = NDArray[np.object_]  # of Python integers


def integers(values: Floats) -> tuple[Numbers, int]:
    """Integers and one exponent e with ``values == integers * 2**e``, exactly."""
    fraction, exponent = np.frexp(values)
    whole = np.ldexp(fraction, 53).astype(np.int64).astype(object)
    lowest = int(np.min(exponent, initial=0, where=values != 0))
    shift = np.where(values != 0, exponent - lowest, 0).astype(object)
    return whole << shift, lowest - 53


def scaled(whole: int, exponent: int) -> Fraction:
    """``whole * 2**exponent``."""
    return Fraction(whole) * Fraction(2) ** exponent


def rounded(numerator: int, denominator: int, exponent: int) -> float:
    """The float64 nearest to ``numerator / denominator * 2**exponent``: Python divides integers
    of any length and rounds once."""
    if exponent >= 0:
        return (numerator << exponent) / denominator
    return numerator / (denominator << -exponent)


def exact_mean(values: Floats, weights: Floats) -> Floats:
    """(sum of w x) / (sum of w) for each column, the exact ratio rounded once.

    values : (n, d); weights : (n,) positive
    """
    x, e = integers(values)
    w, _ = integers(weights)  # the exponent of the weights cancels
    mass = int(w.sum())
    sums = (w[:, np.newaxis] * x).sum(axis=0)
    return np.array([rounded(s, mass, e) for s in sums])


def exact_squares(X: Floats, weights: Floats, means: Floats, y: Labels) -> Fraction:
    """Sum of w |x - m_y|^2 over all points."""
    n = len(X)
    both, e = integers(np.concatenate([X, means]))
    w, weight_exponent = integers(weights)
    difference = both[:n] - both[n:][y]
    total = (w * (difference * difference).sum(axis=1)).sum()
    return scaled(int(total), 2 * e + weight_exponent)


def exact_mean_variance(X: Floats, weights: Floats | None = None) -> float:
    """The variance of a column about its exact mean, averaged over the columns."""
    x, e = integers(X)
    w, _ = integers(np.ones(len(X)) if weights is None else weights)
    mass = int(w.sum())
    sums = (w[:, np.newaxis] * x).sum(axis=0)
    # x - sum / mass, times mass: still an integer.
    difference = mass * x - sums
    total = int((w * (difference * difference).sum(axis=1)).sum())
    return rounded(total, mass**3 * X.shape[1], 2 * e)
