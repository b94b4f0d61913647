"""Parameters set after a fit do not change the fit: its metric and covariance type still count."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from coterie import GaussianMixture, KMeans, diagnose, load, save

from .mixture_helpers import FAMILIES

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
