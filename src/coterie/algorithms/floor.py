"""The least spread that a covariance keeps, and roots of matrices whose spread is as small.

A matrix holds a spread near the floor to a few digits only, so there its inverse root is taken from
its eigenvectors; anywhere else Cholesky's is as good and cheaper.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from scipy.linalg import lapack

from coterie.kernels.exact import Floats

RELATIVE_FLOOR = 1e-12  # of a column's variance: a millionth of its standard deviation
NEAR = 1e3  # floors: a matrix with so small a spread is known by its eigenvectors, not its entries

Roots = Mapping[int, Floats]  # component -> U with U U' = C^-1, where C alone tells too little
NO_ROOTS: Roots = MappingProxyType({})


@dataclass(frozen=True)
class Floor:
    """The least spread a covariance keeps, by column, in the frame's units.

    `added` is scikit-learn's reg_covar: the values are added to the variances. Otherwise spread
    below the floor is raised to it, which is the likeliest covariance among those that are nowhere
    below: so the soft clustering error still never increases. A matrix with so small a spread holds
    it to four digits only; EM therefore goes on with the root that the raised spread has, `Roots`.
    """

    values: Floats  # (d,)
    added: bool


def floored(C: Floats, floor: Floor) -> tuple[Floats, Floats | None]:
    """A symmetric matrix with the floor added, or raised to the floor where it is below; near the
    floor also upper U with U U' = C^-1."""
    d = len(C)
    if floor.added:
        C = C.copy()
        C.flat[:: d + 1] += floor.values
        return C, None
    root = np.sqrt(floor.values)
    relative = C / root[:, None] / root
    test = relative.copy()
    test.flat[:: d + 1] -= NEAR
    if lapack.dpotrf(test, lower=1, overwrite_a=1)[1] == 0:
        return C, None  # nowhere near
    values, vectors = np.linalg.eigh(relative)
    if values[0] < 1.0:
        values = np.maximum(values, 1.0)
        raised = (vectors * values) @ vectors.T
        C = (raised + raised.T) / 2 * root[:, None] * root
    # B B' = C^-1 with B = vectors / sqrt(values); B = U Q with Q orthogonal, by QR from the end.
    B = vectors / np.sqrt(values) / root[:, None]
    R: Floats = np.asarray(np.linalg.qr(B.T[:, ::-1], mode="r"))
    U = R[::-1, ::-1].T
    U = np.ascontiguousarray(U * np.sign(np.diagonal(U)))
    return C, U


def inverse_root(C: Floats) -> Floats | None:
    """Upper U with U U' = C^-1; None if C is not positive definite."""
    if not np.isfinite(C).all():
        return None
    L, failed = lapack.dpotrf(C.T, lower=1, clean=1)  # symmetric; and in LAPACK's order
    if failed:
        return None
    inverse, failed = lapack.dtrtri(L, lower=1, overwrite_c=1)
    return None if failed else np.ascontiguousarray(inverse.T)


def root_of(C: Floats) -> Floats:
    """R with R R' = C, also for flat C."""
    values, vectors = np.linalg.eigh(C)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))
