"""Parameters set after a fit do not change the fit: its metric and covariance type still count."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from support.mixture import FAMILIES

from coterie import DBSCAN, DBSCANPath, GaussianMixture, KMeans, diagnose, load, save

X = np.random.default_rng(0).normal(size=(150, 3)) * [1.0, 2.0, 3.0] + 1.0


def answers(model: GaussianMixture) -> list[Any]:
    return [model.predict_proba(X), model.score_samples(X), model.bic(X), model.icl(X),
            model.precisions_, model.set_params(random_state=0).sample(5)[0],
            [d.code for d in diagnose(model, X)]]  # fmt: skip


@pytest.mark.parametrize("fitted", FAMILIES)
@pytest.mark.parametrize("later", [*FAMILIES, "fixed"])
def test_the_covariance_type_of_the_fit_counts(fitted: str, later: str, tmp_path: Path) -> None:
    settings = {"covariance_type": fitted, "fixed": ("weights",), "random_state": 0}
    expected = answers(GaussianMixture(3, **settings).fit(X))
    model = GaussianMixture(3, **settings).fit(X)
    model.set_params(covariance_type=later, fixed=("means", "covariances"))
    save(model, tmp_path / "model.coterie")
    for asked in (model, load(tmp_path / "model.coterie")):
        for found, known in zip(answers(asked), expected, strict=True):
            np.testing.assert_array_equal(found, known)


def test_a_warm_start_is_from_a_mixture_of_the_same_type() -> None:
    model = GaussianMixture(3, covariance_type="diag", random_state=0, warm_start=True).fit(X)
    model.set_params(covariance_type="tied", max_iter=0).fit(X)
    fresh = GaussianMixture(3, covariance_type="tied", random_state=0, max_iter=0).fit(X)
    np.testing.assert_array_equal(model.covariances_, fresh.covariances_)


@pytest.mark.parametrize(("fitted", "later"), [("euclidean", "cosine"), ("cosine", "euclidean")])
def test_the_metric_of_the_fit_counts(fitted: str, later: str, tmp_path: Path) -> None:
    model = KMeans(3, metric=fitted, random_state=0).fit(X)
    expected = model.predict(X), model.transform(X), model.score(X)
    model.set_params(metric=later)
    save(model, tmp_path / "model.coterie")
    for asked in (model, load(tmp_path / "model.coterie")):
        np.testing.assert_array_equal(asked.predict(X), expected[0])
        np.testing.assert_array_equal(asked.transform(X), expected[1])
        assert asked.score(X) == expected[2]


def test_batches_keep_to_one_metric() -> None:
    model = KMeans(3, random_state=0).partial_fit(X).set_params(metric="cosine")
    with pytest.raises(ValueError, match=r"not that of the means so far, 'euclidean'.*clone"):
        model.partial_fit(X)
    model.set_params(metric="euclidean").partial_fit(X)


def test_a_warm_start_with_directions_begins_on_the_sphere() -> None:
    model = KMeans(3, random_state=0, warm_start=True, max_iter=1, trace=True).fit(X)
    first = model.cluster_centers_
    model.set_params(metric="cosine").fit(X)
    lengths = np.linalg.norm(first, axis=1, keepdims=True)
    np.testing.assert_allclose(model.trace_[0].means, first / lengths, rtol=1e-14)


LATER = {"eps": 5.0, "metric": "cosine", "p": 1.0, "metric_params": None, "min_samples": 50}


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("settings", [
    {"metric": "euclidean", "eps": 1.0},
    {"metric": "minkowski", "p": 3.0, "eps": 1.0},
    {"metric": "seuclidean", "eps": 1.0},
    {"metric": "precomputed", "eps": 0.05},
    {"metric": lambda x, y: abs(x - y).sum(), "eps": 2.0},
], ids=lambda settings: str(settings["metric"])[:11])  # fmt: skip
def test_eps_and_metric_of_dbscan_are_those_of_the_fit(
    settings: dict[str, Any], form: Any, tmp_path: Path
) -> None:
    given = X[:40]
    if settings["metric"] == "precomputed":
        given = np.abs(np.subtract.outer(given[:, 0], given[:, 0]))
    elif form is sparse.csr_array and settings["metric"] not in ("euclidean", "minkowski"):
        pytest.skip("compares dense rows")
    model = DBSCAN(min_samples=3, **settings).fit(form(given))
    assert 0 < len(model.core_sample_indices_) < 40
    model.set_params(**LATER)
    np.testing.assert_array_equal(model.predict(form(given)), model.labels_)
    if not callable(settings["metric"]):
        save(model, tmp_path / "model.coterie")
        loaded = load(tmp_path / "model.coterie")
        assert loaded.eps == LATER["eps"]
        np.testing.assert_array_equal(loaded.predict(form(given)), model.labels_)


def test_a_path_of_another_metric_can_be_saved(tmp_path: Path) -> None:
    path = DBSCANPath(3).fit(X).set_params(metric="manhattan", min_samples=9)
    save(path, tmp_path / "path.coterie")
    loaded = load(tmp_path / "path.coterie")
    np.testing.assert_array_equal(loaded.labels(0.9), path.labels(0.9))
