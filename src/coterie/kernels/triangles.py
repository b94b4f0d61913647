"""Packed storage of symmetric and upper triangular matrices: the upper triangle, row by row.

It takes half the memory. One matrix or many, as in NumPy: (d, d) <-> (d (d + 1) / 2,) and
(k, d, d) <-> (k, d (d + 1) / 2).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from coterie.arrays import Floats
from coterie.kernels import _native


def empty(shape: tuple[int, ...]) -> Floats:
    """An array without values, in pages of its own.

    Large pages return to the system when the array goes; memory of the heap often does not.
    """
    found: Floats = _native.paged(math.prod(shape)).reshape(shape)
    return found


def size(d: int) -> int:
    """The number of entries of a triangle."""
    return d * (d + 1) // 2


def columns(triangles: Floats) -> int:
    """d, the number of columns of the matrices with these triangles."""
    return (math.isqrt(8 * triangles.shape[-1] + 1) - 1) // 2


def packed(matrices: Floats) -> Floats:
    """Upper triangles of square matrices."""
    *how_many, d, _ = matrices.shape
    k, out = math.prod(how_many), empty((*how_many, size(d)))
    square = np.ascontiguousarray(matrices, dtype=np.float64).reshape(k, d, d)
    _native.fold(square, out.reshape(k, size(d)))
    return out


def symmetric(triangles: Floats) -> Floats:
    """Symmetric matrices from their triangles."""
    return _unpacked(triangles, symmetric=True)


def upper(triangles: Floats) -> Floats:
    """Upper triangular matrices from their triangles."""
    return _unpacked(triangles, symmetric=False)


def _unpacked(triangles: Floats, *, symmetric: bool) -> Floats:
    *how_many, entries = triangles.shape
    k, d = math.prod(how_many), columns(triangles)
    out = empty((*how_many, d, d))
    packed = np.ascontiguousarray(triangles).reshape(k, entries)
    _native.unfold(packed, out.reshape(k, d, d), symmetric)
    return out


@cache  # every iteration asks twice
def diagonal(d: int) -> NDArray[np.intp]:
    """(d,) places of the diagonal in a triangle."""
    places = np.cumsum(np.arange(d + 1, 1, -1)) - (d + 1)
    places.flags.writeable = False
    return np.asarray(places)


def diagonals(triangles: Floats) -> Floats:
    """Diagonals of matrices, each (d,), from their triangles."""
    return np.asarray(triangles[..., diagonal(columns(triangles))])


def covariances_about(
    second: Floats,
    mass: Floats,
    first: Floats,
    shift: Floats,
    out: Floats,
    team: _native.Team | None = None,
) -> None:
    """Write covariances about centres + shift, (k, d), from moments about the centres.

    out : (k, d (d + 1) / 2); it may be the second moments themselves.
    """
    team = team or _native.Team(1)
    _native.covariances_about(team, second, mass, first, np.ascontiguousarray(shift), out)


def wider_than(
    triangles: Floats, root: Floats, times: float, team: _native.Team | None = None
) -> list[bool]:
    """True for matrices C whose eigenvalues, in units of root (d,), all exceed `times`.

    A Cholesky factorization decides: eigenvalues of thousands of columns take a minute.
    """
    return _native.wider_than(team or _native.Team(1), triangles, root, times)


def largest_reach(triangles: Floats, vectors: Floats) -> float:
    """The largest entry of |U|'|v|, over upper U (k, d (d + 1) / 2) and v (k, d)."""
    return _native.largest_reach(triangles, np.ascontiguousarray(vectors))


def cholesky(triangle: Floats) -> bool:
    """Cholesky factor: a triangle becomes the upper R with R'R = C.

    False if C is not positive definite.
    """
    return _native.cholesky(triangle, columns(triangle))


def inverse_roots(
    triangles: Floats, which: Sequence[int], out: Floats, team: _native.Team | None = None
) -> int | None:
    """Write the upper U with U U' = C^-1 for some of many C, by number.

    out : where U goes; it may be the array of the C themselves. Returns the first number whose C
    is not positive definite, or None.
    """
    chosen, d = np.array(which, dtype=np.int64), columns(triangles)
    bad = _native.inverse_roots(team or _native.Team(1), triangles, chosen, d, out)
    return None if bad < 0 else bad


def inverse_root(triangle: Floats) -> bool:
    """A triangle of C becomes that of U, U U' = C^-1; False if C is not positive definite."""
    one = triangle[np.newaxis]
    return inverse_roots(one, [0], one) is None
