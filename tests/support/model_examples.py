"""One fitted model of every sort that a file can hold, and the questions to each."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.metrics import pairwise_distances

from coterie import DBSCAN, DBSCANPath, GaussianMixture, KMeans, Model
from coterie.algorithms.mixture.records import FirstMixture, Mixture
from coterie.data import Scaling, blobs

X, _ = blobs(60, 3, 4, spread=0.5, seed=1)
GAPPY = np.where(np.random.default_rng(0).uniform(size=X.shape) < 0.1, np.nan, X)
DISTANCES = pairwise_distances(X)
GRAPH = sparse.csr_array(np.where(DISTANCES < 2.0, DISTANCES, 0.0))
SPREADS = np.array([0.3, 0.2, 0.4])
WEIGHTS = np.array([1.0, 2.0, 1.0, 0.5])
MATRIX = np.diag([0.5, 0.2, 0.3, 0.4])
QUESTIONS = ("predict", "predict_proba", "score_samples", "transform", "score")


def mixture(**options: Any) -> GaussianMixture:
    return GaussianMixture(3, random_state=0, **options)


# name: (the estimator, the rows of its fit)
MAKERS: dict[str, Callable[[], tuple[Any, Any]]] = {
    "kmeans": lambda: (KMeans(3, n_init=2, random_state=0), X),
    "kmeans-cosine": lambda: (KMeans(3, metric="cosine", random_state=0), X + 1.0),
    "kmeans-sparse": lambda: (KMeans(3, random_state=0), sparse.csr_array(X)),
    "mixture-full": lambda: (mixture(n_init=2), X),
    "mixture-tied": lambda: (mixture(covariance_type="tied"), X),
    "mixture-diag": lambda: (mixture(covariance_type="diag"), X),
    "mixture-spherical": lambda: (mixture(covariance_type="spherical"), X),
    "mixture-fixed-number": lambda: (mixture(covariance_type="fixed", fixed_covariance=0.25), X),
    "mixture-fixed-numbers": lambda: (
        mixture(covariance_type="fixed", fixed_covariance=SPREADS),
        X,
    ),
    "mixture-fixed-matrix": lambda: (mixture(covariance_type="fixed", fixed_covariance=MATRIX), X),
    "mixture-fixed-matrices": lambda: (
        mixture(covariance_type="fixed", fixed_covariance=[MATRIX, 2 * MATRIX, MATRIX]),
        X,
    ),
    "mixture-frozen": lambda: (
        mixture(fixed={"weights", "means"}, weights_init=[0.2, 0.3, 0.5], means_init=X[:3]),
        X,
    ),
    "mixture-missing": lambda: (mixture(missing="marginal"), GAPPY),
    "mixture-from-kmeans": lambda: (mixture(init_params=KMeans(3, init=X[:3], n_init=1)), X),
    "mixture-far": lambda: (mixture(reg_covar=0.0), X * [1e-9, 1, 1e9, 1e150] + 1e7),
    "dbscan": lambda: (DBSCAN(1.0, count_neighbors=True), X),
    "dbscan-float32": lambda: (DBSCAN(1.0), X.astype(np.float32)),
    "dbscan-sparse": lambda: (DBSCAN(1.0), sparse.csr_array(X)),
    "dbscan-no-core": lambda: (DBSCAN(1e-3), X),
    "dbscan-precomputed": lambda: (DBSCAN(1.0, metric="precomputed"), DISTANCES),
    "dbscan-graph": lambda: (DBSCAN(1.0, metric="precomputed"), GRAPH),
    "dbscan-minkowski": lambda: (DBSCAN(1.0, metric="minkowski", p=np.inf), X),
    "dbscan-mahalanobis": lambda: (DBSCAN(1.0, metric="mahalanobis"), X),
    "dbscan-weighted-columns": lambda: (
        DBSCAN(1.0, metric="minkowski", metric_params={"w": WEIGHTS}, p=3.0),
        X,
    ),
    "path": lambda: (DBSCANPath(4), X),
    "path-every-point": lambda: (DBSCANPath(1, metric="manhattan"), X),
    "path-few-points": lambda: (DBSCANPath(8), X[:5]),
}


@cache
def fitted(name: str) -> tuple[Any, Any]:
    """A model of that name, fitted, and its rows."""
    model, rows = MAKERS[name]()
    return model.fit(rows), rows


# Of every estimator, and of every way in which files of them differ.
KINDS = ("kmeans", "mixture-full", "mixture-tied", "mixture-missing", "mixture-from-kmeans",
         "dbscan", "dbscan-sparse", "dbscan-weighted-columns", "path")  # fmt: skip


def of_kind(kind: str, seed: int = 0) -> Model:
    model, rows = fitted(kind)
    return Model(model, Scaling.of(rows, "none"), tuple("abcd"), {"seed": seed})


def answers(model: Any, rows: Any) -> dict[str, Any]:
    """The answers of a model about rows, by question; of a path, at several eps."""
    if isinstance(model, DBSCANPath):
        some = model.changes()[1 :: max(1, len(model.changes()) // 7)]
        curve = model.curve(some)
        told = {f"labels({eps})": model.labels(eps) for eps in some}
        return {**told, "changes": model.changes(), "largest": curve.largest}
    asked = {name: getattr(model, name)(rows) for name in QUESTIONS if hasattr(model, name)}
    if hasattr(model, "bic"):
        asked |= {"bic": model.bic(rows), "sample": model.sample(20)[0]}
    return asked


def as_mixture(start: FirstMixture) -> Mixture:
    """The part of the start of a run that a file holds."""
    return Mixture(start.weights, start.means, start.covariances)


def assert_same(a: Any, b: Any) -> None:
    """The same types, and the same values to the last bit."""
    a, b = (as_mixture(x) if isinstance(x, FirstMixture) else x for x in (a, b))
    assert type(a) is type(b)
    if sparse.issparse(a):
        a, b = a.toarray(), b.toarray()
    if isinstance(a, np.ndarray):
        assert a.dtype == b.dtype
        assert a.shape == b.shape
        assert a.tobytes() == b.tobytes() if a.dtype != object else a.tolist() == b.tolist()
    elif isinstance(a, tuple | list):
        assert len(a) == len(b)
        for one, other in zip(a, b, strict=True):
            assert_same(one, other)
    elif isinstance(a, dict):
        assert a.keys() == b.keys()
        for key in a:
            assert_same(a[key], b[key])
    elif hasattr(a, "__dataclass_fields__"):
        for name in a.__dataclass_fields__:
            assert_same(getattr(a, name), getattr(b, name))
    else:
        assert repr(a) == repr(b)
