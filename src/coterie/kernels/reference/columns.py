"""Columns as rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def interleave(columns: Sequence[NDArray[Any]], out: NDArray[Any]) -> bool:
    """Write columns, (m,) each, into the rows of out, (m, d). Returns True if all are finite."""
    for j, column in enumerate(columns):
        out[:, j] = column
    return bool(np.isfinite(out).all())
