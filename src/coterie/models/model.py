"""A model ready for new data: the estimator, and the preparation of its data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from coterie.data.dataset import Dataset
from coterie.data.scaling import Scaling


@dataclass(frozen=True, eq=False)
class Model:
    """A fitted estimator with the scaling and the columns of the data it was fitted to.

    Attributes
    ----------
    estimator : fitted estimator
    scaling : Scaling or None
        Applied to new rows before the estimator sees them.
    columns : tuple of str
        Names of the columns, or empty if they have none.
    provenance : mapping
        Where the data came from, in JSON's types.
    """

    estimator: Any
    scaling: Scaling | None = None
    columns: tuple[str, ...] = ()
    provenance: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, estimator: Any, data: Dataset) -> Model:
        """Return the model of an estimator that was fitted to ``data.X``."""
        return cls(estimator, data.scaling, data.columns, dict(data.provenance))

    def rows(self, data: Any) -> Any:
        """Return new data as the estimator wants them: the same columns, scaled the same way.

        `data` is a `Dataset` that is not scaled yet, a data frame, whose columns are chosen by
        name, or an array with the same columns in the same order.
        """
        if isinstance(data, Dataset):
            if data.scaling is not None:
                raise ValueError(
                    f"expected data that are not scaled yet, got {data!r}; read the file without "
                    "scaling: the model has its own"
                )
            data = _chosen(data.X, data.columns, self.columns)
        elif hasattr(data, "columns") and self.columns:
            data = _chosen(np.asarray(data), tuple(map(str, data.columns)), self.columns)
        return data if self.scaling is None else self.scaling.apply(data)

    def predict(self, data: Any) -> Any:
        """Return the cluster of each row of new data."""
        return self._ask("predict", data)

    def predict_proba(self, data: Any) -> Any:
        """Return the degrees to which each row of new data belongs to each component."""
        return self._ask("predict_proba", data)

    def transform(self, data: Any) -> Any:
        """Return the distance of each row of new data to each mean, in the units of the fit."""
        return self._ask("transform", data)

    def score(self, data: Any) -> Any:
        """Return the score of new data; higher is a better fit."""
        return self._ask("score", data)

    def _ask(self, question: str, data: Any) -> Any:
        method = getattr(self.estimator, question, None)
        if method is None:
            raise TypeError(
                f"expected an estimator with {question}, got {type(self.estimator).__name__}, "
                "which has none; use predict, or another method of clustering"
            )
        return method(self.rows(data))


def _chosen(X: Any, there: tuple[str, ...], wanted: tuple[str, ...]) -> Any:
    """Return the wanted columns of X, by name."""
    if not wanted or there == wanted:
        return X
    for names, where in ((there, "these data"), (wanted, "the data of the fit")):
        twice = [name for name, times in Counter(names).items() if times > 1 and name in wanted]
        if twice:
            raise ValueError(
                f"expected each of the model's columns once, got {names.count(twice[0])} columns "
                f"named {twice[0]!r} in {where}; rename all but the one that is meant, or pass an "
                "array of the columns in their order"
            )
    absent = [name for name in wanted if name not in there]
    if absent:
        raise ValueError(
            f"expected the columns {', '.join(map(repr, wanted))}, as when the model was fitted, "
            f"but there is no {absent[0]!r} among {', '.join(map(repr, there))}; rename or add it"
        )
    return X[:, [there.index(name) for name in wanted]]
