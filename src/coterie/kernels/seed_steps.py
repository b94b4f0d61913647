"""What seeding asks of one block. See `coterie.algorithms.seeding` for the story."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coterie.kernels import _native
from coterie.kernels.block import Block
from coterie.kernels.exact import Floats, Integers
from coterie.kernels.steps import Survey

FEWEST_BUCKET_BITS = 4


def bucket_bits(n_rows: int) -> int:
    """Leading bits of a hash that number its bucket: a few rows in each, of all the data."""
    return min(max(FEWEST_BUCKET_BITS, n_rows.bit_length() - 3), _native.MOST_BUCKET_BITS)


@dataclass(frozen=True)
class Spread:
    """How far rows are from their nearest seed: the largest squared distance, and whole units of
    distance by bucket of the rows' hashes."""

    largest: float
    units: Integers  # (2**bucket_bits,)
    copies: int  # rows, or whole copies of them
    unit: float  # the power of two that multiplies coordinates before distances are taken

    def __add__(self, other: Spread) -> Spread:
        return Spread(
            max(self.largest, other.largest),
            self.units + other.units,
            self.copies + other.copies,
            self.unit,
        )


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


def _seeding(block: Block) -> _native.Seeding:
    found: _native.Seeding = block.cache["seeding"]
    return found


def start(block: Block, survey: Survey, seeds: int) -> Spread:
    """Begin a seeding: every row at distance one, so that a draw is a draw of rows. About so many
    seeds will come."""
    copies = None
    if block.weights is not None:
        copies = np.maximum(np.rint(block.weights * survey.copies_per_weight), 1).astype(np.int32)
    extent = survey.extent
    bits = bucket_bits(extent.n_rows)
    seeding = _native.Seeding(block.rows, extent.low, extent.high, copies, bits, seeds)
    seeding.start(1.0)
    largest, units = seeding.approach(None, 0)
    block.cache["seeding"] = seeding
    seeding.start(np.inf)
    n_copies = block.n_rows if copies is None else int(copies.sum(dtype=np.int64))
    return Spread(largest, units, n_copies, seeding.unit)


def rows_of_buckets(block: Block, buckets: NDArray[np.int32]) -> Holdings:
    """The values in some buckets, every row at distance one."""
    seeding = _seeding(block)
    seeding.start(1.0)
    found = Holdings(*seeding.holdings(buckets, 0))
    seeding.start(np.inf)
    return found


def approach(block: Block, seed: Floats | None, shift: int) -> Spread:
    """`seed` joins the seeds (None: none does). A squared distance s counts rint(s 2^shift)."""
    seeding = _seeding(block)
    largest, units = seeding.approach(seed, shift)
    return Spread(largest, units, 0, seeding.unit)


def refine(block: Block, seeds: Floats) -> int:
    """From now on distances are float64, from these seeds."""
    _seeding(block).refine(seeds)
    return 0


def holdings(block: Block, buckets: NDArray[np.int32], shift: int) -> Holdings:
    return Holdings(*_seeding(block).holdings(buckets, shift))


def potentials(block: Block, candidates: Floats, shift: int) -> Integers:
    """Units of distance left over if each candidate became a seed."""
    left: Integers = _seeding(block).potentials(candidates, shift)
    return left


def draw(block: Block, salt: int, factor: float) -> Holdings:
    """Values drawn independently, each with chance ``factor * squared distance``."""
    return Holdings(*_seeding(block).draw(salt, factor))


def smallest_hashes(block: Block, survey: Survey, salt: int, count: int) -> Holdings:
    """The `count` distinct values with the smallest salted hashes."""
    bits = FEWEST_BUCKET_BITS  # not asked for
    seeding = _native.Seeding(block.rows, survey.extent.low, survey.extent.high, None, bits, 0)
    return Holdings(*seeding.smallest_hashes(salt, count))
