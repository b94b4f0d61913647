"""Initial means. Every seeding is a function of the weighted set of points and the seed:
not of the order of the rows, of blocks or threads, or of whether a point comes twice or with
weight two. Randomness belongs to values (their hashes) and not to places.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import closing

import numpy as np
from numpy.typing import NDArray

from coterie.algorithms.kmeans.lloyd import Rules, lloyd
from coterie.algorithms.kmeans.records import Floats
from coterie.algorithms.kmeans.survey import survey as survey_of
from coterie.algorithms.random_words import Draws
from coterie.engines.protocol import Engine
from coterie.engines.select import engine_over
from coterie.kernels import kmeans_seeding_steps, kmeans_steps, scan_steps
from coterie.kernels.exact import Integers
from coterie.kernels.kmeans_seeding_steps import Holdings, Seeds, Spread
from coterie.kernels.scan_steps import Survey

PRECISION = 50  # bits of a distance in units, at most: more would not survive in float64
TRIAL_PRECISION = 24  # bits when candidates are compared: float32 has no more
ROOM = 61  # bits of a sum of units
TOO_COARSE = 2.0**-32  # of the squared span of the data: below this float32 cannot tell

Seeding = Callable[[Engine, Survey, int, Draws], Floats]


def kmeans_plusplus(
    engine: Engine, survey: Survey, k: int, draws: Draws, trials: int | None = None
) -> Floats:
    """Greedy k-means++: each seed is the best of a few points drawn in proportion to their
    squared distance from the seeds so far."""
    trials = trials or 2 + int(math.log(k))
    with closing(Field(engine, survey, k)) as field:
        seeds = [field.first(draws.word(0))]
        field.add(seeds)
        for j in range(1, k):
            if field.largest == 0:
                # Fewer different points than seeds: the rest repeat the first and stay empty.
                seeds += [seeds[0]] * (k - j)
                break
            candidates = field.draw([draws.word(j, t) for t in range(trials)])
            left = field.left_with(candidates)
            seeds.append(candidates[int(np.argmin(left))])
            if j < k - 1:
                field.add(seeds[-1:])
    return np.array(seeds)


class Field:
    """Distances of all points from their nearest seed, and draws in proportion to them.

    A squared distance s counts as rint(s * 2**shift) units, so that sums are whole numbers.
    Points stand in the order of their hashes; a draw walks along that order until it has passed
    as many units as a random number says.
    """

    def __init__(self, engine: Engine, survey: Survey, expected: int) -> None:
        """About as many seeds as `expected` will come."""
        self.engine = engine
        self.seeds = Seeds.none_yet(engine.begin(), survey, expected)
        self._start = engine.reduce(kmeans_seeding_steps.start, self.seeds)
        n_rows = survey.extent.n_rows
        self._from_bucket = np.uint64(64 - kmeans_seeding_steps.bucket_bits(n_rows))
        self.bits = min(PRECISION, ROOM - self._start.copies.bit_length())
        unit = self._start.unit
        self.span = float(np.cumsum(((survey.extent.high - survey.extent.low) * unit) ** 2)[-1])
        self.largest = 1.0  # squared distance from the nearest seed
        self.units = self._start.units  # by bucket
        self.shift = 0

    def close(self) -> None:
        """No more seeds: the distances may be forgotten."""
        self.engine.end(self.seeds.run)

    def first(self, word: int) -> Floats:
        """A point drawn by weight alone."""
        buckets, into = _locate(self._start.units, [word])
        held = self.engine.reduce(kmeans_seeding_steps.rows_of_buckets, self.seeds, buckets)
        self.shift = self._shift_for(self.span)
        point: Floats = self._walk(held, buckets, into)[0]
        return point

    def _shift_for(self, largest: float) -> int:
        return self.bits - math.frexp(largest)[1]

    def add(self, points: list[Floats]) -> None:
        """The points become seeds, one after the other; distances and units follow.

        All of them join in one pass, and units are counted anew where they must become finer.
        """
        since = len(self.seeds)
        self.seeds = self.seeds.followed_by(np.array(points))
        spread, counted_with = self._approach(since), self.shift
        falling = spread.largest.tolist()  # after each of the points
        for i in range(len(points)):
            if self.seeds.coarse and falling[i] < TOO_COARSE * self.span:
                # float32 cannot tell points apart any more: all distances are found anew.
                self.seeds = self.seeds.refined()
                falling[i] = self._largest_from(since + i + 1)
                spread, counted_with = self._approach(since + i + 1), self.shift
                if i + 1 < len(points):
                    falling[i + 1 :] = spread.largest.tolist()
            elif falling[i] == 0 or self._fine_enough(falling[i]):
                continue
            if falling[i] > 0:
                self.shift = self._shift_for(falling[i])
        if counted_with != self.shift:
            spread = self._approach(len(self.seeds))
        self.largest, self.units = falling[-1], spread.units

    def _approach(self, since: int) -> Spread:
        return self.engine.reduce(kmeans_seeding_steps.approach, self.seeds, since, self.shift)

    def _largest_from(self, count: int) -> float:
        """The largest distance of a point from the first seeds."""
        first = self.seeds.first(count)
        return float(self.engine.reduce(kmeans_seeding_steps.approach, first, count, 0).largest[-1])

    def _fine_enough(self, largest: float) -> bool:
        """True where units keep enough bits of the distances, and the largest is not zero units."""
        counts = round(math.ldexp(largest, self.shift)) > 0
        return self._shift_for(largest) <= self.shift + 10 and counts

    def left_with(self, candidates: Floats) -> Integers:
        """Units that would be left with each candidate as a seed, by their leading bits."""
        shift = min(self.bits, TRIAL_PRECISION) - math.frexp(self.largest)[1]
        return self.engine.reduce(kmeans_seeding_steps.potentials, self.seeds, candidates, shift)

    def draw(self, words: list[int]) -> Floats:
        """One point per random word."""
        buckets, into = _locate(self.units, words)
        different = np.array(sorted(set(buckets.tolist())), dtype=np.int32)
        held = self.engine.reduce(kmeans_seeding_steps.holdings, self.seeds, different, self.shift)
        return self._walk(held, buckets, into)

    def draw_independently(self, salt: int, expected: int) -> Floats:
        """Points drawn each by itself in proportion to its distance, about `expected` of them."""
        potential = math.ldexp(int(self.units.sum()), -self.shift)
        if self.largest == 0 or potential == 0:
            return np.empty((0, self.seeds.points.shape[1]))
        factor = expected / potential
        return self.engine.reduce(kmeans_seeding_steps.draw, self.seeds, salt, factor).values

    def _walk(self, held: Holdings, buckets: NDArray[np.int32], into: Integers) -> Floats:
        """Where each walk ends, among the values `held` in the buckets, sorted by hash."""
        passed = np.add.accumulate(held.units)
        first = held.hashes.searchsorted(buckets.astype(np.uint64) << self._from_bucket)
        before = passed[first] - held.units[first]
        return held.values[passed.searchsorted(before + into, side="right")]


def _locate(units: Integers, words: list[int]) -> tuple[NDArray[np.int32], Integers]:
    """The bucket in which each walk ends, and how many units it passes in there."""
    passed = np.add.accumulate(units)
    total = int(passed[-1])
    targets = np.array([(word * total) >> 64 for word in words])
    buckets = passed.searchsorted(targets, side="right")
    return buckets.astype(np.int32), targets - (passed[buckets] - units[buckets])


def kmeans_parallel(engine: Engine, survey: Survey, k: int, draws: Draws) -> Floats:
    """k-means||: a few rounds of many independent draws, then the candidates are clustered,
    each with the weight of the points nearest to it."""
    rounds, oversampling = 5, 2 * k
    with closing(Field(engine, survey, rounds * oversampling)) as field:
        field.add([field.first(draws.word(0))])
        for r in range(rounds):
            drawn = field.draw_independently(draws.word(1, r), oversampling)
            if len(drawn):
                field.add(list(drawn))
        chosen = field.seeds.points
    if len(chosen) <= k:
        return kmeans_plusplus(engine, survey, k, draws)
    near = engine.reduce(kmeans_steps.assign, survey, chosen, None, "brute")
    weights = near.sums.weights
    small = engine_over(chosen[weights > 0], weights[weights > 0])
    of_candidates = survey_of(small)
    seeds = kmeans_plusplus(small, of_candidates, k, draws)
    return lloyd(small, of_candidates, seeds, Rules(max_iter=20)).means


def random_points(engine: Engine, survey: Survey, k: int, draws: Draws) -> Floats:
    """k different points, every set of k distinct values equally likely."""
    found = engine.reduce(kmeans_seeding_steps.smallest_hashes, survey, draws.word(2), k)
    if len(found.hashes) < k:
        raise ValueError(
            f"init='random' needs n_clusters={k} different points, and X has only "
            f"{len(found.hashes)} distinct rows. Use n_clusters={len(found.hashes)} or fewer."
        )
    return found.values[:k].copy()


def principal(engine: Engine, survey: Survey, k: int, draws: Draws) -> Floats:
    """Means along the principal direction: the range of v'x is cut into k equal parts, and
    each mean is the middle of one, t_c v. As in the paper, v is not centred."""
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
