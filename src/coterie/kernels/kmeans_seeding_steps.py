"""Steps of the seedings on one block. `coterie.algorithms.kmeans.seeding` tells how they fit
together."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from coterie.kernels import _native
from coterie.kernels.block import Block
from coterie.kernels.exact import Floats, Integers
from coterie.kernels.scan_steps import Survey

FEWEST_BUCKET_BITS = 4


def bucket_bits(n_rows: int) -> int:
    """Leading bits of a hash that number its bucket: a few rows in each, of all the data."""
    return min(max(FEWEST_BUCKET_BITS, n_rows.bit_length() - 3), _native.MOST_BUCKET_BITS)


@dataclass(frozen=True)
class Seeds:
    """The seeds so far: with them a block can find every distance again."""

    run: int
    survey: Survey
    expected: int  # about so many seeds will come
    points: Floats  # (m, d) in the order in which they became seeds
    coarse: bool = True  # distances are float32; False: float64

    @classmethod
    def none_yet(cls, run: int, survey: Survey, expected: int) -> Seeds:
        return cls(run, survey, expected, np.empty((0, survey.n_features)))

    def __len__(self) -> int:
        return len(self.points)

    def followed_by(self, points: Floats) -> Seeds:
        return replace(self, points=np.concatenate([self.points, points]))

    def first(self, count: int) -> Seeds:
        return replace(self, points=self.points[:count])

    def refined(self) -> Seeds:
        """The same seeds, with float64 distances from now on."""
        return replace(self, coarse=False)


@dataclass(frozen=True)
class Start:
    """All rows at distance one, so that a draw is a draw of rows."""

    units: Integers  # (2**bucket_bits,) by bucket of the rows' hashes
    copies: int  # rows, or whole copies of them
    unit: float  # the power of two that multiplies coordinates before distances are taken

    def __add__(self, other: Start) -> Start:
        return Start(self.units + other.units, self.copies + other.copies, self.unit)


@dataclass(frozen=True)
class Spread:
    """How far rows are from their nearest seed: the largest squared distance after each of the
    seeds that joined, and whole units of distance by bucket of the rows' hashes in the end."""

    largest: Floats  # (seeds that joined,), or (1,) if none did
    units: Integers  # (2**bucket_bits,)

    def __add__(self, other: Spread) -> Spread:
        return Spread(np.maximum(self.largest, other.largest), self.units + other.units)


@dataclass(frozen=True)
class Holdings:
    """Distinct values by hash, each with the units of distance that its rows hold together."""

    hashes: NDArray[np.uint64]
    units: Integers
    values: Floats

    def __add__(self, other: Holdings) -> Holdings:
        hashes = np.concatenate([self.hashes, other.hashes])
        units = np.concatenate([self.units, other.units])
        values = np.concatenate([self.values, other.values])
        distinct, first, back = np.unique(hashes, return_index=True, return_inverse=True)
        total = np.zeros(len(distinct), dtype=np.int64)
        np.add.at(total, back, units)
        return Holdings(distinct, total, values[first])


def start(block: Block, seeds: Seeds) -> Start:
    """Copies of the rows and units of distance, before the first seed."""
    seeding = _native_seeding(block, seeds)
    seeding.start(1.0)
    _, units = seeding.approach(None, 0)
    seeding.start(np.inf)
    _keep(block, seeds.first(0), seeding)
    copies = _copies(block, seeds.survey)
    n_copies = block.n_rows if copies is None else int(copies.sum(dtype=np.int64))
    return Start(units, n_copies, seeding.unit)


def rows_of_buckets(block: Block, seeds: Seeds, buckets: NDArray[np.int32]) -> Holdings:
    """The values in some buckets, every row at distance one."""
    seeding = _distances(block, seeds.first(0))
    seeding.start(1.0)
    found = Holdings(*seeding.holdings(buckets, 0))
    seeding.start(np.inf)
    _keep(block, seeds.first(0), seeding)
    return found


def approach(block: Block, seeds: Seeds, since: int, shift: int) -> Spread:
    """The seeds from number `since` on join, one after the other. A squared distance s counts
    rint(s 2^shift)."""
    seeding = _distances(block, seeds.first(since))
    largest, units = [], None
    for point in seeds.points[since:]:
        far, units = seeding.approach(point, shift)
        largest.append(far)
    if units is None:
        far, units = seeding.approach(None, shift)
        largest.append(far)
    _keep(block, seeds, seeding)
    return Spread(np.array(largest), units)


def holdings(block: Block, seeds: Seeds, buckets: NDArray[np.int32], shift: int) -> Holdings:
    """The values in some buckets, with their units of distance."""
    seeding = _distances(block, seeds)
    found = Holdings(*seeding.holdings(buckets, shift))
    _keep(block, seeds, seeding)
    return found


def potentials(block: Block, seeds: Seeds, candidates: Floats, shift: int) -> Integers:
    """Units of distance left over if each candidate became a seed."""
    seeding = _distances(block, seeds)
    left: Integers = seeding.potentials(candidates, shift)
    _keep(block, seeds, seeding)
    return left


def draw(block: Block, seeds: Seeds, salt: int, factor: float) -> Holdings:
    """Values drawn independently, each with chance ``factor * squared distance``."""
    seeding = _distances(block, seeds)
    found = Holdings(*seeding.draw(salt, factor))
    _keep(block, seeds, seeding)
    return found


def smallest_hashes(block: Block, survey: Survey, salt: int, count: int) -> Holdings:
    """The `count` distinct values with the smallest salted hashes."""
    bits = FEWEST_BUCKET_BITS  # not asked for
    seeding = _native.Seeding(block.rows, survey.extent.low, survey.extent.high, None, bits, 0)
    return Holdings(*seeding.smallest_hashes(salt, count))


def _distances(block: Block, seeds: Seeds) -> _native.Seeding:
    """Distances of the rows from these seeds, taken out of the cache or found again.

    An interrupted step leaves nothing in the cache, since its distances may be half changed.
    """
    known: tuple[int, bool, _native.Seeding] | None = block.cache(seeds.run).pop("seeding", None)
    count, coarse, seeding = known if known is not None else (0, True, None)
    if seeding is None or count > len(seeds) or (seeds.coarse and not coarse):
        seeding, count, coarse = _native_seeding(block, seeds), 0, True
        seeding.start(np.inf)
    if coarse and not seeds.coarse:
        seeding.refine(seeds.points)
        return seeding
    for point in seeds.points[count:]:
        seeding.approach(point, 0)
    return seeding


def _keep(block: Block, seeds: Seeds, seeding: _native.Seeding) -> None:
    block.cache(seeds.run)["seeding"] = (len(seeds), seeds.coarse, seeding)


def _native_seeding(block: Block, seeds: Seeds) -> _native.Seeding:
    extent = seeds.survey.extent
    bits = bucket_bits(extent.n_rows)
    copies = _copies(block, seeds.survey)
    return _native.Seeding(block.rows, extent.low, extent.high, copies, bits, seeds.expected)


def _copies(block: Block, survey: Survey) -> NDArray[np.int32] | None:
    """(n,) whole copies of each row, which seedings draw from."""
    if block.weights is None:
        return None
    copies = np.rint(block.weights * survey.copies_per_weight)
    return np.maximum(copies, 1).astype(np.int32)
