"""Initial means. Every seeding is a function of the weighted set of points and the seed:
not of the order of the rows, of blocks or threads, or of whether a point comes twice or with
weight two. Randomness belongs to values (their hashes) and not to places.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from coterie.algorithms.draws import Draws
from coterie.algorithms.lloyd import Rules, lloyd
from coterie.algorithms.results import Floats
from coterie.algorithms.survey import survey as survey_of
from coterie.engines.memory import MemoryEngine
from coterie.engines.protocol import Engine
from coterie.kernels import seed_steps, steps
from coterie.kernels.exact import COUNTING, Integers, to_float
from coterie.kernels.seed_steps import Holdings
from coterie.kernels.steps import Survey

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
    field = Field(engine, survey, k)
    seeds = [field.first(draws.word(0))]
    field.add(seeds)
    for j in range(1, k):
        if field.spread.largest == 0:
            # Fewer different points than seeds: the rest repeat the first and stay empty.
            seeds += [seeds[0]] * (k - j)
            break
        candidates = field.draw([draws.word(j, t) for t in range(trials)])
        left = engine.reduce(seed_steps.potentials, candidates, field.trial_shift)
        seeds.append(candidates[int(np.argmin(left))])
        if j < k - 1:
            field.add(seeds)
    return np.array(seeds)


class Field:
    """Distances of all points from their nearest seed, and draws in proportion to them.

    A squared distance s counts as rint(s * 2**shift) units, so that sums are whole numbers.
    Points stand in the order of their hashes; a draw walks along that order until it has passed
    as many units as a random number says.
    """

    def __init__(self, engine: Engine, survey: Survey, seeds: int) -> None:
        self.engine = engine
        self.spread = engine.reduce(seed_steps.start, survey, seeds)
        n_rows = survey.extent.n_rows
        self._from_bucket = np.uint64(64 - seed_steps.bucket_bits(n_rows))
        self.bits = min(PRECISION, ROOM - self.spread.copies.bit_length())
        unit = self.spread.unit
        self.span = float(np.cumsum(((survey.extent.high - survey.extent.low) * unit) ** 2)[-1])
        self.coarse = True
        self.shift = 0
        self._start = self.spread

    def first(self, word: int) -> Floats:
        """A point drawn by weight alone."""
        buckets, into = _locate(self._start.units, [word])
        held = self.engine.reduce(seed_steps.rows_of_buckets, buckets)
        self.shift = self._shift_for(self.span)
        point: Floats = self._walk(held, buckets, into)[0]
        return point

    def _shift_for(self, largest: float) -> int:
        return self.bits - math.frexp(largest)[1]

    @property
    def trial_shift(self) -> int:
        """The shift with which candidates are compared."""
        return min(self.bits, TRIAL_PRECISION) - math.frexp(self.spread.largest)[1]

    def add(self, seeds: list[Floats]) -> None:
        """The last of `seeds` joins; distances and units follow."""
        spread = self.engine.reduce(seed_steps.approach, seeds[-1], self.shift)
        if self.coarse and spread.largest < TOO_COARSE * self.span:
            self.engine.reduce(seed_steps.refine, np.array(seeds))
            self.coarse = False
            spread = self.engine.reduce(seed_steps.approach, None, self.shift)
        elif spread.largest == 0 or (
            self._shift_for(spread.largest) <= self.shift + 10 and spread.units.any()
        ):
            self.spread = spread
            return
        # Much nearer than before, or measured anew: units must become finer to keep their bits.
        if spread.largest > 0:
            self.shift = self._shift_for(spread.largest)
            spread = self.engine.reduce(seed_steps.approach, None, self.shift)
        self.spread = spread

    def draw(self, words: list[int]) -> Floats:
        """One point per random word."""
        buckets, into = _locate(self.spread.units, words)
        different = np.array(sorted(set(buckets.tolist())), dtype=np.int32)
        held = self.engine.reduce(seed_steps.holdings, different, self.shift)
        return self._walk(held, buckets, into)

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
    field = Field(engine, survey, rounds * oversampling)
    candidates = [field.first(draws.word(0))]
    field.add(candidates)
    for r in range(rounds):
        potential = math.ldexp(int(field.spread.units.sum()), -field.shift)
        if field.spread.largest == 0 or potential == 0:
            break
        drawn = engine.reduce(seed_steps.draw, draws.word(1, r), oversampling / potential)
        for value in drawn.values:
            candidates.append(value)
            field.add(candidates)
    if len(candidates) <= k:
        return kmeans_plusplus(engine, survey, k, draws)
    chosen = np.array(candidates)
    near = engine.reduce(steps.assign, survey, chosen, object(), "brute")
    grid = survey.mass_grid or COUNTING
    weights = np.array([to_float(grid.value(mass)) for mass in near.mass])
    small = MemoryEngine(chosen[weights > 0], weights[weights > 0])
    of_candidates = survey_of(small)
    seeds = kmeans_plusplus(small, of_candidates, k, draws)
    return lloyd(small, of_candidates, seeds, Rules(max_iter=20)).means


def random_points(engine: Engine, survey: Survey, k: int, draws: Draws) -> Floats:
    """k different points, every set of k distinct values equally likely."""
    found = engine.reduce(seed_steps.smallest_hashes, survey, draws.word(2), k)
    if len(found.hashes) < k:
        raise ValueError(
            f"init='random' needs n_clusters={k} different points, and X has only "
            f"{len(found.hashes)} distinct rows. Use n_clusters={len(found.hashes)} or fewer."
        )
    return found.values[:k].copy()


def principal(engine: Engine, survey: Survey, k: int, draws: Draws) -> Floats:
    """Means along the principal direction: the range of v'x is cut into k equal parts, and
    each mean is the middle of one, t_c v. As in the paper, v is not centred."""
    moments = engine.reduce(steps.second_moments)
    v = np.linalg.eigh(moments)[1][:, -1]
    v = v * np.copysign(1.0, v[np.argmax(np.abs(v))])
    values = engine.reduce(steps.projection_range, v)
    width = (values.high - values.low) / k
    middles = values.low + (np.arange(k) + 0.5) * width
    return np.outer(middles, v)


SEEDINGS: dict[str, Seeding] = {
    "k-means++": kmeans_plusplus,
    "k-means||": kmeans_parallel,
    "random": random_points,
    "principal": principal,
}
