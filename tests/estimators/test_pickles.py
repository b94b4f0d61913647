"""Pickles of earlier releases load in this one, and the estimators in them give the same answers.

Each release adds its files: ``python tests/estimators/test_pickles.py`` writes those of this
version that are not there yet. A file holds an estimator, new rows, and the answers to them.
"""

from __future__ import annotations

import pickle
from importlib.metadata import version
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest
from scipy import sparse

from coterie import DBSCAN, DBSCANPath, GaussianMixture, KMeans
from coterie.data import blobs

PICKLES = Path(__file__).parent / "pickles"
ROWS = blobs(30, 3, 2, spread=0.5, seed=1)[0].round(3)
GAPPY = np.where(np.arange(60).reshape(30, 2) % 11 == 0, np.nan, ROWS)
WEIGHTS = np.arange(30) % 4 + 0.5
NEW = blobs(9, 3, 2, spread=1.0, seed=2)[0].round(3)
TIGHT = {"max_iter": 4, "tol": 10.0, "random_state": 0, "trace": True}


def mixture(**options: Any) -> GaussianMixture:
    return GaussianMixture(2, **{**TIGHT, **options})


# name: (the estimator, the rows of its fit, the new rows)
KINDS: dict[str, tuple[Any, Any, Any]] = {
    "kmeans": (KMeans(3, n_init=2, random_state=0, trace=True), ROWS, NEW),
    "kmeans-cosine": (KMeans(3, metric="cosine", random_state=0), ROWS + 30, NEW + 30),
    "kmeans-sparse": (KMeans(3, random_state=0), sparse.csr_array(ROWS), sparse.csr_array(NEW)),
    "kmeans-huge": (KMeans(3, random_state=0, trace=True), ROWS * 1e200, NEW * 1e200),
    "mixture-full": (mixture(n_init=2), ROWS, NEW),
    "mixture-tied": (mixture(covariance_type="tied"), ROWS, NEW),
    "mixture-diag": (mixture(covariance_type="diag"), ROWS, NEW),
    "mixture-spherical": (mixture(covariance_type="spherical"), ROWS, NEW),
    "mixture-fixed": (
        mixture(covariance_type="fixed", fixed_covariance=[0.5, 1.0]),
        ROWS,
        NEW,
    ),
    "mixture-frozen": (mixture(fixed=("weights",), weights_init=[0.3, 0.7]), ROWS, NEW),
    "mixture-from-kmeans": (mixture(init_params=KMeans(2, n_init=1, random_state=0)), ROWS, NEW),
    "mixture-accelerated": (mixture(accelerate=True), ROWS, NEW),
    "mixture-missing": (mixture(missing="marginal"), GAPPY, NEW),
    "dbscan": (DBSCAN(2.0, count_neighbors=True, trace=True), ROWS, NEW),
    "dbscan-sparse": (DBSCAN(2.0), sparse.csr_array(ROWS), sparse.csr_array(NEW)),
    "dbscan-minkowski": (DBSCAN(2.0, metric="minkowski", p=3.0), ROWS, NEW),
    "dbscan-mahalanobis": (DBSCAN(1.0, metric="mahalanobis"), ROWS, NEW),
    "path": (DBSCANPath(3), ROWS, NEW),
}
FILES = sorted(PICKLES.glob("*.pickle"))


def answers(model: Any, rows: Any) -> dict[str, Any]:
    """The answers of an estimator, question by question."""
    if isinstance(model, DBSCANPath):
        return {f"labels({eps})": model.labels(eps) for eps in (0.1, 0.5, 1.0, 2.0, 20.0)}
    told = {"labels": model.labels_} if hasattr(model, "labels_") else {}
    for name in ("predict", "predict_proba", "score_samples", "transform"):
        if hasattr(model, name):
            told[name] = getattr(model, name)(rows)
    if hasattr(model, "history_"):
        told["errors"] = [float(record.error) for record in model.history_]
        told["runs"] = [(run.n_iter, run.stopped) for run in model.runs_]
    if isinstance(model, GaussianMixture):
        told["starts"] = np.concatenate([run.start.covariances.ravel() for run in model.runs_])
    return told | {"trace": len(getattr(model, "trace_", ()))}


def assert_close(found: dict[str, Any], expected: dict[str, Any]) -> None:
    """Labels and records exactly; other arrays up to the last digits, as machines may differ."""
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        if isinstance(value, np.ndarray) and value.dtype.kind == "f":
            np.testing.assert_allclose(found[name], value, rtol=1e-11, atol=1e-300, err_msg=name)
        elif isinstance(value, np.ndarray):
            np.testing.assert_array_equal(found[name], value, err_msg=name)
        else:
            assert found[name] == value, name


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_pickles_of_every_release(path: Path) -> None:
    stored = pickle.loads(path.read_bytes())
    assert_close(answers(stored["estimator"], stored["rows"]), stored["answers"])


def test_joblib_files_name_the_same_classes(tmp_path: Path) -> None:
    assert joblib.load(PICKLES / "kmeans-0.1.0.pickle")["estimator"].n_clusters == 3


@pytest.mark.parametrize("kind", KINDS)
def test_there_is_a_pickle_of_this_release(kind: str) -> None:
    assert f"{kind}-{version('coterie')}" in {path.stem for path in FILES}


def write() -> None:
    for kind, (estimator, rows, new) in KINDS.items():
        path = PICKLES / f"{kind}-{version('coterie')}.pickle"
        if path.exists():
            continue
        weights = {"sample_weight": WEIGHTS} if isinstance(estimator, KMeans) else {}
        fitted = estimator.fit(rows, **weights)
        stored = {"estimator": fitted, "rows": new, "answers": answers(fitted, new)}
        path.write_bytes(pickle.dumps(stored, protocol=4))


if __name__ == "__main__":
    write()
