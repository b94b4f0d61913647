"""Conditionals of missing columns, and patterns of missing cells."""

from __future__ import annotations

import numpy as np
import pytest
from support.hostile_engine import leaves_of

from coterie.kernels import _native, mixture_missing_steps
from coterie.kernels.block import Block


@pytest.mark.parametrize("n_missing", range(6))
def test_the_conditional_of_missing_columns_is_that_of_the_formulas(n_missing: int) -> None:
    """Marginal, regression and its residual, against the formulas with covariances."""
    rng = np.random.default_rng(n_missing)
    factors = np.triu(rng.normal(size=(3, 5, 5)), 1) + np.eye(5)
    C = np.linalg.inv(factors @ np.swapaxes(factors, 1, 2))
    columns = rng.permutation(5)
    h, o = np.sort(columns[:n_missing]), np.sort(columns[n_missing:])
    found = mixture_missing_steps.conditional(factors, o, h)
    for c in range(3):
        C_oo, C_ho, C_hh = (C[c][np.ix_(*at)] for at in ((o, o), (h, o), (h, h)))
        A = C_ho @ np.linalg.inv(C_oo)
        U = found.factors[c]
        assert np.all(np.tril(U, -1) == 0)
        assert np.all(np.diagonal(U) > 0)
        np.testing.assert_allclose(U @ U.T @ C_oo, np.eye(len(o)), atol=1e-10)
        np.testing.assert_allclose(found.regression[c], A, atol=1e-10)
        np.testing.assert_allclose(found.covariances[c], C_hh - A @ C_ho.T, atol=1e-10)


@pytest.mark.parametrize("leaf_rows", [1, 7, 1000])
def test_patterns_found_leaf_by_leaf_are_those_of_all_rows(leaf_rows: int) -> None:
    """Between leaves an interrupt is heard: NumPy takes seconds to sort millions of rows."""
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
        assert np.array_equal(pattern.missing, np.flatnonzero(key))
