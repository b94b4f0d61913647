"""The report of a result for programs: clusters as records, and the summary as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from coterie.algorithms.stop import StopReason
from coterie.cli.option_names import change_as_options

if TYPE_CHECKING:
    from coterie.cli.run.result import Result

TELLING = ("n_clusters", "n_components", "covariance_type", "eps", "min_samples", "metric", "init",
           "init_params", "n_init", "random_state")  # fmt: skip
REACHED = ("clustering_error_", "soft_clustering_error_", "n_iter_", "converged_", "stopped_")
BLOCK = 1 << 15  # rows of one sum


def as_json(result: Result) -> dict[str, Any]:
    """Return the summary as JSON values."""
    model, labels = result.model, np.asarray(result.labels)
    found: dict[str, Any] = {
        "input": result.data.source,
        "kind": result.data.kind,
        "rows": len(result.data),
        "columns": list(result.data.columns) if result.data.kind != "text" else None,
        "scaling": None if result.data.scaling is None else result.data.scaling.kind,
        "method": result.method,
        "parameters": _parameters(model),
        "n_clusters": n_clusters(labels),
        "noise": int(counts_of(labels)[0]),
        "clusters": clusters(result),
        "reasons": result.reasons,
        "diagnoses": [
            {
                "code": diagnosis.code,
                "sentence": diagnosis.sentence,
                "change": change_as_options(diagnosis),
                "parameters": dict(diagnosis.parameters),
            }
            for diagnosis in result.diagnoses
        ],
        "warnings": result.warnings,
        "seconds": {doing: round(took, 6) for doing, took in result.seconds.items()},
    }
    for name in REACHED:
        if hasattr(model, name):
            found[name.rstrip("_")] = getattr(model, name)
    return found


def _parameters(model: Any) -> dict[str, Any]:
    there = model.get_params(deep=False)
    return {name: there[name] for name in TELLING if name in there}


def counts_of(labels: NDArray[Any]) -> NDArray[np.intp]:
    """Return the numbers of rows, (1 + k,): of noise, then of each cluster."""
    return np.bincount(np.asarray(labels) + 1, minlength=1)


def n_clusters(labels: NDArray[Any]) -> int:
    """Return the number of clusters that have rows."""
    return int(np.count_nonzero(counts_of(labels)[1:]))


def clusters(result: Result) -> list[dict[str, Any]]:
    """Return one record per cluster, by number; noise is last, as -1."""
    labels = np.asarray(result.labels)
    means = cluster_means(result)
    words = _top_words(result)
    found = []
    counts = counts_of(labels)
    for cluster in np.flatnonzero(counts) - 1:
        count = counts[cluster + 1]
        record: dict[str, Any] = {"cluster": int(cluster), "rows": int(count)}
        record["share"] = float(count / len(labels))
        if means is not None and cluster >= 0:
            values = map(float, means[cluster])
            record["mean"] = dict(zip(result.data.columns, values, strict=True))
        if words is not None and cluster >= 0:
            record["words"] = words[int(cluster)]
        found.append(record)
    return sorted(found, key=lambda record: (record["cluster"] < 0, record["cluster"]))


def cluster_means(result: Result) -> NDArray[np.float64] | None:
    """Return means of the rows of each cluster, (k, d), in units of the input; None for texts."""
    data, labels = result.data, np.asarray(result.labels)
    if data.kind == "text" or sparse.issparse(data.X):
        return None
    means = _known_means(result)
    if means is None:
        means = _means_of(data.X, labels)
    return means if data.scaling is None else data.scaling.undo(means)


def _known_means(result: Result) -> NDArray[np.float64] | None:
    """Return the means of a k-means fit that ran to its end: they are those of its rows."""
    model = result.model
    at_end = getattr(model, "stopped_", None) == StopReason.UNCHANGED
    if not at_end or getattr(model, "metric", None) != "euclidean":
        return None
    means: NDArray[np.float64] = model.cluster_centers_
    return means if result.labels is model.labels_ else None  # and not of new rows


def _means_of(X: NDArray[Any], labels: NDArray[Any]) -> NDArray[np.float64]:
    """Return means of the rows of each cluster, (k, d), over the cells that are there."""
    k, d = int(labels.max(initial=-1)) + 1, X.shape[1]
    sums, counts = np.zeros((k + 1, d)), np.zeros((k + 1, d))
    for start in range(0, len(X), BLOCK):
        block, own = X[start : start + BLOCK], labels[start : start + BLOCK].astype(np.intp)
        own[own < 0] = k  # noise
        for column in range(d):
            values = block[:, column]
            there = ~np.isnan(values)
            known, of = (values, own) if there.all() else (values[there], own[there])
            sums[:, column] += np.bincount(of, known, minlength=k + 1)
            counts[:, column] += np.bincount(of, minlength=k + 1)
    return sums[:k] / np.maximum(counts[:k], 1)


def _top_words(result: Result) -> dict[int, list[str]] | None:
    if not hasattr(result.data.origin, "top_words"):
        return None
    found: dict[int, list[str]] = result.data.origin.top_words(result.labels, 6)
    return found
