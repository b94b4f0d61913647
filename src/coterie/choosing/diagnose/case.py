"""The case that all checks look at, and the diagnosis that they may find."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from coterie.choosing.sampling import Rows
from coterie.formatting import share
from coterie.remedies import Remedy, alternatives, in_python

ONE_HOLDS_NEARLY_ALL = 0.95


@dataclass(frozen=True)
class Diagnosis:
    """One thing that a person should know about a fit, and could change."""

    code: str  # such as "mostly-noise"; stays the same in later versions
    sentence: str  # the fault
    remedies: tuple[Remedy, ...]

    @property
    def change(self) -> str:
        """The remedies in words."""
        return alternatives([remedy.words(in_python) for remedy in self.remedies])

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The first remedy that sets parameters, for ``set_params``; may be empty."""
        settable = (dict(remedy.parameters) for remedy in self.remedies if remedy.parameters)
        return next(settable, {})

    def __str__(self) -> str:
        return f"{self.sentence}: {self.change}"


@dataclass(frozen=True, eq=False)
class Case:
    """A fitted model, its rows, and their labels."""

    model: Any
    X: Any  # (n, d)
    labels: Rows
    names: Any  # of the columns, or None

    @property
    def n(self) -> int:
        return len(self.labels)

    @cached_property
    def sizes(self) -> Rows:
        """(clusters,) number of rows in each cluster."""
        return np.bincount(self.labels + 1)[1:]  # without noise, -1

    @cached_property
    def noise(self) -> float:
        """Noise, as a part of the rows."""
        return float((self.labels < 0).mean())

    @cached_property
    def largest(self) -> float:
        """Rows of the largest cluster, as a part of all rows."""
        return float(self.sizes.max(initial=0)) / self.n

    def column(self, place: int) -> str:
        """Name of a column in a sentence."""
        return f"column {place}" if self.names is None else repr(str(self.names[place]))

    def nearly_all(self) -> str:
        """Sentence on the largest cluster."""
        holder = int(np.argmax(self.sizes))
        return f"cluster {holder} holds {share(self.largest)} of the rows"
