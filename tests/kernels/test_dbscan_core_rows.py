"""Core points are gathered by threads as NumPy would gather them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from coterie.kernels import _native
from coterie.kernels.block import Block
from coterie.kernels.dbscan_steps import core_points


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("n", "d", "share"),
    [(1, 1, 1.0), (1, 3, 0.0), (40_000, 2, 0.5), (50_000, 3, 0.99), (900, 700, 0.9)],
)
def test_core_points(n: int, d: int, share: float, dtype: Any, threads: int) -> None:
    rng = np.random.default_rng(n + d)
    X = rng.normal(size=(n, d)).astype(dtype)
    core = rng.random(n) < share
    labels = np.where(core, 5, rng.integers(-1, 3, size=n))
    points = core_points(Block.over(X, None, _native.Team(threads)), core, labels)
    np.testing.assert_array_equal(points.kind, (labels >= 0).astype(np.uint8) + core)
    np.testing.assert_array_equal(points.indices, np.flatnonzero(core))
    np.testing.assert_array_equal(points.rows, X[core])
    dtypes = points.kind.dtype, points.indices.dtype, points.rows.dtype
    assert dtypes == (np.uint8, np.intp, dtype)


def test_arrays_must_fit_together() -> None:
    block = Block.over(np.zeros((4, 2)), None, _native.Team(1))
    for n_core, n_labels in ((3, 4), (4, 5)):
        with pytest.raises(ValueError, match="expected shape"):
            core_points(block, np.zeros(n_core, dtype=bool), np.zeros(n_labels, dtype=np.int64))
