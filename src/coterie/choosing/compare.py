"""Models side by side: agreement, silhouettes and sizes of their clusters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics import adjusted_mutual_info_score, adjusted_rand_score
from sklearn.utils.validation import check_is_fitted

from coterie.arrays import Floats
from coterie.choosing import arguments
from coterie.choosing.match_labels import matched
from coterie.choosing.sampling import checked_rows, labels_given, labels_of, takes_gaps, unwrapped
from coterie.choosing.silhouettes import Silhouettes, silhouettes
from coterie.formatting import share, text_table
from coterie.interruptible import interruptible

Labels = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class ModelComparison:
    """Clusterings of the same rows by several models, side by side."""

    names: tuple[str, ...]
    ari: Floats  # (m, m) adjusted Rand index of each pair; 1: the same clusters
    ami: Floats  # (m, m) adjusted mutual information
    silhouettes: tuple[float | None, ...]  # means; None with fewer than two clusters
    sizes: tuple[Mapping[int, int], ...]  # rows by cluster, numbers as in `labels`
    noise: tuple[float, ...]  # part of the rows
    sample: int | None  # rows whose silhouettes stand for all; None: exact
    labels: tuple[Labels, ...] = field(repr=False)  # numbers matched across models
    complete: int | None = None  # rows without missing cells, where others have some: silhouettes
    # are of these

    def table(self) -> dict[str, list[Any]]:
        """Columns with one entry per model; agreement is with the first model."""
        return {
            "model": list(self.names),
            "clusters": [len(sizes) for sizes in self.sizes],
            "largest": [max(s.values(), default=0) / len(self.labels[0]) for s in self.sizes],
            "noise": list(self.noise),
            "silhouette": list(self.silhouettes),
            "ari": [float(value) for value in self.ari[0]],
            "ami": [float(value) for value in self.ami[0]],
        }

    def __str__(self) -> str:
        table = self.table()
        width = max(len("model"), *map(len, self.names))
        columns = {
            "model".ljust(width): [name.ljust(width) for name in table.pop("model")],
            **table,
        }
        for name in ("largest", "noise"):
            columns[name] = [share(part) for part in columns[name]]
        lines = [text_table(columns), "", f"ari and ami: agreement with {self.names[0]}."]
        if self.sample is not None and self.sample != self.complete:
            lines[-1] += f" Silhouettes: a random sample of {self.sample:,} rows."
        if self.complete is not None:
            lines[-1] += f" Silhouettes: only of {self.complete:,} rows without missing cells."
        return "\n".join(lines)


def compare(
    X: Any,
    models: Sequence[Any] | Mapping[str, Any],
    *,
    names: Sequence[str] | None = None,
    sample_size: int | None = 5000,
    random_state: Any = 0,
) -> ModelComparison:
    """Compare the clusters that models find in the rows of X.

    Parameters
    ----------
    X : array-like or CSR matrix of shape (n_samples, n_features)
        With missing cells as NaN if there are labels among the models, or a mixture that takes
        them.
    models : sequence, or mapping from name to model
        Fitted estimators (``labels_`` where they have one for each row of X, `predict` otherwise),
        estimators to be fitted (a copy is), loaded models, or arrays of labels, (n_samples,).
    names : sequence of str or None, default=None
        By default the class of each model, and the parameters in which models of a class differ.
    sample_size : int or None, default=5000
        Rows whose Euclidean silhouettes stand for all when there are more; None: exact.
    random_state : int, RandomState instance or None, default=0
        Seed of the sample.

    Returns
    -------
    ModelComparison
    """
    sample_size = arguments.sample_size(sample_size)
    arguments.seed(random_state)
    if isinstance(models, Mapping):
        names, models = tuple(map(str, models)), list(models.values())
    models, names = _listed(models, "models"), None if names is None else _listed(names, "names")
    if not len(models) or (names is not None and len(names) != len(models)):
        count = len(models)
        raise ValueError(
            f"expected one or more models and a name for each, got {count} models and "
            f"{'no' if names is None else len(names)} names; pass a dict of name and model"
        )
    rows = checked_rows(X, gaps=any(_takes_gaps(model, X) for model in models))
    labels = matched([_labels(model, X, rows) for model in models])
    whole = _complete(rows)
    looked = Silhouettes(None, (np.empty(0),) * len(labels), ())
    if whole is None:
        looked = silhouettes(rows, labels, sample_size=sample_size, random_state=random_state)
    elif len(whole):
        own = [labelling[whole] for labelling in labels]
        looked = silhouettes(rows[whole], own, sample_size=sample_size, random_state=random_state)
    return ModelComparison(
        names=tuple(_names(models) if names is None else map(str, names)),
        ari=_agreement(labels, adjusted_rand_score),
        ami=_agreement(labels, adjusted_mutual_info_score),
        silhouettes=looked.means,
        sizes=tuple(_sizes(own) for own in labels),
        noise=tuple(float((own < 0).mean()) for own in labels),
        sample=looked.sample,
        labels=labels,
        complete=None if whole is None else len(whole),
    )


def _takes_gaps(model: Any, X: Any) -> bool:
    """Return whether missing cells are no fault for a model, or for labels."""
    if hasattr(model, "fit") or hasattr(model, "predict"):
        return takes_gaps(unwrapped(model, X)[0])
    return not sparse.issparse(X)


def _complete(rows: Any) -> NDArray[np.intp] | None:
    """Rows without a missing cell; None: all rows."""
    gaps = np.isnan(rows.data if sparse.issparse(rows) else rows)
    return np.flatnonzero(~gaps.any(axis=1)) if gaps.any() else None


def _listed(values: Any, name: str) -> list[Any]:
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise TypeError(
            f"expected a list of {name}, got {type(values).__name__}; pass a dict of name and "
            "model, or a list even of one"
        )
    return list(values)


def _agreement(labels: Sequence[Labels], score: Callable[[Labels, Labels], float]) -> Floats:
    """Scores of all pairs, (m, m): symmetric, and 1 for a model with itself."""
    found = np.eye(len(labels))
    for i, j in combinations(range(len(labels)), 2):
        found[i, j] = found[j, i] = interruptible(score, labels[i], labels[j])
    return found


def _labels(model: Any, X: Any, rows: Any) -> Labels:
    if not hasattr(model, "fit") and not hasattr(model, "predict"):
        return labels_given(model, rows.shape[0])
    model, own = unwrapped(model, X)
    arguments.model(model, "compare")
    try:
        check_is_fitted(model)
    except ValueError:
        model = clone(model).fit(own)
    return labels_of(model, own, rows.shape[0])


def _sizes(labels: Labels) -> dict[int, int]:
    present, counts = np.unique(labels[labels >= 0], return_counts=True)
    return dict(zip(present.tolist(), counts.tolist(), strict=True))


SHOWN = (  # parameters in names
    "n_clusters",
    "n_components",
    "eps",
    "min_samples",
    "covariance_type",
    "init",
    "metric",
)


def _names(models: Sequence[Any]) -> list[str]:
    """Names of models: the class, and the parameters in which models of that class differ."""
    parts = []
    for model in models:
        model = getattr(model, "estimator", model)
        settings = model.get_params(deep=False) if hasattr(model, "get_params") else {}
        parts.append((type(model).__name__ if settings else "labels", settings))
    names = []
    for kind, settings in parts:
        alike = [other for name, other in parts if name == kind]
        differing = [
            f"{name}={settings[name]}"
            for name in SHOWN
            if name in settings and len({str(other.get(name)) for other in alike}) > 1
        ]
        names.append(f"{kind} {', '.join(differing)}".strip())
    return [
        name if names.count(name) == 1 else f"{name} {1 + names[:i].count(name)}"
        for i, name in enumerate(names)
    ]
