"""The method that suits the data, decided by three choices on the same rows.

The choices are those of k-means for every k, mixtures for every k, and DBSCAN along eps. Density
decides first, because empty space sets its clusters apart beyond doubt; then mixtures, whose
clusters may be long; otherwise k-means is taken.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score, homogeneity_score

from coterie.choosing.eps import EpsChoice
from coterie.choosing.k import KChoice
from coterie.choosing.spreads import spreads
from coterie.formatting import number, plural
from coterie.interruptible import interruptible

UNEQUAL = 10.0  # ratio of spreads from which columns are scaled
SAME = 0.9  # adjusted Rand index of clusterings that count as the same
WITHIN = 0.98  # homogeneity of clusters that only divide others
WIDE = 1.2  # ratio of eps over which the same clusters are found
FEW_LEFT = 0.15  # noise beside clear clusters, as a part of the rows
FEW_CRUMBS = 1.5  # ratio of all clusters to the large ones
GOOD = 0.6  # silhouette of groups that are clearly apart


@dataclass(frozen=True)
class UnequalSpreads:
    """Two columns of which one would decide alone."""

    wide: int  # position
    narrow: int
    ratio: float


@dataclass(frozen=True)
class Decision:
    """A method, and the reason in words."""

    method: str  # "kmeans", "mixture" or "dbscan"
    reason: str


def unequal_spreads(X: Any) -> UnequalSpreads | None:
    """Return the columns of largest and smallest spread where they need scaling. (n, d)"""
    spread, _ = spreads(X)
    varying = np.flatnonzero(spread > 0)
    if len(varying) < 2:
        return None
    wide, narrow = varying[np.argmax(spread[varying])], varying[np.argmin(spread[varying])]
    ratio = float(spread[wide] / spread[narrow])
    return UnequalSpreads(int(wide), int(narrow), ratio) if ratio >= UNEQUAL else None


@dataclass(frozen=True, eq=False)
class Evidence:
    """The three choices on the same rows; None for a method that was not tried."""

    X: Any  # (n, d)
    kmeans: KChoice
    mixture: KChoice | None = None
    dbscan: EpsChoice | None = None

    def decide(self) -> Decision:
        """Return the method that suits the rows."""
        if self.dense_clusters and not self.kmeans_finds_dense_clusters:
            return Decision("dbscan", _against_kmeans(self.kmeans, self.dbscan))
        if self.mixture is not None and self._speaks_for_mixture(self.mixture):
            return Decision("mixture", "BIC and ICL agree, and the clusters are not round")
        return Decision("kmeans", self.kmeans.reason)

    @cached_property
    def dense_clusters(self) -> bool:
        """The same few clusters are found over a range of eps, and little noise is left."""
        if self.dbscan is None:
            return False
        row = next(row for row in self.dbscan.rows if row.eps == self.dbscan.eps)
        low, high = self.dbscan.plateau or (1.0, 1.0)
        few_crumbs = row.n_clusters <= FEW_CRUMBS * row.large
        return bool(high >= WIDE * low and row.noise <= FEW_LEFT and few_crumbs)

    @cached_property
    def kmeans_finds_dense_clusters(self) -> bool:
        """k-means finds the dense clusters too, or divides them for good reasons."""
        if self.dbscan is None:
            return False
        dense = self.dbscan.model.labels_
        inside = dense >= 0
        labels = self.kmeans.model.labels_[inside]
        if interruptible(adjusted_rand_score, dense[inside], labels) >= SAME:
            return True
        picks, k = self.kmeans.picks, self.kmeans.k
        row = next(row for row in self.kmeans.rows if row.k == k)
        divides = interruptible(homogeneity_score, dense[inside], labels) >= WITHIN
        agreed = k in (picks.get("knee"), picks.get("stability"))
        return bool(divides and agreed and (row.silhouette or 0.0) >= GOOD)

    def _speaks_for_mixture(self, mixture: KChoice) -> bool:
        """Criteria agree on Gaussians that restarts find again and k-means does not."""
        row = next(row for row in mixture.rows if row.k == mixture.k)
        agreed = mixture.picks.get("bic") == mixture.picks.get("icl") == mixture.k
        sure = mixture.k < mixture.rows[-1].k and (row.stability or 0.0) >= SAME
        if mixture.k < 2 or not agreed or not sure:
            return False
        other = self.kmeans.model.labels_
        return bool(interruptible(adjusted_rand_score, mixture.model.predict(self.X), other) < SAME)


def _against_kmeans(kmeans: KChoice, dbscan: Any) -> str:
    low, high = dbscan.plateau
    count = plural(dbscan.model.n_clusters_, "cluster")
    return (
        f"empty space sets {count} apart (for every eps from {number(low)} to {number(high)}), "
        f"and k-means, which would take {kmeans.k}, does not find them: they are not round"
    )
