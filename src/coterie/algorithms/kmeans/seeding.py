"""Initial means: k-means++, k-means||, random points and the paper's principal direction.

k-means++ is that of Arthur and Vassilvitskii (2007), with the greedy choice among several draws
that their conclusion suggests; k-means|| is that of Bahmani et al. (2012).

Every seeding is a function of the weighted set of points and the seed. The order of the rows,
blocks and threads do not change it, and a point of weight two counts as two points. Randomness
belongs to values (their hashes) and not to places.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import closing

import numpy as np
from numpy.typing import NDArray

from coterie.algorithms.kmeans.lloyd import Rules, lloyd
from coterie.algorithms.kmeans.survey import survey as survey_of
from coterie.algorithms.random_words import RandomWords
from coterie.arrays import Floats, Integers
from coterie.engines.protocol import Engine
from coterie.engines.select import engine_over
from coterie.kernels import kmeans_seeding_steps, kmeans_steps, scan_steps
from coterie.kernels.kmeans_seeding_steps import DistinctValues, SeedDistances, Seeds
from coterie.kernels.scan_steps import Survey

DISTANCE_BITS = 50  # of a distance in units, at most: more would not survive in float64
CANDIDATE_BITS = 24  # when candidates are compared: float32 has no more
SUM_BITS = 61  # of a sum of units
FLOAT32_LIMIT = 2.0**-32  # of the squared span: nearer points need distances of float64

Seeding = Callable[[Engine, Survey, int, RandomWords], Floats]


def kmeans_plusplus(
    engine: Engine, survey: Survey, k: int, random: RandomWords, trials: int | None = None
) -> Floats:
    """Greedy k-means++: each seed is the best of a few points by D^2 sampling.

    The best candidate leaves the smallest potential, the sum of squared distances to the nearest
    seed; the first among equals.
    """
    trials = trials or 2 + int(math.log(k))
    with closing(D2Sampler(engine, survey, k)) as sampler:
        seeds = [sampler.draw_by_weight(random.word(0))]
        sampler.add(seeds)
        for j in range(1, k):
            if sampler.largest == 0:
                # Fewer different points than seeds: the rest repeat the first and stay empty.
                seeds += [seeds[0]] * (k - j)
                break
            candidates = sampler.draw([random.word(j, t) for t in range(trials)])
            seeds.append(candidates[int(np.argmin(sampler.potentials(candidates)))])
            if j < k - 1:
                sampler.add(seeds[-1:])
    return np.array(seeds)


class D2Sampler:
    """D^2 sampling: points drawn in proportion to their squared distance from the nearest seed.

    A squared distance s counts as rint(s * 2**shift) units, so that sums are whole numbers. A draw
    inverts the cumulative sum of units over the points in the order of their hashes.
    """

    def __init__(self, engine: Engine, survey: Survey, expected: int) -> None:
        """expected : the number of seeds in the end, about."""
        self.engine = engine
        self.seeds = Seeds.none_yet(engine.begin(), survey, expected)
        self._rows = engine.reduce(kmeans_seeding_steps.count_rows, self.seeds)
        n_rows = survey.extent.n_rows
        self._from_bucket = np.uint64(64 - kmeans_seeding_steps.bucket_bits(n_rows))
        self.bits = min(DISTANCE_BITS, SUM_BITS - self._rows.copies.bit_length())
        unit = self._rows.unit
        # Added column by column: this order decides the last bits.
        self.span = float(np.cumsum(((survey.extent.high - survey.extent.low) * unit) ** 2)[-1])
        self.largest = 1.0  # squared distance from the nearest seed
        self.units = self._rows.by_bucket
        self.shift = 0

    def close(self) -> None:
        """Let the engine forget the distances: no more seeds will come."""
        self.engine.end(self.seeds.run)

    def draw_by_weight(self, word: int) -> Floats:
        """A point drawn in proportion to its weight alone, for the first seed."""
        buckets, targets = _invert(self._rows.by_bucket, [word])
        found = self.engine.reduce(kmeans_seeding_steps.copies_in_buckets, self.seeds, buckets)
        self.shift = self._shift_for(self.span)
        point: Floats = self._values_at(found, buckets, targets)[0]
        return point

    def _shift_for(self, largest: float) -> int:
        """The shift with which this distance has `bits` bits."""
        return self.bits - math.frexp(largest)[1]

    def add(self, points: list[Floats]) -> None:
        """The points become seeds, one after the other; distances and units follow.

        All of them join in one pass, and units are counted anew where they must become finer.
        """
        since = len(self.seeds)
        self.seeds = self.seeds.followed_by(np.array(points))
        distances, counted_with = self._distances(since), self.shift
        largest = distances.largest.tolist()  # after each of the points
        for i in range(len(points)):
            if self.seeds.coarse and largest[i] < FLOAT32_LIMIT * self.span:
                # float32 cannot tell points apart any more: all distances are found anew.
                self.seeds = self.seeds.refined()
                largest[i] = self._largest_after(since + i + 1)
                distances, counted_with = self._distances(since + i + 1), self.shift
                if i + 1 < len(points):
                    largest[i + 1 :] = distances.largest.tolist()
            elif largest[i] == 0 or self._fine_enough(largest[i]):
                continue
            if largest[i] > 0:
                self.shift = self._shift_for(largest[i])
        if counted_with != self.shift:
            distances = self._distances(len(self.seeds))
        self.largest, self.units = largest[-1], distances.units

    def _distances(self, since: int) -> SeedDistances:
        """Distances from all seeds, of which those before `since` had joined already."""
        return self.engine.reduce(kmeans_seeding_steps.add_seeds, self.seeds, since, self.shift)

    def _largest_after(self, count: int) -> float:
        """The largest distance of a point from the first `count` seeds."""
        first = self.seeds.first(count)
        return float(
            self.engine.reduce(kmeans_seeding_steps.add_seeds, first, count, 0).largest[-1]
        )

    def _fine_enough(self, largest: float) -> bool:
        """True where units keep enough bits of the distances, and the largest is not zero units."""
        counts = round(math.ldexp(largest, self.shift)) > 0
        return self._shift_for(largest) <= self.shift + 10 and counts

    def potentials(self, candidates: Floats) -> Integers:
        """(candidates,) the potential with each candidate as one more seed, to 24 bits a point."""
        shift = min(self.bits, CANDIDATE_BITS) - math.frexp(self.largest)[1]
        return self.engine.reduce(kmeans_seeding_steps.potentials, self.seeds, candidates, shift)

    def draw(self, words: list[int]) -> Floats:
        """A point for each random word, by D^2 sampling."""
        buckets, targets = _invert(self.units, words)
        different = np.array(sorted(set(buckets.tolist())), dtype=np.int32)
        found = self.engine.reduce(
            kmeans_seeding_steps.values_in_buckets, self.seeds, different, self.shift
        )
        return self._values_at(found, buckets, targets)

    def draw_independently(self, salt: int, expected: int) -> Floats:
        """About `expected` points, each drawn by itself in proportion to its squared distance."""
        potential = math.ldexp(int(self.units.sum()), -self.shift)
        if self.largest == 0 or potential == 0:
            return np.empty((0, self.seeds.points.shape[1]))
        factor = expected / potential
        return self.engine.reduce(kmeans_seeding_steps.draw, self.seeds, salt, factor).values

    def _values_at(
        self, found: DistinctValues, buckets: NDArray[np.int32], targets: Integers
    ) -> Floats:
        """The value of each bucket at which its cumulative sum of units passes the target."""
        sums = np.add.accumulate(found.units)
        first = found.hashes.searchsorted(buckets.astype(np.uint64) << self._from_bucket)
        before = sums[first] - found.units[first]
        return found.values[sums.searchsorted(before + targets, side="right")]


def _invert(units: Integers, words: list[int]) -> tuple[NDArray[np.int32], Integers]:
    """Buckets at which the cumulative sum of units passes a random share of the total.

    Returns also the part of each share that lies within its bucket.
    """
    sums = np.add.accumulate(units)
    total = int(sums[-1])
    targets = np.array([(word * total) >> 64 for word in words])
    buckets = sums.searchsorted(targets, side="right")
    return buckets.astype(np.int32), targets - (sums[buckets] - units[buckets])


def kmeans_parallel(engine: Engine, survey: Survey, k: int, random: RandomWords) -> Floats:
    """k-means||: rounds of many independent draws give candidates, and these are clustered.

    A candidate counts with the weight of the points nearest to it.
    """
    rounds, oversampling = 5, 2 * k
    with closing(D2Sampler(engine, survey, rounds * oversampling)) as sampler:
        sampler.add([sampler.draw_by_weight(random.word(0))])
        for r in range(rounds):
            drawn = sampler.draw_independently(random.word(1, r), oversampling)
            if len(drawn):
                sampler.add(list(drawn))
        chosen = sampler.seeds.points
    if len(chosen) <= k:
        return kmeans_plusplus(engine, survey, k, random)
    near = engine.reduce(kmeans_steps.assign, survey, chosen, None, "brute")
    weights = near.sums.weights
    small = engine_over(chosen[weights > 0], weights[weights > 0])
    of_candidates = survey_of(small)
    seeds = kmeans_plusplus(small, of_candidates, k, random)
    return lloyd(small, of_candidates, seeds, Rules(max_iter=20)).means


def random_points(engine: Engine, survey: Survey, k: int, random: RandomWords) -> Floats:
    """k different points, every set of k distinct values equally likely."""
    found = engine.reduce(kmeans_seeding_steps.smallest_hashes, survey, random.word(2), k)
    if len(found.hashes) < k:
        raise ValueError(
            f"init='random' needs n_clusters={k} different points, and X has only "
            f"{len(found.hashes)} distinct rows. Use n_clusters={len(found.hashes)} or fewer."
        )
    return found.values[:k].copy()


def principal(engine: Engine, survey: Survey, k: int, random: RandomWords) -> Floats:
    """Means along the principal direction v, the first eigenvector of the sum of w x x'.

    The range of v'x is cut into k equal parts, and each mean is the middle of one, t_c v. As in
    the paper, the data are not centred first.
    """
    moments = engine.reduce(scan_steps.second_moments).total
    v = np.linalg.eigh(moments)[1][:, -1]
    v = v * np.copysign(1.0, v[np.argmax(np.abs(v))])
    values = engine.reduce(scan_steps.projection_range, v)
    width = (values.high - values.low) / k
    middles = values.low + (np.arange(k) + 0.5) * width
    return np.outer(middles, v)


SEEDINGS: dict[str, Seeding] = {
    "k-means++": kmeans_plusplus,
    "k-means||": kmeans_parallel,
    "random": random_points,
    "principal": principal,
}
