"""Square matrices and their upper triangles, row by row: half the memory.

Symmetric matrices and upper triangular ones are whole in them: (k, d, d) <-> (k, d (d + 1) / 2).
"""

from __future__ import annotations

import math

import numpy as np

from coterie.kernels import _native
from coterie.kernels.exact import Floats


def empty(shape: tuple[int, ...]) -> Floats:
    """An array that is not set. If it is large, its memory is given back when it goes, which that
    of the heap often is not."""
    found: Floats = _native.paged(math.prod(shape)).reshape(shape)
    return found


def folded(matrices: Floats) -> Floats:
    """Upper triangles of (k, d, d) matrices."""
    k, d = matrices.shape[:2]
    out = empty((k, d * (d + 1) // 2))
    _native.fold(np.ascontiguousarray(matrices, dtype=np.float64), out)
    return out


def symmetric(triangles: Floats) -> Floats:
    """(k, d, d) symmetric matrices."""
    return _unfolded(triangles, symmetric=True)


def upper(triangles: Floats) -> Floats:
    """(k, d, d) upper triangular matrices."""
    return _unfolded(triangles, symmetric=False)


def diagonals(triangles: Floats) -> Floats:
    """(k, d)"""
    d = columns(triangles)
    return np.asarray(triangles[:, np.cumsum(np.arange(d + 1, 1, -1)) - (d + 1)])


def columns(triangles: Floats) -> int:
    """d of matrices whose triangles these are."""
    return (math.isqrt(8 * triangles.shape[1] + 1) - 1) // 2


def _unfolded(triangles: Floats, *, symmetric: bool) -> Floats:
    d = columns(triangles)
    out = empty((len(triangles), d, d))
    _native.unfold(np.ascontiguousarray(triangles), out, symmetric)
    return out
