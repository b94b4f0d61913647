"""Diagnoses: each appears when it should, with true numbers and a change that helps."""

from __future__ import annotations

import dataclasses
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from coterie import DBSCAN, GaussianMixture, KMeans, Model, diagnose
from coterie.choosing import Diagnosis
from coterie.data import Scaling, blobs, paper_round


def of(model: Any, X: Any) -> dict[str, Diagnosis]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = diagnose(model.fit(X), X)
    return {diagnosis.code: diagnosis for diagnosis in found}


def test_a_fit_that_stopped_early_is_told_to_go_further_by_the_limit_it_reached() -> None:
    X = np.random.default_rng(0).normal(size=(500, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = KMeans(20, max_iter=1, n_init=1, random_state=0).fit(X)
    (short, *_) = diagnose(model, X)
    assert short.parameters == {"max_iter": 10}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = KMeans(20, max_seconds=1e-9, n_init=1, random_state=0).fit(X)
    (late, *_) = diagnose(model, X)
    assert late.code == "not-converged"
    assert late.parameters == {"max_seconds": 1e-8}
    assert late.change == "fit again with max_seconds=1e-08, or continue with warm_start=True"


def test_good_fits_have_none() -> None:
    X, _ = paper_round()
    assert not diagnose(DBSCAN(0.5).fit(X), X)
    B, _ = blobs(300, 3, spread=0.5)
    assert not diagnose(KMeans(3, n_init=3, random_state=0).fit(B), B)
    assert not diagnose(GaussianMixture(3, random_state=0).fit(B), B)


def test_mostly_noise_and_its_change() -> None:
    X, _ = paper_round()
    found = of(DBSCAN(0.1), X)["mostly-noise"]
    labels = DBSCAN(**found.parameters).fit(X).labels_
    assert np.mean(labels < 0) < 0.1
    assert found.sentence == "94 % of the rows are noise"
    assert found.change.startswith(f"eps near {found.parameters['eps']:.3g} leaves 4 %")
    assert str(found) == f"{found.sentence}: {found.change}"
    assert of(DBSCAN(1e-6), X)["all-noise"].parameters == found.parameters


def test_one_cluster_and_its_change() -> None:
    X, _ = paper_round()
    found = of(DBSCAN(20.0), X)["one-cluster"]
    assert "cluster 0 holds 100 % of the rows" in found.sentence
    assert DBSCAN(**found.parameters).fit(X).n_clusters_ == 4
    alone = np.random.default_rng(0).uniform(size=(300, 2))
    assert of(DBSCAN(1.0), alone)["one-cluster"].parameters == {}


def test_outliers_take_clusters_of_their_own() -> None:
    X, _ = blobs(200, 2, spread=0.5)
    far = np.vstack([X, [[1e4, 1e4]]])
    assert "holds 99.5 % of the rows" in of(KMeans(2, random_state=0), far)["one-cluster"].sentence
    tiny = of(KMeans(3, random_state=0), far)["tiny-clusters"]
    assert "1 cluster of 3 holds one row only (row 200)" in tiny.sentence


def test_empty_clusters() -> None:
    X = np.repeat([[0.0, 0.0], [1.0, 1.0], [2.0, 5.0]], 10, axis=0)
    found = of(KMeans(5, random_state=0), X)["empty-clusters"]
    assert found.sentence == "2 of 5 clusters hold no rows"
    assert found.parameters == {"n_clusters": 3}


def test_not_converged() -> None:
    X, _ = blobs(300, 5, spread=3.0)
    means = of(KMeans(5, init="random", n_init=1, max_iter=1, random_state=0), X)["not-converged"]
    assert means.parameters == {"max_iter": 10}
    soft = of(GaussianMixture(3, max_iter=2, tol=1e-9, random_state=0), X)["not-converged"]
    assert soft.parameters == {"max_iter": 20, "accelerate": True}
    assert "gained" in soft.sentence


def test_collapsed_component() -> None:
    random = np.random.default_rng(0)
    X = np.vstack([random.normal(size=(100, 2)), [[30.0, 30.0], [30.0, 31.0]]])
    found = of(GaussianMixture(2, random_state=0), X)["collapsed-component"]
    assert "collapsed onto 2 points" in found.sentence
    assert found.parameters == {"n_components": 1}
    scaled = of(GaussianMixture(2, random_state=0), 1e-90 * X)  # in other units
    assert "collapsed onto 2 points" in scaled["collapsed-component"].sentence


def test_dependent_columns_and_few_rows() -> None:
    X, _ = blobs(100, 2)
    assert "dependent-columns" in of(
        GaussianMixture(2, random_state=0), np.c_[X, X[:, 0] + X[:, 1]]
    )
    random = np.random.default_rng(1)
    rows = np.vstack([random.normal(size=(60, 4)), 20 + random.normal(size=(4, 4))])
    codes = of(GaussianMixture(2, random_state=0, reg_covar=0.1), rows)
    assert "which needs 5" in codes["few-rows"].sentence


def test_scales_differ() -> None:
    X, _ = blobs(120, 3)
    unlike = X * [1.0, 1e6]
    found = of(KMeans(3, random_state=0), unlike)["scales-differ"]
    assert "differ in scale by 1e+06 (column 1 against column 0)" in found.sentence
    frame = pd.DataFrame(unlike, columns=["age", "income"])
    assert "('income' against 'age')" in of(KMeans(3), frame)["scales-differ"].sentence
    assert "scales-differ" not in of(GaussianMixture(3, random_state=0), unlike)
    assert "scales-differ" in of(GaussianMixture(3, covariance_type="spherical"), unlike)
    constant = np.c_[X, np.full(len(X), 1e9)]
    assert "scales-differ" not in of(KMeans(3, random_state=0), constant)


def test_duplicates() -> None:
    X, _ = blobs(100, 2)
    found = of(KMeans(3, random_state=0), np.vstack([X, np.zeros((80, 2))]))["duplicates"]
    assert found.sentence == "44 % of the rows are the same (0, 0), first in row 100"


def test_runs_disagree() -> None:
    X, _ = blobs(400, 12, spread=0.4, seed=3)
    found = of(KMeans(12, init="random", n_init=3, random_state=1), X)["runs-disagree"]
    assert found.parameters == {"n_init": 12}


def test_loaded_models_sparse_rows_and_frozen_objects() -> None:
    X, _ = blobs(120, 3)
    unlike = X * [1.0, 1e6]
    scaling = Scaling.of(unlike, "standard")
    model = Model(KMeans(3, random_state=0).fit(scaling.apply(unlike)), scaling)
    assert "scales-differ" not in {found.code for found in diagnose(model, unlike)}
    assert diagnose(KMeans(3, random_state=0).fit(sparse.csr_array(X)), sparse.csr_array(X)) == ()
    with pytest.raises(dataclasses.FrozenInstanceError):
        Diagnosis("a", "b", ()).code = "d"  # type: ignore[misc]
    with pytest.raises(NotFittedError):
        diagnose(KMeans(3), X)


def test_mixtures_are_looked_at_without_eigenvalues(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Eigenvalues of thousands of columns take a minute for each component."""
    X = np.random.default_rng(0).normal(size=(400, 12))
    X[:200] += 4.0
    whole = GaussianMixture(2, random_state=0).fit(X)
    X[:, 1] = X[:, 0]
    flat = GaussianMixture(2, random_state=0).fit(X)

    def refuse(*args: Any, **named: Any) -> None:
        raise AssertionError("eigenvalues of a whole matrix")

    monkeypatch.setattr(np.linalg, "eigvalsh", refuse)
    monkeypatch.setattr(np.linalg, "eigh", refuse)
    assert "dependent-columns" not in {found.code for found in diagnose(whole, X)}
    assert "dependent-columns" in {found.code for found in diagnose(flat, X)}


def test_mixtures_of_rows_with_missing_cells() -> None:
    """Cells that are there decide: the diagnoses are those of the same rows without gaps."""
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(60, 2)), np.repeat([[40.0, 40.0]], 30, axis=0)])
    gaps = X.copy()
    gaps[:20, 1] = np.nan
    whole = of(GaussianMixture(2, random_state=0), X)
    found = of(GaussianMixture(2, missing="marginal", random_state=0), gaps)
    assert found["collapsed-component"].sentence == whole["collapsed-component"].sentence
    assert found["duplicates"].sentence == whole["duplicates"].sentence
    wide = of(GaussianMixture(1, covariance_type="spherical", missing="marginal"), gaps * [1, 1e4])
    assert "columns differ in scale by 10000 (column 1" in wide["scales-differ"].sentence


def test_a_single_iteration_has_gained_nothing_that_could_be_told() -> None:
    X, _ = blobs(300, 5, spread=3.0)
    found = of(GaussianMixture(3, max_iter=1, tol=1e-9, random_state=0), X)["not-converged"]
    assert found.sentence == "the fit stopped before it had converged (max_iter=1 reached)"
