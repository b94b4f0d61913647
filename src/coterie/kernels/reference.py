"""The definition in plain NumPy, slow and readable: what every kernel, engine, thread count and
instruction set must give, bit for bit.

`k_means` is Algorithm 2 of the paper, line by line. The paper's words are kept: data points x,
cluster means m, assignments y, activity indicators b. Sums are taken over integers, so a mean is
the exact ratio and an error the exact sum, each rounded once.

The seedings follow `coterie.algorithms.seeding` without its shortcuts: all distinct points stand
in the order of their hashes, and a draw walks along them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Labels = NDArray[np.intp]
Numbers = NDArray[np.object_]  # of Python integers
Words = NDArray[np.uint64]

# --- exact arithmetic ---------------------------------------------------------------------------


def integers(values: Floats) -> tuple[Numbers, int]:
    """Integers and one exponent e with ``values == integers * 2**e``, exactly."""
    fraction, exponent = np.frexp(values)
    whole = np.ldexp(fraction, 53).astype(np.int64).astype(object)
    lowest = int(np.min(exponent, initial=0, where=values != 0))
    shift = np.where(values != 0, exponent - lowest, 0).astype(object)
    return whole << shift, lowest - 53


def scaled(whole: int, exponent: int) -> Fraction:
    """``whole * 2**exponent``."""
    return Fraction(whole) * Fraction(2) ** exponent


def rounded(numerator: int, denominator: int, exponent: int) -> float:
    """The float64 nearest to ``numerator / denominator * 2**exponent``: Python divides integers
    of any length and rounds once."""
    if exponent >= 0:
        return (numerator << exponent) / denominator
    return numerator / (denominator << -exponent)


def exact_mean(values: Floats, weights: Floats) -> Floats:
    """(sum of w x) / (sum of w) for each column, the exact ratio rounded once.

    values : (n, d); weights : (n,) positive
    """
    x, e = integers(values)
    w, _ = integers(weights)  # the exponent of the weights cancels
    mass = int(w.sum())
    sums = (w[:, np.newaxis] * x).sum(axis=0)
    return np.array([rounded(s, mass, e) for s in sums])


def exact_squares(X: Floats, weights: Floats, means: Floats, y: Labels) -> Fraction:
    """Sum of w |x - m_y|^2 over all points."""
    n = len(X)
    both, e = integers(np.concatenate([X, means]))
    w, weight_exponent = integers(weights)
    difference = both[:n] - both[n:][y]
    total = (w * (difference * difference).sum(axis=1)).sum()
    return scaled(int(total), 2 * e + weight_exponent)


def exact_mean_variance(X: Floats, weights: Floats | None = None) -> float:
    """The variance of a column about its exact mean, averaged over the columns."""
    x, e = integers(X)
    w, _ = integers(np.ones(len(X)) if weights is None else weights)
    mass = int(w.sum())
    sums = (w[:, np.newaxis] * x).sum(axis=0)
    # x - sum / mass, times mass: still an integer.
    difference = mass * x - sums
    total = int((w * (difference * difference).sum(axis=1)).sum())
    return rounded(total, mass**3 * X.shape[1], 2 * e)


# --- Algorithm 2 --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Answer:
    """What a run of k-means gives."""

    means: Floats  # (k, d)
    labels: Labels  # (n,)
    active: NDArray[np.bool_]  # (k,)
    inertia: float
    clustering_error: float
    n_iter: int
    errors: tuple[float, ...]  # clustering error after each iteration


def squared_distances(X: Floats, means: Floats) -> Floats:
    """(n, k): sum over columns, in order, of (x - m)^2, multiplied and then added in float64."""
    s = np.zeros((len(X), len(means)))
    for column in range(X.shape[1]):
        e = X[:, column, np.newaxis] - means[np.newaxis, :, column]
        s += e * e
    return s


def nearest(X: Floats, means: Floats) -> Labels:
    """y(i) = min argmin_c |x(i) - m(c)|: `argmin` gives the lowest index among equals."""
    y: Labels = np.argmin(squared_distances(X, means), axis=1)
    return y


def updated_means(
    X: Floats, weights: Floats, y: Labels, active: NDArray[np.bool_], means: Floats
) -> Floats:
    """m(c) = mean of the points with y(i) = c, for all c with b(c) = 1; the others stay."""
    new = means.copy()
    for c in np.flatnonzero(active):
        new[c] = exact_mean(X[y == c], weights[y == c])
    return new


def k_means(
    X: NDArray[Any],
    means: Floats,
    weights: Floats | None = None,
    *,
    max_iter: int | None = None,
    tol: float = 0.0,
    rel_tol: float = 0.0,
) -> Answer:
    """Algorithm 2 from the given means; the rules for stopping early are ours and off at first."""
    x = np.asarray(X, dtype=np.float64)
    w = np.ones(len(x)) if weights is None else weights
    mass = exact_squares(np.ones((len(x), 1)), w, np.zeros((1, 1)), np.zeros(len(x), dtype=np.intp))
    m = np.array(means, dtype=np.float64)
    threshold = tol * exact_mean_variance(x, w) if tol > 0 else 0.0
    errors: list[float] = []
    previous: Labels | None = None
    # 1: repeat
    while True:
        # 2: update cluster assignments, the lowest index among equals
        y = nearest(x, m)
        # 3: update activity indicators
        b = np.bincount(y, minlength=len(m)) > 0
        # 4: update the means of active clusters
        new = updated_means(x, w, y, b, m)
        errors.append(float(exact_squares(x, w, new, y) / mass))
        # 5: until cluster assignments do not change (and so step 4 changed no mean)
        if previous is not None and np.array_equal(y, previous):
            break
        move = float(np.cumsum((new - m).ravel() ** 2)[-1])
        m, previous = new, y
        if (
            (tol > 0 and move <= threshold)
            or (rel_tol > 0 and len(errors) > 1 and errors[-2] - errors[-1] < rel_tol * errors[-2])
            or (max_iter is not None and len(errors) >= max_iter)
        ):
            # Stopped early: the assignments of the means that are returned.
            y = nearest(x, m)
            b = np.bincount(y, minlength=len(m)) > 0
            break
    squares = exact_squares(x, w, m, y)
    return Answer(m, y, b, float(squares), float(squares / mass), len(errors), tuple(errors))


# --- random words -------------------------------------------------------------------------------

MASK = (1 << 64) - 1


def mix(z: int) -> int:
    """Scramble 64 bits."""
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB & MASK
    return z ^ (z >> 31)


def word(seed: int, stream: int, number: int = 0) -> int:
    """The random word of a seed with this stream and number."""
    z = mix(seed + 0x9E3779B97F4A7C15 & MASK)
    z = mix(z + stream * 0xD1B54A32D192ED03 & MASK)
    return mix(z + number * 0x8CB92BA72F3D8DD7 + 0x632BE59BD9B4E019 & MASK)


def hash_row(row: Floats) -> int:
    """A sum over the nonzero entries, so that zeros need not be stored to be hashed."""
    total = 0
    for column, bits in enumerate(row.view(np.uint64).tolist()):
        if row[column] != 0:
            total += mix(bits + (column + 1) * 0x9E3779B97F4A7C15 & MASK)
    return mix(total + 0x9E3779B97F4A7C15 & MASK)


# --- seedings -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Points:
    """The distinct points in the order of their hashes, and how often each of them counts."""

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


def frame(values: Floats) -> tuple[Floats, float]:
    """Centre and unit that bring the data near one: float32 of ``(x - centre) * unit``."""
    low, high = values.min(axis=0), values.max(axis=0)
    middle, half = 0.5 * low + 0.5 * high, 0.5 * high - 0.5 * low
    centre = np.where(np.abs(middle) > 2 * half, middle, 0.0)  # only columns far from zero
    largest = float(max(np.abs(low - centre).max(), np.abs(high - centre).max()))
    exponent = math.frexp(largest)[1]
    return centre, 2.0**-exponent if abs(exponent) > 12 else 1.0


class Field:
    """Squared distance of every point from its nearest seed, counted in whole units.

    Distances are float32 in the frame until the seeds are so dense that float32 cannot tell
    points apart, and float64 without a frame from then on.
    """

    def __init__(self, points: Points) -> None:
        self.points = points
        centre, unit = frame(points.values)
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
        total = np.zeros(len(x), dtype=x.dtype)
        for column in range(x.shape[1]):
            e = x[:, column] - s[column]
            total = total + e * e
        return total

    def units(self, distances: NDArray[Any], shift: int) -> Numbers:
        """rint(distance * 2**shift) for each point, times its copies."""
        whole = np.rint(np.ldexp(distances.astype(np.float64), shift)).astype(np.int64)
        counted: Numbers = whole.astype(object) * self.points.copies
        return counted

    def add(self, seeds: list[Floats]) -> None:
        """The last seed joins."""
        self.near = np.minimum(self.near, self.distances(seeds[-1]))
        largest = float(self.near.max())
        if self.coarse and largest < 2.0**-32 * self.span:
            self.coarse = False
            self.near = np.min([self.distances(seed) for seed in seeds], axis=0)
            largest = float(self.near.max())
        elif self.shift_for(largest) <= self.shift + 10:
            return
        if largest > 0:
            self.shift = self.shift_for(largest)

    def left_with(self, candidate: Floats) -> int:
        """Units of 24 bits (float32 has no more) left if the candidate became a seed."""
        shift = min(self.bits, 24) - math.frexp(float(self.near.max()))[1]
        distances = np.minimum(self.near, self.distances(candidate))
        return int(self.units(distances, shift).sum())

    def walk(self, units: Numbers, random: int) -> Floats:
        """Along the points until a random share of all units is passed."""
        target = random * int(units.sum()) >> 64
        end: Floats = self.points.values[np.argmax(np.cumsum(units) > target)]
        return end


def kmeans_plusplus(X: NDArray[Any], k: int, seed: int, weights: Floats | None = None) -> Floats:
    """Greedy k-means++: the best of a few draws in proportion to squared distance, k times."""
    field = Field(distinct_points(X, weights))
    seeds = [field.walk(field.points.copies, word(seed, 0))]
    field.add(seeds)
    for j in range(1, k):
        if field.near.max() == 0:
            return np.array(seeds + [seeds[0]] * (k - j))
        units = field.units(field.near, field.shift)
        candidates = [field.walk(units, word(seed, j, t)) for t in range(2 + int(math.log(k)))]
        seeds.append(min(candidates, key=field.left_with))  # the first among equals
        field.add(seeds)
    return np.array(seeds)


def kmeans_parallel(X: NDArray[Any], k: int, seed: int, weights: Floats | None = None) -> Floats:
    """k-means||: rounds of independent draws, then the points drawn are clustered themselves,
    each with the weight of all points nearest to it."""
    x = np.asarray(X, dtype=np.float64)
    w = np.ones(len(x)) if weights is None else weights
    field = Field(distinct_points(x, weights))
    drawn = [field.walk(field.points.copies, word(seed, 0))]
    field.add(drawn)
    for r in range(5):
        potential = math.ldexp(int(field.units(field.near, field.shift).sum()), -field.shift)
        if potential == 0:
            break
        chance = field.near.astype(np.float64) * (2 * k / potential)
        luck = [(mix(h ^ word(seed, 1, r)) >> 11) * 2.0**-53 for h in field.points.hashes]
        for i in np.flatnonzero(np.array(luck) < chance):
            drawn.append(field.points.values[i])
            field.add(drawn)
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
