"""The bend of a curve."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

LEAST_BEND = 0.05  # of the height of the curve: less is a straight line


def knee(x: ArrayLike, y: ArrayLike) -> int | None:
    """Return the place of the point farthest below the line between the ends; None: no bend.

    For curves that bend once and open upwards: an error that falls quickly, then slowly; sorted
    distances that rise slowly, then quickly. Both axes are scaled to [0, 1] first.
    """
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if len(x) < 3 or not (x[-1] > x[0] and y.max() > y.min()):
        return None
    across = (x - x[0]) / (x[-1] - x[0])
    height = (y - y.min()) / (y.max() - y.min())
    below = height[0] + across * (height[-1] - height[0]) - height
    best = int(np.argmax(below))
    return best if below[best] > LEAST_BEND else None
