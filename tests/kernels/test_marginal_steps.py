"""Components split by the columns that a row has and those that it lacks."""

from __future__ import annotations

import numpy as np
import pytest

from coterie.kernels import marginal_steps


@pytest.mark.parametrize("n_gone", range(6))
def test_components_by_columns_seen_and_gone(n_gone: int) -> None:
    """Marginal, regression and what it leaves, against the formulas with covariances."""
    rng = np.random.default_rng(n_gone)
    factors = np.triu(rng.normal(size=(3, 5, 5)), 1) + np.eye(5)
    C = np.linalg.inv(factors @ np.swapaxes(factors, 1, 2))
    columns = rng.permutation(5)
    gone, seen = np.sort(columns[:n_gone]), np.sort(columns[n_gone:])
    found = marginal_steps.split(factors, seen, gone)
    for c in range(3):
        C_ss, C_gs, C_gg = (C[c][np.ix_(*at)] for at in ((seen, seen), (gone, seen), (gone, gone)))
        A = C_gs @ np.linalg.inv(C_ss)
        U = found.seen[c]
        assert np.all(np.tril(U, -1) == 0)
        assert np.all(np.diagonal(U) > 0)
        np.testing.assert_allclose(U @ U.T @ C_ss, np.eye(len(seen)), atol=1e-10)
        np.testing.assert_allclose(found.regression[c], A, atol=1e-10)
        np.testing.assert_allclose(found.spread[c], C_gg - A @ C_gs.T, atol=1e-10)
