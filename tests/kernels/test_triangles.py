"""Upper triangles of matrices, and back."""

from __future__ import annotations

import numpy as np
import pytest

from coterie.kernels import _native, triangles


@pytest.mark.parametrize("d", [1, 2, 3, 8, 33])
def test_there_and_back(d: int) -> None:
    A = np.random.default_rng(d).normal(size=(3, d, d))
    A = A + A.transpose(0, 2, 1)
    folded = triangles.folded(A)
    rows, columns = np.triu_indices(d)
    assert np.array_equal(folded, A[:, rows, columns])
    assert triangles.columns(folded) == d
    assert np.array_equal(triangles.symmetric(folded), A)
    assert np.array_equal(triangles.upper(folded), np.triu(A))
    assert np.array_equal(triangles.diagonals(folded), np.diagonal(A, axis1=1, axis2=2))


def test_shapes_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="triangles"):
        _native.fold(np.zeros((2, 3, 3)), np.zeros((2, 5)))
    with pytest.raises(ValueError, match="triangles"):
        _native.unfold(np.zeros((2, 5)), np.zeros((2, 3, 3)), True)
