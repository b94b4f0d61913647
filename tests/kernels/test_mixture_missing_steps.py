"""Components split by the columns that a row has and those that it lacks."""

from __future__ import annotations

import numpy as np
import pytest
from support.hostile_engine import leaves_of

from coterie.kernels import _native, mixture_missing_steps
from coterie.kernels.block import Block


@pytest.mark.parametrize("n_gone", range(6))
def test_components_by_columns_seen_and_gone(n_gone: int) -> None:
    """Marginal, regression and what it leaves, against the formulas with covariances."""
    rng = np.random.default_rng(n_gone)
    factors = np.triu(rng.normal(size=(3, 5, 5)), 1) + np.eye(5)
    C = np.linalg.inv(factors @ np.swapaxes(factors, 1, 2))
    columns = rng.permutation(5)
    gone, seen = np.sort(columns[:n_gone]), np.sort(columns[n_gone:])
    found = mixture_missing_steps.split(factors, seen, gone)
    for c in range(3):
        C_ss, C_gs, C_gg = (C[c][np.ix_(*at)] for at in ((seen, seen), (gone, seen), (gone, gone)))
        A = C_gs @ np.linalg.inv(C_ss)
        U = found.seen[c]
        assert np.all(np.tril(U, -1) == 0)
        assert np.all(np.diagonal(U) > 0)
        np.testing.assert_allclose(U @ U.T @ C_ss, np.eye(len(seen)), atol=1e-10)
        np.testing.assert_allclose(found.regression[c], A, atol=1e-10)
        np.testing.assert_allclose(found.spread[c], C_gg - A @ C_gs.T, atol=1e-10)


@pytest.mark.parametrize("leaf_rows", [1, 7, 1000])
def test_patterns_found_leaf_by_leaf_are_those_of_all_rows(leaf_rows: int) -> None:
    """Between leaves Ctrl-C is heard: NumPy takes seconds to sort millions of rows."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 9))
    X[rng.random(X.shape) < 0.2] = np.nan
    with leaves_of(leaf_rows):
        found = mixture_missing_steps.patterns(Block.over(X, None, _native.Team(1)))
    rows = [np.concatenate([leaf.rows for leaf in pattern.leaves]) for pattern in found]
    keys = [tuple(np.isnan(X[own[0]])) for own in rows]
    assert keys == sorted({tuple(row) for row in np.isnan(X)})
    for key, own, pattern in zip(keys, rows, found, strict=True):
        assert np.array_equal(own, np.flatnonzero((np.isnan(X) == key).all(axis=1)))
        assert np.array_equal(pattern.gone, np.flatnonzero(key))
