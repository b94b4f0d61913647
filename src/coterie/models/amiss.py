"""What is amiss in a fitted estimator, beyond each value by itself: a sentence, or None."""

from __future__ import annotations

import numpy as np

from coterie.algorithms.covariance import family_of
from coterie.algorithms.reachability import Path
from coterie.estimators import DBSCAN, DBSCANPath, GaussianMixture
from coterie.kernels.reachability_steps import METRICS


def in_mixture(model: GaussianMixture) -> str | None:
    k, d = model.means_.shape
    of_type = f"of covariance_type={model.covariance_type!r}"
    if model.covariance_type == "fixed" and model.covariances_.ndim not in (1, 2, 3):
        return f"covariances_ of shape {model.covariances_.shape} are not {of_type}"
    family = family_of(model.covariance_type, model.covariances_)
    shape = family.shape(k, d)
    own = {name: getattr(model, name) for name in ("covariances_", "precisions_cholesky_")}
    for i, run in enumerate(model.runs_):
        own[f"runs_/{i}/covariances"] = run.covariances
        own[f"runs_/{i}/precisions_cholesky"] = run.precisions_cholesky
        own[f"runs_/{i}/start/covariances"] = run.start.covariances
    for name, values in own.items():
        if values.shape != shape:
            return f"{name} of shape {values.shape} are not {of_type}, whose shape is {shape}"
    if model.precisions_.shape != shape:  # made when asked for, from what was right until here
        return f"precisions_ of shape {model.precisions_.shape} are not {of_type}"
    for name in ("covariances_", "precisions_cholesky_"):
        values = own[name]
        spread = np.diagonal(values, axis1=-2, axis2=-1) if family.whole else values
        if not (spread > 0).all():
            return f"{name} has a spread of zero or less"
    return None


def in_density(model: DBSCAN) -> str | None:
    cores, labels = model.core_sample_indices_, model.labels_
    if labels.max(initial=-1) >= model.n_clusters_:
        return f"labels_ reach {labels.max()}, with {model.n_clusters_} clusters"
    if len(cores) and not ((cores[1:] > cores[:-1]).all() and (labels[cores] >= 0).all()):
        return "core_sample_indices_ are not increasing, or are not in clusters"
    kind = (labels >= 0).astype(np.uint8)
    kind[cores] = 2
    if not np.array_equal(model.kind_, kind):
        return "kind_ is not what labels_ and core_sample_indices_ say"
    if model.metric == "precomputed":
        return None if model.n_features_in_ == len(labels) else "distances are not square"
    if not hasattr(model, "components_"):
        return "components_ are not there"
    return None


def in_path(model: DBSCANPath) -> str | None:
    path: Path = model._path
    n = len(path.near.core)
    if path.metric not in METRICS or path.metric != model.metric or not 0 < path.unit < np.inf:
        return f"its structure is of the metric {path.metric!r}"
    if not np.array_equal(np.sort(path.chain.order), np.arange(n)):
        return "_path/chain/order has some row twice"
    if not np.array_equal(path.near.neighbours < 0, np.isinf(path.near.sums)):
        return "_path/near/neighbours has no row where there is a distance"
    return None
