"""Consistency of a fitted estimator: values that are sound alone, and contradict each other.

Each function returns a sentence about the first contradiction, or None.
"""

from __future__ import annotations

import numpy as np

from coterie.algorithms.dbscan.every_eps import LEAST_REACH, Path
from coterie.algorithms.mixture.covariance import FAMILIES
from coterie.estimators import DBSCAN, DBSCANPath, GaussianMixture, KMeans
from coterie.estimators.dbscan.metrics import METRIC_NAMES
from coterie.kernels.dbscan_path_steps import METRICS, Nearest

KMEANS_METRICS = ("euclidean", "cosine")


def of_kmeans(model: KMeans) -> str | None:
    if model._fitted_metric not in KMEANS_METRICS:
        return f"its means are of the unknown metric {model._fitted_metric!r}"
    return None


def of_mixture(model: GaussianMixture) -> str | None:
    k, d = model.means_.shape
    fitted = model._fitted_type
    of_type = f"of covariance_type={fitted!r}"
    if fitted not in (*FAMILIES, "fixed"):
        return f"its covariances are of the unknown type {fitted!r}"
    if fitted == "fixed" and model.covariances_.ndim not in (1, 2, 3):
        return f"covariances_ of shape {model.covariances_.shape} are not {of_type}"
    family = model._family
    shape = family.shape(k, d)
    own = {name: getattr(model, name) for name in ("covariances_", "precisions_cholesky_")}
    for i, run in enumerate(model.runs_):
        own[f"runs_/{i}/covariances"] = run.covariances
        own[f"runs_/{i}/precisions_cholesky"] = run.precisions_cholesky
        own[f"runs_/{i}/start/covariances"] = run.start.covariances
    for name, values in own.items():
        if values.shape != shape:
            return f"{name} of shape {values.shape} are not {of_type}, whose shape is {shape}"
    if model.precisions_.shape != shape:  # computed on access, from arrays that were checked above
        return f"precisions_ of shape {model.precisions_.shape} are not {of_type}"
    for name in ("covariances_", "precisions_cholesky_"):
        values = own[name]
        spread = np.diagonal(values, axis1=-2, axis2=-1) if family.has_matrices else values
        if not (spread > 0).all():
            return f"{name} has a spread of zero or less"
    return None


def of_dbscan(model: DBSCAN) -> str | None:
    cores, labels = model.core_sample_indices_, model.labels_
    if labels.max(initial=-1) >= model.n_clusters_:
        return f"labels_ reach {labels.max()}, with {model.n_clusters_} clusters"
    if len(cores) and not ((cores[1:] > cores[:-1]).all() and (labels[cores] >= 0).all()):
        return "core_sample_indices_ are not increasing, or are not in clusters"
    kind = (labels >= 0).astype(np.uint8)
    kind[cores] = 2
    if not np.array_equal(model.kind_, kind):
        return "kind_ contradicts labels_ and core_sample_indices_"
    d = model.n_features_in_
    for name, values in (model._metric_params or {}).items():
        if isinstance(values, np.ndarray) and values.shape not in ((d,), (d, d)):
            return f"_metric_params/{name} of shape {values.shape} are not those of {d} columns"
    metric, eps = model._metric_of_fit, getattr(model, "_eps", model.eps)
    if not (0 < eps < np.inf and metric.p > 0):
        return f"its clusters are of eps={eps!r} and p={metric.p!r}"
    if not (callable(metric.name) or metric.name in METRIC_NAMES):
        return f"its clusters are of the unknown metric {metric.name!r}"
    if metric.name == "precomputed":
        return None if model.n_features_in_ == len(labels) else "distances are not square"
    if not hasattr(model, "components_"):
        return "components_ are not there"
    return None


def of_path(model: DBSCANPath) -> str | None:
    path: Path = model._path
    if path.metric not in METRICS or not 0 < path.unit < np.inf:
        return f"its structure is of the metric {path.metric!r}"
    return _of_nearest(path.near) or _of_chain(path) or _of_distances(model, path)


def _of_nearest(near: Nearest) -> str | None:
    """Check lists of nearest rows: each ascends, and agrees with the eps of its row.

    A native cut follows these numbers unchecked, so they must agree with each other.
    """
    n, k = near.sums.shape
    if not np.array_equal(near.neighbours < 0, np.isinf(near.sums)):
        return "_path/near/neighbours has no row where there is a distance"
    if not (near.sums[:, 1:] >= near.sums[:, :-1]).all():
        return "_path/near/sums do not ascend"
    last = near.sums[:, -1] if k else np.zeros(n)
    if not (np.array_equal(near.core, last) or np.isinf(near.core).all()):  # too few rows for any
        return "_path/near/core is not the last of _path/near/sums"
    member = near.core.copy()
    for sums, neighbours in zip(near.sums.T, near.neighbours.T, strict=True):
        np.minimum(member, np.maximum(sums, near.core[neighbours]), out=member)
    if not np.array_equal(near.member, member):
        return "_path/near/member contradicts the nearest core rows"
    return None


def _of_chain(path: Path) -> str | None:
    """Check the chain: it holds each row once, joins core rows only, and has an end."""
    order, height, core = path.chain.order, path.chain.height, path.near.core
    if not np.array_equal(np.sort(order), np.arange(len(core))):
        return "_path/chain/order has some row twice"
    if not len(height) or height[-1] != np.inf:
        return "_path/chain/height does not end in infinity"
    if not (height[:-1] >= np.maximum(core[order[:-1]], core[order[1:]])).all():
        return "_path/chain/height joins rows that are not core"
    return None


def _of_distances(model: DBSCANPath, path: Path) -> str | None:
    """Check the public attributes: they follow from the structure."""
    kept = {
        "core_distances_": path.near.core,
        "member_distances_": path.near.member,
        "merge_distances_": np.sort(path.chain.height)[:-1],
    }
    for name, sums in kept.items():
        if not np.array_equal(getattr(model, name), path.distances(sums)):
            return f"{name} are not those of its structure"
    if model._least_eps not in (0.0, LEAST_REACH / path.unit):
        return f"its smallest eps is {model._least_eps!r}"
    return None
