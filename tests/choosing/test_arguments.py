"""Wrong arguments of all functions that choose: each is named before any work is done."""

from __future__ import annotations

import importlib
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from coterie import DBSCANPath, KMeans, choose_eps, choose_k, compare, diagnose
from coterie.choosing import silhouettes
from coterie.data import blobs

X, _ = blobs(30, 2)
LABELS = np.arange(30) % 3
HUGE = 2**63
NUMBERS = ["4", None, 2.5, 0, -1, True, np.nan, [3], object()]


def not_called(*args: Any, **named: Any) -> None:
    raise AssertionError("work had begun")


@pytest.fixture
def at_the_door(monkeypatch: pytest.MonkeyPatch) -> None:
    """No model is fitted and no row is read before all arguments are checked."""
    for module in ("k", "eps", "silhouettes", "compare", "diagnose"):
        # By the module itself: some functions have its name.
        place = importlib.import_module(f"coterie.choosing.{module}")
        monkeypatch.setattr(place, "checked_rows", not_called)


def refused(call: Callable[[], Any], name: str) -> str:
    with pytest.raises((TypeError, ValueError)) as told:
        call()
    assert str(told.value).startswith(("expected", f"The '{name}' parameter of")), told.value
    assert name in str(told.value)
    return str(told.value)


@pytest.mark.usefixtures("at_the_door")
@pytest.mark.parametrize("value", [*NUMBERS, HUGE])
def test_restarts(value: Any) -> None:
    assert "4 is the default" in refused(lambda: choose_k(X, n_restarts=value), "n_restarts")


@pytest.mark.usefixtures("at_the_door")
@pytest.mark.parametrize("value", [value for value in NUMBERS if value is not None])
def test_samples(value: Any) -> None:
    for call in (
        lambda: choose_k(X, sample_size=value),
        lambda: choose_eps(X, sample_size=value),
        lambda: compare(X, [LABELS], sample_size=value),
        lambda: silhouettes(X, [LABELS], sample_size=value),
    ):
        assert "None takes all rows" in refused(call, "sample_size")


@pytest.mark.usefixtures("at_the_door")
@pytest.mark.parametrize("value", NUMBERS)
def test_neighbours(value: Any) -> None:
    assert "5 is usual" in refused(lambda: choose_eps(X, value), "min_samples")


@pytest.mark.usefixtures("at_the_door")
@pytest.mark.parametrize("value", ["x", -1, 2**32, 2.5, [3], np.random.default_rng(0)])
def test_seeds(value: Any) -> None:
    for call in (
        lambda: choose_k(X, random_state=value),
        lambda: choose_eps(X, random_state=value),
        lambda: compare(X, [LABELS], random_state=value),
        lambda: silhouettes(X, [LABELS], random_state=value),
    ):
        assert "numpy.random.RandomState or None" in refused(call, "random_state")


@pytest.mark.usefixtures("at_the_door")
@pytest.mark.parametrize("value", [3, "f", [print], object])
def test_callbacks(value: Any) -> None:
    assert "callback(done, total, k)" in refused(lambda: choose_k(X, callback=value), "callback")
    assert "total, eps)" in refused(lambda: choose_eps(X, callback=value), "callback")


@pytest.mark.usefixtures("at_the_door")
@pytest.mark.parametrize("value", ["2", 0, 2.5, [2]])
def test_threads(value: Any) -> None:
    refused(lambda: choose_k(X, n_jobs=value), "n_jobs")
    refused(lambda: choose_eps(X, n_jobs=value), "n_jobs")


@pytest.mark.usefixtures("at_the_door")
@pytest.mark.parametrize("value", ["near", None, 3, object])
def test_metrics(value: Any) -> None:
    refused(lambda: choose_eps(X, metric=value), "metric")
    refused(lambda: silhouettes(X, [LABELS], metric=value), "metric")


@pytest.mark.usefixtures("at_the_door")
@pytest.mark.parametrize("name", ["method", "criterion", "covariance_type"])
@pytest.mark.parametrize("value", ["fixed", 3, ["full"], np.zeros(3)])
def test_words(name: str, value: Any) -> None:
    assert "is the default" in refused(lambda: choose_k(X, **{name: value}), name)


@pytest.mark.usefixtures("at_the_door")
@pytest.mark.parametrize("value", [None, 3, "km", KMeans(2)])
def test_lists(value: Any) -> None:
    assert "a list even of one" in refused(lambda: compare(X, value), "models")
    if value is not None:
        refused(lambda: compare(X, [LABELS], names=value), "names")
    assert "[labels]" in refused(lambda: silhouettes(X, value), "labellings")


@pytest.mark.parametrize("value", [None, 3, "km", KMeans, [KMeans(2)]])
def test_models(value: Any) -> None:
    assert "KMeans(3).fit(X)" in refused(lambda: diagnose(value, X), "model")


def test_models_without_labels_for_these_rows() -> None:
    path = DBSCANPath().fit(X)
    for call in (lambda: compare(X, [path]), lambda: diagnose(path, X)):
        with pytest.raises(TypeError, match=r"each of the 30 rows.*path\.labels\(eps\)"):
            call()


def test_labels() -> None:
    for labels in (LABELS[:5], LABELS + 0.5, ["a"] * 30, np.zeros((30, 2), int)):
        with pytest.raises(ValueError, match=r"integer labels of shape \(30,\)"):
            silhouettes(X, [labels])
    whole, real = silhouettes(X, [LABELS, LABELS.astype(float)]).values
    np.testing.assert_array_equal(whole, real)
    with pytest.raises(ValueError, match="square matrix of the distances"):
        silhouettes(X, [LABELS], metric="precomputed")


@pytest.mark.parametrize(
    "k", [10**9, 10**30, (1, 10**30), (2, 10**9), range(1, 10**12), -(10**12)], ids=repr
)
def test_far_too_many_candidates_are_not_listed(k: Any) -> None:
    with pytest.raises(ValueError, match="from 1 to 30, the number of rows, got k="):
        choose_k(X, k)


def test_candidates_without_an_end() -> None:
    with pytest.raises(ValueError, match="from 1 to 30, the number of rows"):
        choose_k(X, itertools.count(1))


def test_sparse_rows_for_mixtures() -> None:
    with pytest.raises(TypeError, match=r"X is sparse: expected dense rows.*toarray"):
        choose_k(sparse.csr_array(X), method="mixture")
