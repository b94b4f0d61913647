"""Initial means: `coterie.algorithms.kmeans.seeding` without its shortcuts.

All distinct points stand in the order of their hashes, and a draw inverts the cumulative sum of
their units.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.kernels.reference.arithmetic import Floats, Numbers
from coterie.kernels.reference.kmeans import k_means, nearest

# --- random words -------------------------------------------------------------------------------

MASK = (1 << 64) - 1


def mix(z: int) -> int:
    """Mix 64 bits: the finaliser of splitmix64 (Steele, Lea and Flood 2014)."""
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB & MASK
    return z ^ (z >> 31)


def word(seed: int, stream: int, number: int = 0) -> int:
    """The random word of a seed with this stream and number."""
    z = mix(seed + 0x9E3779B97F4A7C15 & MASK)
    z = mix(z + stream * 0xD1B54A32D192ED03 & MASK)
    return mix(z + number * 0x8CB92BA72F3D8DD7 + 0x632BE59BD9B4E019 & MASK)


def hash_row(row: Floats) -> int:
    """A hash of a row: a sum over the nonzero entries, so that sparse rows need no zeros."""
    total = 0
    for column, bits in enumerate(row.view(np.uint64).tolist()):
        if row[column] != 0:
            total += mix(bits + (column + 1) * 0x9E3779B97F4A7C15 & MASK)
    return mix(total + 0x9E3779B97F4A7C15 & MASK)


# --- seedings -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Points:
    """The distinct points in the order of their hashes, with their numbers of copies."""

    values: Floats  # (distinct, d)
    hashes: list[int]
    copies: Numbers  # (distinct,)


def distinct_points(X: NDArray[Any], weights: Floats | None = None) -> Points:
    x = np.ascontiguousarray(X, dtype=np.float64)
    rows: dict[int, int] = {}
    counts: dict[int, int] = {}
    for i, copies in enumerate(whole_copies(weights, len(x))):
        h = hash_row(x[i])
        rows.setdefault(h, i)
        counts[h] = counts.get(h, 0) + copies
    hashes = sorted(rows)
    values = x[[rows[h] for h in hashes]]
    return Points(values, hashes, np.array([counts[h] for h in hashes], dtype=object))


def whole_copies(weights: Floats | None, n: int) -> list[int]:
    """Whole weights as they are; others in units of 2^-20 of the largest, and at least one."""
    if weights is None:
        return [1] * n
    largest = float(weights.max())
    if np.all(weights == np.floor(weights)) and largest < 2.0**31:
        return [int(w) for w in weights]
    return [max(1, int(np.rint(w * (2.0**20 / largest)))) for w in weights]


def centre_and_unit(values: Floats) -> tuple[Floats, float]:
    """Centre and unit that bring the data near one, for float32 of ``(x - centre) * unit``."""
    low, high = values.min(axis=0), values.max(axis=0)
    middle, half = 0.5 * low + 0.5 * high, 0.5 * high - 0.5 * low
    centre = np.where(np.abs(middle) > 2 * half, middle, 0.0)  # only columns far from zero
    largest = float(max(np.abs(low - centre).max(), np.abs(high - centre).max()))
    exponent = math.frexp(largest)[1]
    return centre, 2.0**-exponent if abs(exponent) > 12 else 1.0


class D2Sampler:
    """D^2 sampling: squared distances of the points from their nearest seed, in whole units.

    Distances are float32, of centred coordinates, until the seeds are so dense that float32 cannot
    tell points apart. From then on they are float64 of the coordinates as they are.
    """

    def __init__(self, points: Points) -> None:
        self.points = points
        centre, unit = centre_and_unit(points.values)
        self.centre, self.unit = centre, unit
        span = (points.values.max(axis=0) - points.values.min(axis=0)) * unit
        self.span = float(np.cumsum(span**2)[-1])
        self.bits = min(50, 61 - int(points.copies.sum()).bit_length())
        self.coarse = True
        self.shift = self.shift_for(self.span)
        self.near: NDArray[Any] = np.full(len(points.values), np.inf)

    def shift_for(self, largest: float) -> int:
        return self.bits - math.frexp(largest)[1]

    def coordinates(self, values: Floats) -> NDArray[Any]:
        if self.coarse:
            return ((values - self.centre) * self.unit).astype(np.float32)
        return values

    def distances(self, seed: Floats) -> NDArray[Any]:
        x, s = self.coordinates(self.points.values), self.coordinates(seed)
        # Columns are added in order; float32 with many columns in eight lanes, then by pairs. This
        # order decides the last bits.
        lanes = 8 if self.coarse and x.shape[1] > 8 else 1
        total = np.zeros((len(x), lanes), dtype=x.dtype)
        for column in range(x.shape[1]):
            e = x[:, column] - s[column]
            total[:, column % lanes] += e * e
        while total.shape[1] > 1:
            total = total[:, ::2] + total[:, 1::2]
        return total[:, 0]

    def units(self, distances: NDArray[Any], shift: int) -> Numbers:
        """rint(distance * 2**shift) for each point, times its copies."""
        whole = np.rint(np.ldexp(distances.astype(np.float64), shift)).astype(np.int64)
        counted: Numbers = whole.astype(object) * self.points.copies
        return counted

    def add(self, seeds: list[Floats]) -> None:
        """Update distances and the shift by the last of the seeds."""
        self.near = np.minimum(self.near, self.distances(seeds[-1]))
        largest = float(self.near.max())
        if self.coarse and largest < 2.0**-32 * self.span:
            self.coarse = False
            self.near = np.min([self.distances(seed) for seed in seeds], axis=0)
            largest = float(self.near.max())
        elif self.shift_for(largest) <= self.shift + 10 and self.units(self.near, self.shift).any():
            return
        if largest > 0:
            self.shift = self.shift_for(largest)

    def potential(self, candidate: Floats) -> int:
        """The potential with the candidate as one more seed, in units of 24 bits a point."""
        shift = min(self.bits, 24) - math.frexp(float(self.near.max()))[1]
        distances = np.minimum(self.near, self.distances(candidate))
        return int(self.units(distances, shift).sum())

    def draw(self, units: Numbers, random: int) -> Floats:
        """The point at which the cumulative sum of units passes a random share of the total."""
        target = random * int(units.sum()) >> 64
        point: Floats = self.points.values[np.argmax(np.cumsum(units) > target)]
        return point


def kmeans_plusplus(X: NDArray[Any], k: int, seed: int, weights: Floats | None = None) -> Floats:
    """Greedy k-means++: each seed is the draw with the smallest potential, among a few."""
    sampler = D2Sampler(distinct_points(X, weights))
    seeds = [sampler.draw(sampler.points.copies, word(seed, 0))]
    sampler.add(seeds)
    for j in range(1, k):
        if sampler.near.max() == 0:
            return np.array(seeds + [seeds[0]] * (k - j))
        units = sampler.units(sampler.near, sampler.shift)
        candidates = [sampler.draw(units, word(seed, j, t)) for t in range(2 + int(math.log(k)))]
        seeds.append(min(candidates, key=sampler.potential))  # the first among equals
        sampler.add(seeds)
    return np.array(seeds)


def kmeans_parallel(X: NDArray[Any], k: int, seed: int, weights: Floats | None = None) -> Floats:
    """k-means||: rounds of independent draws, then the points drawn are clustered.

    A point drawn counts with the weight of all points nearest to it.
    """
    x = np.asarray(X, dtype=np.float64)
    w = np.ones(len(x)) if weights is None else weights
    sampler = D2Sampler(distinct_points(x, weights))
    drawn = [sampler.draw(sampler.points.copies, word(seed, 0))]
    sampler.add(drawn)
    for r in range(5):
        potential = math.ldexp(
            int(sampler.units(sampler.near, sampler.shift).sum()), -sampler.shift
        )
        if potential == 0:
            break
        chance = sampler.near.astype(np.float64) * (2 * k / potential)
        luck = [(mix(h ^ word(seed, 1, r)) >> 11) * 2.0**-53 for h in sampler.points.hashes]
        for i in np.flatnonzero(np.array(luck) < chance):
            drawn.append(sampler.points.values[i])
            sampler.add(drawn)
    if len(drawn) <= k:
        return kmeans_plusplus(x, k, seed, weights)
    y = nearest(x, np.array(drawn))
    chosen = np.unique(y)
    mass = np.array([math.fsum(w[y == c]) for c in chosen])
    candidates = np.array(drawn)[chosen]
    seeds = kmeans_plusplus(candidates, k, seed, mass)
    return k_means(candidates, seeds, mass, max_iter=20).means


def random_points(X: NDArray[Any], k: int, seed: int) -> Floats:
    """The k distinct points with the smallest salted hashes."""
    points = distinct_points(X)
    salted = [mix(h ^ word(seed, 2)) for h in points.hashes]
    order = sorted(range(len(salted)), key=salted.__getitem__)
    return points.values[order[:k]]


def principal(X: NDArray[Any], k: int, weights: Floats | None = None) -> Floats:
    """m(c) = t_c v along the principal direction v, up to rounding."""
    x = np.asarray(X, dtype=np.float64)
    w = np.ones(len(x)) if weights is None else weights
    # v maximises the sum of w (v'x)^2 over unit vectors; its largest entry is positive.
    v = np.linalg.eigh(x.T @ (w[:, np.newaxis] * x))[1][:, -1]
    v = v * np.copysign(1.0, v[np.argmax(np.abs(v))])
    # t_c is the middle of part c of the range of v'x, cut into k equal parts.
    t = x @ v
    edges = np.linspace(t.min(), t.max(), k + 1)
    return np.outer((edges[:-1] + edges[1:]) / 2, v)
