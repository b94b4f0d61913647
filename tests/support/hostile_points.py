"""Points on which a search for neighbours may go wrong: ties, copies, offsets, outliers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

POINTS = ("normal", "tenths", "halves", "duplicates", "offset", "outlier", "line", "same", "far")


def make_points(kind: str, n: int, d: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """(n, d) points of one of the kinds."""
    normal = rng.normal(size=(n, d))
    match kind:
        case "tenths":  # ties at eps, of the kind that rounding decides
            return rng.integers(0, 6, size=(n, d)) * 0.1
        case "halves":
            return rng.integers(0, 6, size=(n, d)) * 0.5
        case "duplicates":
            return normal[rng.integers(max(1, n // 4), size=n)]
        case "offset":
            return np.round(normal, 1) + 1e9
        case "outlier":  # float32 about a common centre is too coarse for the others
            normal[0] *= 1e9
        case "line":
            normal[:, 1:] = 0.25
        case "same":
            return np.full((n, d), 0.1)
        case "far":
            return normal + 1e4 * rng.integers(0, 3, size=(n, 1))
    return normal
