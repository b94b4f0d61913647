"""The record that every loader returns: rows to cluster, and the way back from labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coterie.data.scaling import Kind, Scaling

Labels = NDArray[np.intp]


class Origin(Protocol):
    """The source of rows: a table, a picture, a sound, texts, a video."""

    def ids(self) -> dict[str, NDArray[Any]]:
        """Return the identity of each row: named columns of n values."""
        ...

    def put_back(self, labels: Labels) -> Any:
        """Return the labels in the shape of the data: (height, width) for a picture, ..."""
        ...


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Rows of numbers, their source, and the way back from labels.

    Attributes
    ----------
    X : array or CSR matrix (n, d)
        The rows, C-ordered float64 (float32 where the file has nothing finer).
    columns : tuple of str
        Names of the columns.
    kind : {"table", "picture", "video", "sound", "text"}
    source : str
        The path.
    origin : Origin
        The source of the rows: `Patches`, `Pixels`, `Frames`, `Sound`, `Texts` or
        `TableRows`.
    provenance : mapping
        The making of X, in JSON's types, to be stored with a model.
    scaling : Scaling or None
        The scaling of X, which new rows need too.
    """

    X: Any
    columns: tuple[str, ...]
    kind: str
    source: str
    origin: Origin
    provenance: Mapping[str, Any] = field(default_factory=dict)
    scaling: Scaling | None = None

    def __len__(self) -> int:
        """Return the number of rows."""
        return int(self.X.shape[0])

    def __repr__(self) -> str:
        """Return kind, source and size in words."""
        scaled = "" if self.scaling is None else f", scaling {self.scaling.kind}"
        return (
            f"Dataset({self.kind} {self.source!r}: {len(self):,} rows of {len(self.columns)} "
            f"columns{scaled})"
        )

    @property
    def ids(self) -> dict[str, NDArray[Any]]:
        """The identity of each row: its number or id, its place in the picture, its time."""
        return self.origin.ids()

    def put_back(self, labels: ArrayLike) -> Any:
        """Return labels, (n,), in the shape of the data; each kind has its own, see `origin`."""
        return self.origin.put_back(check_labels(labels, len(self)))

    def table(self, labels: ArrayLike) -> dict[str, NDArray[Any]]:
        """Return identity and cluster of each row, as columns ready to be written."""
        return {**self.ids, "cluster": check_labels(labels, len(self))}

    def scaled(self, kind: Kind) -> Dataset:
        """Return the same data with scaled columns, and the scaling kept."""
        if self.scaling is not None:
            raise ValueError(
                f"expected data that are not scaled yet, got scaling {self.scaling.kind!r}; "
                "read the file again, or scale once"
            )
        scaling = Scaling.of(self.X, kind)
        return replace(self, X=scaling.apply(self.X), scaling=scaling)


def check_labels(labels: ArrayLike, n: int) -> Labels:
    """Return labels as integers, one per row, or raise an error."""
    checked = np.asarray(labels)
    if checked.shape != (n,) or checked.dtype.kind not in "iu":
        raise ValueError(
            f"expected one integer label per row, shape ({n},), got shape {checked.shape} of dtype "
            f"{checked.dtype}; pass the labels_ of a model that was fitted to these rows"
        )
    if n and checked.min() < -1:
        raise ValueError(
            f"expected labels of -1 (outlier) or more, got {checked.min()}; "
            "number the clusters from 0"
        )
    return checked.astype(np.intp, copy=False)
