"""Scaling: the textbook's numbers, hostile columns, and the same for new rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.preprocessing import MinMaxScaler, RobustScaler, StandardScaler
from support.kmeans_cases import thorough

from coterie.data import Scaling
from coterie.data.memory_limits import Limits, as_bytes, default_memory

PEERS = {"standard": StandardScaler, "robust": RobustScaler, "min-max": MinMaxScaler}


@pytest.mark.parametrize("kind", PEERS)
@thorough(30)
@given(n=st.integers(2, 30), d=st.integers(1, 4), seed=st.integers(0, 99))
def test_equal_to_scikit_learn(kind: Any, n: int, d: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d)) * 10.0 ** random.integers(-3, 4, d) + random.normal(size=d)
    scaling = Scaling.of(X, kind)
    np.testing.assert_allclose(scaling.apply(X), PEERS[kind]().fit_transform(X), atol=1e-9)
    np.testing.assert_allclose(scaling.undo(scaling.apply(X)), X, rtol=1e-12, atol=1e-12)


def test_hostile_columns() -> None:
    X = np.array([[0.1, 1e200, 1e-200, np.nan], [0.1, -1e200, 3e-200, 1], [0.1, 0, 2e-200, 3]])
    scaled = Scaling.of(X).apply(X)
    np.testing.assert_array_equal(scaled[:, 0], 0.0)  # constant
    np.testing.assert_allclose(scaled[:, 1:3].std(axis=0), 1.0)
    np.testing.assert_array_equal(scaled[:, 3], [np.nan, -1, 1])


def test_types_and_none() -> None:
    X = np.eye(3, dtype=np.float32)
    assert Scaling.of(X, "standard").apply(X).dtype == np.float32
    assert Scaling.of(X, "standard").apply(np.eye(3, dtype=int)).dtype == np.float64
    none = Scaling.of(sparse.csr_array(X), "none")
    assert none.apply(X) is X
    assert none.undo(X) is X
    assert repr(none) == "Scaling('none', 3 columns)"


def test_messages() -> None:
    with pytest.raises(ValueError, match="scaling out of 'standard', 'robust', 'min-max', 'none'"):
        Scaling.of(np.eye(2), "log")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="expected scaling='none' for sparse rows"):
        Scaling.of(sparse.eye_array(2), "standard")
    with pytest.raises(ValueError, match=r"rows with 2 columns.*got shape \(3, 3\)"):
        Scaling.of(np.eye(2)).apply(np.eye(3))
    with pytest.raises(ValueError, match="range that float64 can hold"):
        Scaling.of(np.array([[-1.7e308], [1.7e308]]), "min-max")


def test_sizes_in_words_and_the_default_budget() -> None:
    assert as_bytes("4 GB") == 4_000_000_000
    assert as_bytes("1.5kb") == 1500
    assert as_bytes(10) == 10
    assert 0 < default_memory() <= 2_000_000_000
    with pytest.raises(ValueError, match="expected a number of bytes"):
        as_bytes(-1)
    with pytest.raises(ValueError, match="max_expansion of at least 1"):
        Limits.of(None, 0.5)


def test_many_rows_are_scaled_as_few_are() -> None:
    X = np.random.default_rng(0).normal(size=(700_000, 2))
    scaling = Scaling.of(X, "standard")
    np.testing.assert_array_equal(scaling.apply(X)[-5:], scaling.apply(X[-5:]))
    assert scaling.apply(X.astype(np.float32)).dtype == np.float32
