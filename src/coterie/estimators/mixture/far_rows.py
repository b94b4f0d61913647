"""Rows so far from a mixture that their squared distances overflow float64.

There the nearest component, by its own measure of distance, is certain: its degree is one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coterie.arrays import Floats
from coterie.kernels.mixture_steps import Densities, Standardization


def nearest_from_afar(
    X: Floats, scaling: Standardization, densities: Densities
) -> NDArray[np.int32]:
    """Return the component of the smallest |U'(z - m)|^2 for each row, (n,).

    Rows z are so far that all means vanish beside them. Components of the same shape differ by
    z' C^-1 m; among equals the lowest index is taken.
    """
    fraction, exponent = np.frexp(np.asarray(X, dtype=np.float64))
    exponent = np.where(fraction == 0, -5000, exponent - scaling.exponent)
    z = np.ldexp(fraction, np.maximum(exponent - exponent.max(axis=1, keepdims=True), -2000))
    k, d = densities.means.shape
    lengths, sides = np.empty((2, len(z), k))
    for c in range(k):
        factor = densities.factor(c)
        U = factor if np.ndim(factor) == 2 else np.diag(np.broadcast_to(factor, d))
        y = z @ U
        lengths[:, c] = (y * y).sum(axis=1)
        sides[:, c] = -(y @ (densities.means[c] @ U))
    alike = lengths <= lengths.min(axis=1, keepdims=True) * (1 + 1e-12)
    nearest: NDArray[np.int32] = np.where(alike, sides, np.inf).argmin(axis=1).astype(np.int32)
    return nearest
