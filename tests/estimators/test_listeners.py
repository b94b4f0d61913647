"""Callbacks cannot change a fit: the arrays that they see are copies or read-only."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_blobs
from support.estimators import assert_same_fit
from support.mixture import FAMILIES, assert_same_mixture

from coterie import FitEvent, GaussianMixture, KMeans
from coterie.estimators.fitting import read_only
from estimators.test_ecosystem import needs_callbacks

X = make_blobs(120, 3, centers=4, random_state=0, cluster_std=3.0)[0]
WEIGHTS = np.linspace(0.5, 2.0, len(X))


def arrays_in(told: Any, depth: int = 3) -> Iterator[np.ndarray[Any, Any]]:
    """Yield every array within an event."""
    if isinstance(told, np.ndarray):
        yield told
    elif sparse.issparse(told):
        yield from (told.data, told.indices, told.indptr)
    elif isinstance(told, dict):
        for value in told.values():
            yield from arrays_in(value, depth - 1)
    elif depth > 0 and hasattr(told, "__dict__"):
        yield from arrays_in(vars(told), depth - 1)


def scribble(told: Any) -> None:
    """Write into every array that lets one."""
    for values in arrays_in(told):
        if values.flags.writeable:
            values[...] = 0


class Scribbler:
    """A callback of scikit-learn's protocol that writes wherever it can."""

    def setup(self, estimator: Any, context: Any) -> None: ...

    def teardown(self, estimator: Any, context: Any) -> None: ...

    def on_fit_task_begin(
        self, estimator: Any, context: Any, *, X: Any = None, metadata: Any = None
    ) -> None:
        scribble({"X": X, "metadata": metadata})

    def on_fit_task_end(
        self,
        estimator: Any,
        context: Any,
        *,
        X: Any = None,
        metadata: Any = None,
        fitted_estimator: Any = None,
    ) -> bool:
        scribble({"X": X, "metadata": metadata})
        if context.task_name == "iteration":  # at the end of a fit it is the estimator itself
            scribble(fitted_estimator)
        return False


@pytest.mark.parametrize("family", FAMILIES)
def test_a_mixture_is_not_changed_by_its_callback(family: str) -> None:
    heard: list[FitEvent] = []

    def listen(event: FitEvent) -> None:
        heard.append(event)
        scribble(event)

    settings = {"covariance_type": family, "random_state": 0, "trace": True}
    plain = GaussianMixture(3, **settings).fit(X)
    assert_same_mixture(GaussianMixture(3, callback=listen, **settings).fit(X), plain)
    assert len(heard) == plain.n_iter_
    with pytest.raises(ValueError, match="read-only"):
        heard[0].mixture.weights[0] = 1.0


@pytest.mark.parametrize("rows", [X, sparse.csr_array(np.maximum(X, 0.0))], ids=["dense", "sparse"])
def test_means_are_not_changed_by_their_callback(rows: Any) -> None:
    plain = KMeans(4, random_state=0, trace=True).fit(rows)
    told = KMeans(4, random_state=0, trace=True, callback=scribble).fit(rows)
    assert_same_fit(told, plain)


@needs_callbacks
@pytest.mark.parametrize("rows", [X, sparse.csr_array(np.maximum(X, 0.0))], ids=["dense", "sparse"])
def test_callbacks_of_scikit_learn_change_nothing(rows: Any) -> None:
    kept = rows.copy()
    plain = KMeans(4, random_state=0).fit(rows, sample_weight=WEIGHTS)
    model = KMeans(4, random_state=0).set_callbacks(Scribbler())
    assert_same_fit(model.fit(rows, sample_weight=WEIGHTS), plain)
    assert abs(rows - kept).max() == 0
    if not sparse.issparse(rows):
        mixture = GaussianMixture(3, random_state=0).set_callbacks(Scribbler())
        expected = GaussianMixture(3, random_state=0).fit(rows, sample_weight=WEIGHTS)
        assert_same_mixture(mixture.fit(rows, sample_weight=WEIGHTS), expected)


def test_a_callable_init_cannot_change_the_rows() -> None:
    def init(rows: Any, k: int, random_state: Any) -> Any:
        scribble(rows)
        return np.asarray(rows)[:k]

    kept = X.copy()
    KMeans(4, init=init, n_init=1).fit(X)
    np.testing.assert_array_equal(X, kept)


def test_a_read_only_view_shows_the_same() -> None:
    S = sparse.csr_array(np.maximum(X, 0.0))
    assert (read_only(S) != S).nnz == 0
    assert (read_only(S)[3:5].toarray() == S[3:5].toarray()).all()
    assert read_only(None) is None
    assert np.shares_memory(read_only(S).data, S.data)
