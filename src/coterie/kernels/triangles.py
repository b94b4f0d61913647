"""Square matrices and their upper triangles, row by row: half the memory.

Symmetric matrices and upper triangular ones are whole in them. One matrix or many, as in NumPy:
(d, d) <-> (d (d + 1) / 2,) and (k, d, d) <-> (k, d (d + 1) / 2).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from coterie.kernels import _native
from coterie.kernels.exact import Floats


def empty(shape: tuple[int, ...]) -> Floats:
    """An array that is not set. If it is large, its memory is given back when it goes, which that
    of the heap often is not."""
    found: Floats = _native.paged(math.prod(shape)).reshape(shape)
    return found


def size(d: int) -> int:
    """Entries of a triangle."""
    return d * (d + 1) // 2


def columns(triangles: Floats) -> int:
    """d of matrices whose triangles these are."""
    return (math.isqrt(8 * triangles.shape[-1] + 1) - 1) // 2


def folded(matrices: Floats) -> Floats:
    """Upper triangles of square matrices."""
    *how_many, d, _ = matrices.shape
    k, out = math.prod(how_many), empty((*how_many, size(d)))
    square = np.ascontiguousarray(matrices, dtype=np.float64).reshape(k, d, d)
    _native.fold(square, out.reshape(k, size(d)))
    return out


def symmetric(triangles: Floats) -> Floats:
    """Symmetric matrices."""
    return _unfolded(triangles, symmetric=True)


def upper(triangles: Floats) -> Floats:
    """Upper triangular matrices."""
    return _unfolded(triangles, symmetric=False)


def _unfolded(triangles: Floats, *, symmetric: bool) -> Floats:
    *how_many, entries = triangles.shape
    k, d = math.prod(how_many), columns(triangles)
    out = empty((*how_many, d, d))
    folded = np.ascontiguousarray(triangles).reshape(k, entries)
    _native.unfold(folded, out.reshape(k, d, d), symmetric)
    return out


@cache  # every iteration asks twice
def diagonal(d: int) -> NDArray[np.intp]:
    """Where the diagonal is in a triangle."""
    places = np.cumsum(np.arange(d + 1, 1, -1)) - (d + 1)
    places.flags.writeable = False
    return np.asarray(places)


def diagonals(triangles: Floats) -> Floats:
    """Diagonals of matrices, each (d,)."""
    return np.asarray(triangles[..., diagonal(columns(triangles))])


def covariances_about(
    second: Floats,
    mass: Floats,
    first: Floats,
    shift: Floats,
    out: Floats,
    team: _native.Team | None = None,
) -> None:
    """out: covariances about centres + shift (k, d), from moments about the centres; in place of
    the second moments if it is the same."""
    team = team or _native.Team(1)
    _native.covariances_about(team, second, mass, first, np.ascontiguousarray(shift), out)


def wider_than(
    triangles: Floats, root: Floats, times: float, team: _native.Team | None = None
) -> list[bool]:
    """Which matrices, in units of root (d,), spread more than `times` in every direction."""
    return _native.wider_than(team or _native.Team(1), triangles, root, times)


def largest_reach(triangles: Floats, vectors: Floats) -> float:
    """The largest entry of |U|'|v|, over upper U (k, d (d + 1) / 2) and v (k, d)."""
    return _native.largest_reach(triangles, np.ascontiguousarray(vectors))


def cholesky(triangle: Floats) -> bool:
    """A triangle becomes the upper R with R'R = C; False if C is not positive definite."""
    return _native.cholesky(triangle, columns(triangle))


def inverse_roots(
    triangles: Floats, which: Sequence[int], out: Floats, team: _native.Team | None = None
) -> int | None:
    """out: of those named of many C the upper U with U U' = C^-1, in place of C if it is the same;
    returns the first that is not positive definite."""
    chosen, d = np.array(which, dtype=np.int64), columns(triangles)
    bad = _native.inverse_roots(team or _native.Team(1), triangles, chosen, d, out)
    return None if bad < 0 else bad


def inverse_root(triangle: Floats) -> bool:
    """A triangle becomes that of U; False if it is not positive definite."""
    one = triangle[np.newaxis]
    return inverse_roots(one, [0], one) is None
