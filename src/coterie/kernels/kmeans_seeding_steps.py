"""Steps of the seedings on one block; `coterie.algorithms.kmeans.seeding` puts them together.

Units are whole numbers that stand for squared distances from the nearest seed, D(x)^2. Sums of
units are exact. The leading bits of its hash name the bucket of a row, and units are summed by
bucket. So a draw looks at the rows of one bucket only.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from coterie.arrays import Floats, Integers
from coterie.kernels import _native
from coterie.kernels.block import Block
from coterie.kernels.scan_steps import Survey

FEWEST_BUCKET_BITS = 4


def bucket_bits(n_rows: int) -> int:
    """Leading bits of a hash that number its bucket: so many that a bucket has a few rows."""
    return min(max(FEWEST_BUCKET_BITS, n_rows.bit_length() - 3), _native.MOST_BUCKET_BITS)


@dataclass(frozen=True)
class Seeds:
    """The seeds so far: with them a block can find every distance again."""

    run: int
    survey: Survey
    expected: int  # number of seeds in the end, about
    points: Floats  # (m, d) in the order in which they became seeds
    coarse: bool = True  # distances are float32; False: float64

    @classmethod
    def none_yet(cls, run: int, survey: Survey, expected: int) -> Seeds:
        return cls(run, survey, expected, np.empty((0, survey.n_features)))

    def __len__(self) -> int:
        return len(self.points)

    def followed_by(self, points: Floats) -> Seeds:
        together = np.concatenate([self.points, points])
        return Seeds(self.run, self.survey, self.expected, together, self.coarse)

    def first(self, count: int) -> Seeds:
        return replace(self, points=self.points[:count])

    def refined(self) -> Seeds:
        """The same seeds, with float64 distances from now on."""
        return replace(self, coarse=False)


@dataclass(frozen=True)
class RowCounts:
    """Numbers of rows, each counted as often as its weight says."""

    by_bucket: Integers  # (2**bucket_bits,) by bucket of the rows' hashes
    copies: int  # rows, or whole copies of them
    unit: float  # the power of two that multiplies coordinates before distances are taken

    def __add__(self, other: RowCounts) -> RowCounts:
        by_bucket = self.by_bucket + other.by_bucket
        return RowCounts(by_bucket, self.copies + other.copies, self.unit)


@dataclass(frozen=True)
class SeedDistances:
    """Squared distances of rows from their nearest seed, as the largest of them and their sums."""

    largest: Floats  # (seeds that joined,) after each of them, or (1,) if none did
    units: Integers  # (2**bucket_bits,) in the end, by bucket of the rows' hashes

    def __add__(self, other: SeedDistances) -> SeedDistances:
        return SeedDistances(np.maximum(self.largest, other.largest), self.units + other.units)


@dataclass(frozen=True)
class DistinctValues:
    """Distinct rows by hash, each with the sum of units over its copies."""

    hashes: NDArray[np.uint64]  # (m,) ascending
    units: Integers  # (m,)
    values: Floats  # (m, d)

    def __add__(self, other: DistinctValues) -> DistinctValues:
        hashes = np.concatenate([self.hashes, other.hashes])
        units = np.concatenate([self.units, other.units])
        values = np.concatenate([self.values, other.values])
        distinct, first, back = np.unique(hashes, return_index=True, return_inverse=True)
        total = np.zeros(len(distinct), dtype=np.int64)
        np.add.at(total, back, units)
        return DistinctValues(distinct, total, values[first])


def count_rows(block: Block, seeds: Seeds) -> RowCounts:
    """Copies of the rows by bucket, before the first seed."""
    seeding = _native_seeding(block, seeds)
    seeding.start(1.0)  # with every row at distance one, a copy is a unit
    _, by_bucket = seeding.approach(None, 0)
    seeding.start(np.inf)
    _keep(block, seeds, 0, seeding)
    copies = _copies(block, seeds.survey)
    n_copies = block.n_rows if copies is None else int(copies.sum(dtype=np.int64))
    return RowCounts(by_bucket, n_copies, seeding.unit)


def copies_in_buckets(block: Block, seeds: Seeds, buckets: NDArray[np.int32]) -> DistinctValues:
    """The distinct rows in some buckets, with a unit for each copy."""
    seeding = _distances(block, seeds, 0)
    seeding.start(1.0)
    found = DistinctValues(*seeding.holdings(buckets, 0))
    seeding.start(np.inf)
    _keep(block, seeds, 0, seeding)
    return found


def add_seeds(block: Block, seeds: Seeds, since: int, shift: int) -> SeedDistances:
    """Distances after the seeds from number `since` on joined, one after the other.

    A squared distance s counts as rint(s 2^shift) units.
    """
    seeding = _distances(block, seeds, since)
    largest, units = [], None
    for point in seeds.points[since:]:
        far, units = seeding.approach(point, shift)
        largest.append(far)
    if units is None:
        far, units = seeding.approach(None, shift)
        largest.append(far)
    _keep(block, seeds, len(seeds), seeding)
    return SeedDistances(np.array(largest), units)


def values_in_buckets(
    block: Block, seeds: Seeds, buckets: NDArray[np.int32], shift: int
) -> DistinctValues:
    """The distinct rows in some buckets, with their units of distance."""
    seeding = _distances(block, seeds, len(seeds))
    found = DistinctValues(*seeding.holdings(buckets, shift))
    _keep(block, seeds, len(seeds), seeding)
    return found


def potentials(block: Block, seeds: Seeds, candidates: Floats, shift: int) -> Integers:
    """(candidates,) the potential, as a sum of units, with each candidate as one more seed."""
    seeding = _distances(block, seeds, len(seeds))
    found: Integers = seeding.potentials(candidates, shift)
    _keep(block, seeds, len(seeds), seeding)
    return found


def draw(block: Block, seeds: Seeds, salt: int, factor: float) -> DistinctValues:
    """Distinct rows drawn independently, each with probability ``factor * squared distance``."""
    seeding = _distances(block, seeds, len(seeds))
    found = DistinctValues(*seeding.draw(salt, factor))
    _keep(block, seeds, len(seeds), seeding)
    return found


def smallest_hashes(block: Block, survey: Survey, salt: int, count: int) -> DistinctValues:
    """The `count` distinct rows with the smallest salted hashes."""
    bits = FEWEST_BUCKET_BITS  # no bucket is looked at
    seeding = _native.Seeding(block.rows, survey.extent.low, survey.extent.high, None, bits, 0)
    return DistinctValues(*seeding.smallest_hashes(salt, count))


def _distances(block: Block, seeds: Seeds, count: int) -> _native.Seeding:
    """Distances of the rows from the first `count` seeds, out of the cache or found again.

    They leave the cache while a step works on them: an interrupt may leave them half changed.
    """
    known: tuple[int, bool, _native.Seeding] | None = block.cache(seeds.run).pop("seeding", None)
    joined, coarse, seeding = known if known is not None else (0, True, None)
    if seeding is None or joined > count or (seeds.coarse and not coarse):
        seeding, joined, coarse = _native_seeding(block, seeds), 0, True
        seeding.start(np.inf)
    if coarse and not seeds.coarse:
        seeding.refine(seeds.points[:count])
        return seeding
    for point in seeds.points[joined:count]:
        seeding.approach(point, 0)
    return seeding


def _keep(block: Block, seeds: Seeds, count: int, seeding: _native.Seeding) -> None:
    block.cache(seeds.run)["seeding"] = (count, seeds.coarse, seeding)


def _native_seeding(block: Block, seeds: Seeds) -> _native.Seeding:
    extent = seeds.survey.extent
    bits = bucket_bits(extent.n_rows)
    copies = _copies(block, seeds.survey)
    return _native.Seeding(block.rows, extent.low, extent.high, copies, bits, seeds.expected)


def _copies(block: Block, survey: Survey) -> NDArray[np.int32] | None:
    """(n,) whole copies of each row, by its weight; None: one of each."""
    if block.weights is None:
        return None
    copies = np.rint(block.weights * survey.copies_per_weight)
    return np.maximum(copies, 1).astype(np.int32)
