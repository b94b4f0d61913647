"""Relocation of empty clusters: the rule of `empty_clusters="relocate"`.

Each empty cluster gets one of the points farthest from their means, farthest first and the lower
row among equals. The driver keeps such an assignment where it lowers the error, so the error never
rises. A run ends with an empty cluster only if every point lies on its mean.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from coterie.arrays import Floats
from coterie.kernels import kmeans_steps
from coterie.kernels.exact import ClusterSums
from coterie.kernels.kmeans_steps import Farthest
from coterie.kernels.scan_steps import Survey


@dataclass(frozen=True)
class Relocation:
    """Points that were given to empty clusters."""

    clusters: dict[int, int] = field(default_factory=dict)  # row -> its new cluster
    values: dict[int, Floats] = field(default_factory=dict)  # row -> (d,)


def relocated(before: ClusterSums, far: Farthest, survey: Survey) -> tuple[ClusterSums, Relocation]:
    """The sums after the far points went to the empty clusters."""
    sums, mass = before.sums.copy(), before.mass.copy()
    relocation = Relocation()
    for c, point in zip(empty_clusters(before), far.points, strict=False):
        if point.distance == 0:
            break  # every point lies on its mean: nothing is gained by moving
        one = kmeans_steps.single_row(survey, point.value, point.weight)
        sums[point.label] -= one.sums[0]
        mass[point.label] -= one.mass[0]
        sums[c] += one.sums[0]
        mass[c] += one.mass[0]
        relocation.clusters[point.row] = int(c)
        relocation.values[point.row] = point.value
    return replace(before, sums=sums, mass=mass), relocation


def empty_clusters(sums: ClusterSums) -> list[int]:
    """The numbers of the clusters without rows, in ascending order."""
    return [int(c) for c in np.flatnonzero(~sums.active)]


def count_moved(
    nearest: int, before: Relocation, after: Relocation, old: Floats, new: Floats
) -> int:
    """The number of points that changed cluster, with relocated points in their new clusters.

    nearest : points of which the nearest mean changed; old, new : (k, d) the means before and now
    """
    values = before.values | after.values
    if not values:
        return nearest
    rows = np.array(list(values.values()))
    for row, was, now in zip(
        values, kmeans_steps.nearest_to(rows, old), kmeans_steps.nearest_to(rows, new), strict=True
    ):
        nearest -= int(was != now)
        nearest += int(before.clusters.get(row, was) != after.clusters.get(row, now))
    return nearest
