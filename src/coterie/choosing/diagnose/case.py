"""What the checks of a fit share: the case they look at, and a finding."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from coterie.choosing.sampling import Rows
from coterie.formatting import share

ONE_HOLDS_NEARLY_ALL = 0.95


@dataclass(frozen=True)
class Finding:
    """A diagnosis in the making."""

    code: str
    sentence: str
    change: str
    parameters: Mapping[str, Any] = field(default_factory=dict)


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
        """(clusters,) rows in each, by number."""
        return np.bincount(self.labels + 1)[1:]  # without noise, -1

    @cached_property
    def noise(self) -> float:
        """Part of the rows."""
        return float((self.labels < 0).mean())

    @cached_property
    def largest(self) -> float:
        """Part of the rows in the largest cluster."""
        return float(self.sizes.max(initial=0)) / self.n

    def column(self, place: int) -> str:
        return f"column {place}" if self.names is None else repr(str(self.names[place]))

    def nearly_all(self) -> str:
        holder = int(np.argmax(self.sizes))
        return f"cluster {holder} holds {share(self.largest)} of the rows"
