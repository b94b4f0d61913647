"""Comparison of two clusterings, or of two models."""

from __future__ import annotations

from typing import Any

import numpy as np


def same_partition(a: Any, b: Any) -> bool:
    """True if two labellings group the same rows, under any numbers of the groups."""
    pairs = set(zip(np.asarray(a).tolist(), np.asarray(b).tolist(), strict=True))
    return len(pairs) == len({p for p, _ in pairs}) == len({q for _, q in pairs})


def state(model: Any) -> dict[str, Any]:
    """The estimator's attributes, with copies of arrays: for a look before and after."""
    return {
        name: value.copy() if isinstance(value, np.ndarray) else value
        for name, value in vars(model).items()
    }


def assert_same_state(before: dict[str, Any], after: dict[str, Any]) -> None:
    assert before.keys() == after.keys()
    for name, value in before.items():
        if isinstance(value, np.ndarray):
            np.testing.assert_array_equal(value, after[name])
        else:
            assert value is after[name] or value == after[name], name


def assert_same_fit(a: Any, b: Any) -> None:
    """Bit for bit the same answer."""
    np.testing.assert_array_equal(a.labels_, b.labels_)
    np.testing.assert_array_equal(a.cluster_centers_, b.cluster_centers_)
    assert a.inertia_ == b.inertia_
    assert a.clustering_error_ == b.clustering_error_
    assert a.n_iter_ == b.n_iter_
    assert [r.error for r in a.history_] == [r.error for r in b.history_]
