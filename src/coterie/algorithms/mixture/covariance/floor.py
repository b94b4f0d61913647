"""The least spread that a covariance keeps, and roots of matrices whose spread is as small.

A matrix holds a spread near the floor to a few digits only. There its inverse root is taken from
its eigenvectors; elsewhere the Cholesky factor is as good and cheaper.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from coterie.arrays import Floats
from coterie.interruptible import interruptible
from coterie.kernels import triangles
from coterie.kernels._native import Team

RELATIVE_FLOOR = 1e-12  # of a column's variance: a millionth of its standard deviation
AT_FLOOR = 2.0  # floors: so small a spread is the floor's, not the data's
MANY_COLUMNS = 300  # eigenvectors of fewer take less than a tenth of a second
NEAR_FLOOR = 1e3  # floors: of so small a spread the entries of a matrix say too little

Roots = Mapping[int, Floats]  # component -> triangle of U, U U' = C^-1, where C tells too little
NO_ROOTS: Roots = MappingProxyType({})


@dataclass(frozen=True)
class Floor:
    """The least spread a covariance keeps, by column, in standardized units.

    `added` is scikit-learn's reg_covar: the values are added to the variances. Otherwise spread
    below the floor is raised to it, which gives the likeliest covariance among those that are
    nowhere below. So the soft clustering error still never increases. A matrix with so small a
    spread holds it to four digits only; EM therefore goes on with the root of the raised spread,
    `Roots`.
    """

    values: Floats  # (d,)
    added: bool


def above_floor(C: Floats, floor: Floor, times: float, team: Team | None = None) -> list[bool]:
    """True for symmetric matrices, as triangles, above so many floors in every direction."""
    return triangles.wider_than(C, np.sqrt(floor.values), times, team)


def apply_floor(C: Floats, floor: Floor, team: Team | None = None) -> Roots:
    """Add the floor to symmetric matrices, triangles (k, d (d + 1) / 2), or raise them to it.

    Returns the roots of matrices near the floor. Matrices that are not finite stay.
    """
    if floor.added:
        C[:, triangles.diagonal(len(floor.values))] += floor.values
        return NO_ROOTS
    roots = {}
    for c, clear in enumerate(above_floor(C, floor, NEAR_FLOOR, team)):
        if not clear and np.isfinite(C[c]).all():
            C[c], roots[c] = _raised(C[c], floor)
    return roots


def _raised(C: Floats, floor: Floor) -> tuple[Floats, Floats]:
    """A symmetric matrix raised to the floor where it is below, and upper U with U U' = C^-1."""
    root = np.sqrt(floor.values)
    values, vectors = eigenvectors(triangles.symmetric(C) / (root[:, None] * root))
    if values[0] < 1.0:
        values = np.maximum(values, 1.0)
        raised = (vectors * values) @ vectors.T
        raised = (raised + raised.T) / 2 * root[:, None] * root
        C = triangles.packed(raised)
    # B B' = C^-1 with B = vectors / sqrt(values); B = U Q with Q orthogonal, by QR from the end.
    B = vectors / np.sqrt(values) / root[:, None]
    R = _upper_triangle(B.T[:, ::-1])
    U = R[::-1, ::-1].T
    return C, triangles.packed(U * np.sign(np.diagonal(U)))


def inverse_root(C: Floats) -> Floats | None:
    """Upper U with U U' = C^-1, of a whole matrix; None if C is not positive definite."""
    U = triangles.packed(C)
    return triangles.upper(U) if triangles.inverse_root(U) else None


def root_of(C: Floats) -> Floats:
    """R with R R' = C, also for flat C, and for columns of very different sizes."""
    sizes = np.sqrt(np.diagonal(C))
    sizes[sizes == 0] = 1.0  # a column that does not vary
    values, vectors = eigenvectors(C / np.outer(sizes, sizes))
    return np.asarray(sizes[:, np.newaxis] * vectors * np.sqrt(np.maximum(values, 0.0)))


def eigenvectors(C: Floats) -> tuple[Floats, Floats]:
    """Ascending eigenvalues (d,) and eigenvectors (d, d), as columns, of a symmetric matrix.

    An interrupt is heard meanwhile.
    """
    if len(C) < MANY_COLUMNS:
        return np.linalg.eigh(C)
    return interruptible(np.linalg.eigh, C)


def _upper_triangle(B: Floats) -> Floats:
    """R of B = Q R with orthogonal Q. An interrupt is heard meanwhile."""
    if len(B) < MANY_COLUMNS:
        return np.asarray(np.linalg.qr(B, mode="r"))
    return np.asarray(interruptible(np.linalg.qr, B, "r"))
