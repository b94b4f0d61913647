"""Data that come with Coterie, so that every example runs without a download."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from coterie.data.media.images import load_picture

Array = NDArray[np.float64]
Groups = NDArray[np.intp]
OUTLIER = -1


def sample_picture() -> Array:
    """Return our drawing of a mountain lake, (320, 480, 3), red, green, blue in [0, 1]."""
    return load_picture(sample_picture_path())


def sample_picture_path() -> Path:
    """Return the path of the sample picture, a JPEG file of about 65 KB."""
    return Path(__file__).parent / "pictures" / "lake.jpg"


def blobs(
    n: int = 300, k: int = 3, d: int = 2, *, spread: float = 1.0, seed: int = 0
) -> tuple[Array, Groups]:
    """Return n points around k centres in [-10, 10]^d, normal with this spread, and their groups.

    Groups have sizes that differ by one at most.
    """
    _check_sizes(n, k)
    random = np.random.default_rng(seed)
    centres = random.uniform(-10.0, 10.0, size=(k, d))
    groups = np.arange(n) % k
    return centres[groups] + spread * random.normal(size=(n, d)), groups


def moons(n: int = 300, *, noise: float = 0.06, seed: int = 0) -> tuple[Array, Groups]:
    """Return two half circles that reach into each other, (n, 2), and the half of each point."""
    _check_sizes(n, 2)
    random = np.random.default_rng(seed)
    groups = np.arange(n) % 2
    angle = np.pi * random.uniform(size=n)
    upper = np.column_stack([np.cos(angle), np.sin(angle)])
    lower = np.column_stack([1.0 - np.cos(angle), 0.5 - np.sin(angle)])
    X = np.where(groups[:, None] == 0, upper, lower)
    return X + noise * random.normal(size=(n, 2)), groups


def circles(
    n: int = 300, *, ratio: float = 0.5, noise: float = 0.05, seed: int = 0
) -> tuple[Array, Groups]:
    """Return a circle within a circle, (n, 2), radii `ratio` and 1, and the circle of each."""
    _check_sizes(n, 2)
    random = np.random.default_rng(seed)
    groups = np.arange(n) % 2
    angle = 2.0 * np.pi * random.uniform(size=n)
    radius = np.where(groups == 0, 1.0, ratio)[:, None]
    X = radius * np.column_stack([np.cos(angle), np.sin(angle)])
    return X + noise * random.normal(size=(n, 2)), groups


def paper_round(seed: int = 0) -> tuple[Array, Groups]:
    """Return the first data set of the paper's comparison, made by us: four round groups.

    300 points, and 12 outliers of group -1 far from all. k-means with k=4 finds the groups, and so
    does DBSCAN (``eps=0.6, min_samples=5``), which finds the outliers too.
    """
    random = np.random.default_rng(seed)
    centres = np.array([[-3.0, -2.0], [-2.5, 3.0], [3.0, 2.5], [2.5, -3.0]])
    groups = np.arange(300) % 4
    X = centres[groups] + 0.45 * random.normal(size=(300, 2))
    angle = np.linspace(0.0, 2.0 * np.pi, 12, endpoint=False)
    ring = 6.5 * np.column_stack([np.cos(angle), np.sin(angle)])
    return np.concatenate([X, ring]), np.concatenate([groups, np.full(12, OUTLIER)])


def paper_non_convex(seed: int = 0) -> tuple[Array, Groups]:
    """Return the second data set of the paper's comparison, made by us: two groups, not convex.

    A disc inside a ring, 300 points, and 8 outliers of group -1. k-means with k=2 cuts through
    both; DBSCAN (``eps=0.55, min_samples=5``) finds them.
    """
    random = np.random.default_rng(seed)
    angle = 2.0 * np.pi * (np.arange(200) + random.uniform(size=200)) / 200
    radius = 3.0 + 0.12 * random.normal(size=200)
    ring = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    disc = 0.45 * random.normal(size=(100, 2))
    turn = np.linspace(0.2, 2.0 * np.pi + 0.2, 8, endpoint=False)
    far = 4.5 * np.column_stack([np.cos(turn), np.sin(turn)])
    groups = np.repeat([0, 1, OUTLIER], [200, 100, 8])
    return np.concatenate([ring, disc, far]), groups


def _check_sizes(n: int, k: int) -> None:
    if not 1 <= k <= n:
        raise ValueError(
            f"expected at least one point for each of the groups, got n={n} points and {k} groups; "
            "ask for more points"
        )
