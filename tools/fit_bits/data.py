"""Rows and weights made from integers alone, so that they are the same bits on every machine.

Words come from a hash of a counter in 64-bit integers. Values are sums of such integers, divided by
a power of two: float32 holds nearly all of them, and no rounding is left to a library.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from coterie.arrays import Floats, Integers

NEW_ROWS = 333  # new rows beside those of a fit, for predict
WORTH_THREADS = 140_000  # rows x columns x clusters for which an estimator uses three threads
FEWEST_ROWS = 300
UNEVEN = 37  # more rows, so that no chunk of a kernel divides them
UNIT = 2048.0  # integers of a bell curve for one unit


def words(tag: str, *shape: int) -> NDArray[np.uint64]:
    """Hashes of 0, 1, 2, ... under a tag (SplitMix64)."""
    start = int.from_bytes(hashlib.sha256(tag.encode()).digest()[:8], "little")
    count = int(np.prod(shape))
    z = np.uint64(start) + np.arange(count, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (z ^ (z >> np.uint64(31))).reshape(shape)


def integers(tag: str, shape: tuple[int, ...], low: int, high: int) -> Integers:
    """Integers from low to high - 1."""
    return low + (words(tag, *shape) % np.uint64(high - low)).astype(np.int64)


def bell(tag: str, n: int, d: int) -> Integers:
    """(n, d) integers near a bell curve about zero: sums of four, about 1.15 units wide."""
    w = words(tag, n, d)
    mask = np.uint64(4095)
    parts = [(w >> np.uint64(12 * i)) & mask for i in range(4)]
    return sum(part.astype(np.int64) for part in parts) - 4 * 2048 + 2  # type: ignore[return-value]


def groups(tag: str, n: int, d: int, k: int, width: int) -> Floats:
    """k bell curves about centres in a box of `width` integers to each side."""
    centres = integers(f"{tag} centres {d}", (k, d), -width, width)
    own = integers(f"{tag} groups", (n,), 0, k)
    return (centres[own] + bell(f"{tag} noise", n, d)) / UNIT


def blobs(n: int, d: int) -> Floats:
    """Six groups that are far apart."""
    return groups("blobs", n, d, 6, 1 << 14)


def cloud(n: int, d: int) -> Floats:
    """Twelve groups that run into each other, so that runs are long."""
    return groups("cloud", n, d, 12, 1 << 12)


def stretched(n: int, d: int) -> Floats:
    """Four groups whose columns depend on each other."""
    X = groups("stretched", n, d, 4, 1 << 13)
    return X + 0.75 * np.roll(X, 1, axis=1) if d > 1 else X


def lattice(n: int, d: int) -> Floats:
    """Small integers: equal distances everywhere."""
    return integers(f"lattice {d}", (n, d), 0, 5).astype(np.float64)


def duplicates(n: int, d: int) -> Floats:
    """Forty different rows, over and over."""
    return blobs(40, d)[integers("duplicates", (n,), 0, 40)]


def offset(n: int, d: int) -> Floats:
    """Groups far from zero."""
    return blobs(n, d) + 1024.0


def timestamps(n: int, d: int) -> Floats:
    """Milliseconds since 1970: float64 only."""
    return 1_700_000_000_000.0 + 4000.0 * np.rint(cloud(n, d)) + integers("ms", (n, d), -600, 600)


def scales(n: int, d: int) -> Floats:
    """Columns of very different width."""
    return np.ldexp(blobs(n, d), (np.arange(d) * 4) % 40 - 20)


def thirds(n: int, d: int) -> Floats:
    """Values that fill all digits of a float64."""
    return cloud(n, d) / 3.0


def outlier(n: int, d: int) -> Floats:
    """Groups, and one row very far away."""
    X = blobs(n, d)
    X[n // 2] = 2.0**40
    return X


def constant(n: int, d: int) -> Floats:
    """Groups, and one column that is the same in all rows."""
    X = blobs(n, d)
    X[:, d // 2] = 7.0
    return X


def huge(n: int, d: int) -> Floats:
    """Values whose squares overflow."""
    return np.ldexp(blobs(n, d), 530)


def tiny(n: int, d: int) -> Floats:
    """Values whose squares vanish."""
    return np.ldexp(blobs(n, d), -600)


def chains(n: int, d: int) -> Floats:
    """Five random walks: clusters of any shape, for DBSCAN."""
    steps = bell("chains", n, d)
    starts = integers(f"chains starts {d}", (5, d), -(1 << 17), 1 << 17)
    pieces = np.array_split(steps, 5)
    walks = [start + np.cumsum(piece, axis=0) for start, piece in zip(starts, pieces, strict=True)]
    return np.concatenate(walks) / UNIT


def uniform(n: int, d: int) -> Floats:
    """Rows spread over a box."""
    return integers(f"uniform {d}", (n, d), 0, 1 << 16) / 4096.0


def mostly_zero(n: int, d: int) -> Floats:
    """Groups of which one value in six is kept."""
    kept: Floats = np.where(words(f"zeros {d}", n, d) % np.uint64(6) == 0, blobs(n, d), 0.0)
    return kept


def angles(n: int, d: int) -> Floats:
    """Latitudes and longitudes in radians, in groups."""
    return groups("angles", n, d, 6, 1 << 12) / 8.0


def flags(n: int, d: int) -> Floats:
    """Zeros and ones, more alike within a group."""
    pattern = integers(f"flags {d}", (4, d), 0, 2)[integers("flags groups", (n,), 0, 4)]
    flipped = (integers("flips", (n, d), 0, 10) == 0).astype(np.int64)
    mixed: Integers = pattern ^ flipped
    return mixed.astype(np.float64)


KINDS: dict[str, Callable[[int, int], Floats]] = {
    make.__name__: make
    for make in (
        *(blobs, cloud, stretched, lattice, duplicates, offset, timestamps, scales, thirds),
        *(outlier, constant, huge, tiny, chains, uniform, mostly_zero, angles, flags),
    )
}


def rows_for(d: int, k: int) -> int:
    """Rows enough for three threads."""
    return max(FEWEST_ROWS, -(-WORTH_THREADS // (d * k))) + UNEVEN


@functools.lru_cache(maxsize=64)
def _both(kind: str, n: int, d: int) -> Floats:
    values = KINDS[kind](n + NEW_ROWS, d)
    values.setflags(write=False)
    return values


def rows(kind: str, n: int, d: int, form: str = "float64") -> tuple[Any, Any]:
    """(n, d) rows of this kind, and new ones beside them. form : a dtype, or "csr-" and a dtype, or
    a dtype and "-fortran" or "-strided"."""
    layout, _, dtype = form.partition("-") if form.startswith("csr-") else ("", "", form)
    dtype, _, order = dtype.partition("-")
    values = _both(kind, n, d).astype(dtype)
    X, new = values[:n], values[n:]
    if layout == "csr":
        return csr_array(X), csr_array(new)
    if order == "fortran":
        return np.asfortranarray(X), np.asfortranarray(new)
    if order == "strided":
        return np.repeat(X, 2, axis=1)[:, ::2], np.repeat(new, 2, axis=1)[:, ::2]
    return X, new


def weights(kind: str, n: int) -> Floats | None:
    """Weights of n rows."""
    match kind:
        case "none":
            return None
        case "whole":
            return integers("whole", (n,), 0, 4).astype(np.float64)
        case "float":
            return integers("float", (n,), 1, 1001) / 1000.0
        case "signed":
            return integers("signed", (n,), -1, 4).astype(np.float64)
    raise ValueError(f"weights={kind!r}: expected none, whole, float or signed.")


def with_holes(X: Floats, one_in: int = 9) -> Floats:
    """The same rows without some of their cells; no row loses all."""
    holes = words(f"holes {X.shape[1]}", *X.shape) % np.uint64(one_in) == 0
    holes[np.arange(len(X)), np.arange(len(X)) % X.shape[1]] = False
    return np.where(holes, np.nan, X)
