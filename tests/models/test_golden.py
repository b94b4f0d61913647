"""Files of earlier releases load in this one, and give the same answers.

Each release adds its files: ``python tests/models/test_golden.py`` writes those of this version
that are not there yet. A file beside each model holds the answers that it gave when it was written.
"""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from coterie import DBSCAN, DBSCANPath, GaussianMixture, KMeans, Model, load, save
from coterie.data import Scaling

GOLDEN = Path(__file__).parent / "golden"
ROWS = np.array([[0.0, 1.0], [0.5, 1.5], [10.0, 300.0], [10.5, 310.0], [20.0, 2.0], [20.5, 1.0]])
GAPPY = np.where(ROWS == 310.0, np.nan, ROWS)
LABELS = [0, 0, 1, 1, 2, 2]
NEW = np.array([[0.2, 0.9], [11.0, 290.0], [19.0, 5.0], [500.0, -3.0]])
STARTS = np.array([0.1, 0.2, 0.1])
SMALL = {"max_iter": 5, "tol": 10.0, "init_params": "random_from_data", "random_state": 0}

# name: (the estimator, the rows of its fit before scaling)
KINDS: dict[str, tuple[Any, Any]] = {
    "kmeans": (KMeans(3, random_state=0), ROWS),
    "mixture-full": (GaussianMixture(2, **SMALL), ROWS),
    "mixture-tied": (GaussianMixture(2, covariance_type="tied", **SMALL), ROWS),
    "mixture-diag": (GaussianMixture(2, covariance_type="diag", **SMALL), ROWS),
    "mixture-spherical": (GaussianMixture(2, covariance_type="spherical", **SMALL), ROWS),
    "mixture-fixed": (
        GaussianMixture(3, covariance_type="fixed", fixed_covariance=STARTS, **SMALL),
        ROWS,
    ),
    "mixture-frozen": (
        GaussianMixture(2, fixed=("means",), **{**SMALL, "init_params": KMeans(2, n_init=1)}),
        ROWS,
    ),
    "mixture-missing": (
        GaussianMixture(2, missing="marginal", covariance_type="diag", **SMALL),
        GAPPY,
    ),
    "dbscan": (DBSCAN(0.5, min_samples=2, count_neighbors=True), ROWS),
    "dbscan-sparse": (DBSCAN(12.0, min_samples=2, metric="manhattan"), sparse.csr_array(ROWS)),
    "dbscan-minkowski": (DBSCAN(0.5, min_samples=2, metric="minkowski", p=np.inf), ROWS),
    "path": (DBSCANPath(2), ROWS),
}
NAMES = sorted(path.stem for path in GOLDEN.glob("*.coterie"))


def answers(model: Model) -> dict[str, Any]:
    """Return the answers of a model about these rows, in JSON's types."""
    estimator = model.estimator
    if isinstance(estimator, DBSCANPath):
        return {f"{eps:g}": estimator.labels(eps).tolist() for eps in (0.1, 0.5, 2.0, 5.0)}
    told = {"predict": model.predict(NEW).tolist()}
    if isinstance(estimator, GaussianMixture):
        told["predict_proba"] = model.predict_proba(NEW).tolist()
        told["score"] = model.score(NEW)
    if isinstance(estimator, KMeans):
        told["transform"] = model.transform(NEW).tolist()
    return told


def assert_close(found: Any, expected: Any) -> None:
    """Labels exactly; numbers up to the last digits, in which machines may differ."""
    assert found.keys() == expected.keys()
    for key, value in expected.items():
        if isinstance(value, list) and isinstance(value[0], int):
            assert found[key] == value, key
        else:
            np.testing.assert_allclose(found[key], value, rtol=1e-11, atol=1e-300, err_msg=key)


@pytest.mark.parametrize("name", NAMES)
def test_models_of_every_release(name: str) -> None:
    model = load(GOLDEN / f"{name}.coterie")
    assert model.columns == ("left", "ü")
    assert model.provenance == {"source": "tests"}
    if name != "kmeans-0.1.0":  # written before answers were
        assert_close(answers(model), json.loads((GOLDEN / f"{name}.json").read_text()))


@pytest.mark.parametrize("name", [name for name in NAMES if name.startswith("kmeans-0.")])
def test_kmeans_of_every_release(name: str) -> None:
    model = load(GOLDEN / f"{name}.coterie")
    assert model.estimator.labels_.tolist() == LABELS
    assert model.predict(ROWS).tolist() == LABELS
    np.testing.assert_allclose(
        model.scaling.undo(model.estimator.cluster_centers_),
        [[0.25, 1.25], [10.25, 305.0], [20.25, 1.5]],
        rtol=1e-12,
    )
    assert model.estimator.n_iter_ == len(model.estimator.history_)


@pytest.mark.parametrize("kind", KINDS)
def test_there_is_a_file_of_this_release(kind: str) -> None:
    assert f"{kind}-{version('coterie')}" in NAMES


def write() -> None:
    for kind, (estimator, rows) in KINDS.items():
        path = GOLDEN / f"{kind}-{version('coterie')}.coterie"
        if path.exists():
            continue
        scaling = Scaling.of(rows, "none" if sparse.issparse(rows) else "standard")
        fitted = estimator.fit(scaling.apply(rows))
        save(Model(fitted, scaling, ("left", "ü"), {"source": "tests"}), path)
        path.with_suffix(".json").write_text(json.dumps(answers(load(path)), indent=1) + "\n")


if __name__ == "__main__":
    write()
