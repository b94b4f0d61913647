"""Colours for clusters that stay apart for colour-blind eyes too, and plain names for colours.

The first seven colours are those of Okabe and Ito. Every further one is the colour farthest from
all before it, where "far" is the smallest of four distances: as seen by normal eyes and by eyes
that lack the red, the green or the blue cones. So a palette of k colours begins with every shorter
one, and adding a cluster never recolours the others.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import product

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment

Array = NDArray[np.float64]

OKABE_ITO = ("0072B2", "E69F00", "009E73", "CC79A7", "56B4E9", "D55E00", "F0E442")

# Linear RGB as seen with one kind of cones missing (Machado, Oliveira and Fernandes 2009).
_EYES = np.array(
    [
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ],
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ],
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ],
    ]
)
# From linear RGB to the Oklab space, in which distances are about as large as they look.
_TO_CONES = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
_TO_LAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)
_HUE_BEFORE_LIGHTNESS = np.array([0.3, 1.0, 1.0])
_LEVELS = 12  # candidates per channel; enough for hundreds of colours


def cluster_colours(n_clusters: int) -> Array:
    """Return one colour per cluster, (n_clusters, 3), red, green, blue in [0, 1].

    Past some hundred clusters no eye keeps the colours apart; they then begin again.
    """
    if n_clusters < 0:
        raise ValueError(
            f"n_clusters must be zero or more, got {n_clusters}; pass the number of clusters"
        )
    longest = len(_candidates())
    distinct = np.array(_grow(min(n_clusters, longest))).reshape(-1, 3)
    return distinct[np.arange(n_clusters) % longest]


def matching_colours(means: ArrayLike) -> Array:
    """Return the palette for clusters of colours, dealt out to suit their means; both (k, 3).

    Water stays blue and grass green as far as the palette has such colours: of all ways to give
    each cluster its own, the one with the least total distance from the means is taken.
    """
    targets = perceived(np.clip(np.asarray(means, dtype=np.float64), 0.0, 1.0))
    palette = cluster_colours(max(len(targets), len(OKABE_ITO)))
    apart = (targets[:, None] - perceived(palette)) * _HUE_BEFORE_LIGHTNESS
    _, dealt = linear_sum_assignment(np.sum(apart**2, axis=2))
    colours: Array = palette[dealt]
    return colours


def perceived(colours: ArrayLike) -> Array:
    """Return Oklab coordinates (..., 3) of display colours (..., 3): lightness and two hues."""
    return _lab(_linear(np.asarray(colours, dtype=np.float64)))


def colour_name(colour: ArrayLike) -> str:
    """Describe one colour, (3,) in [0, 1], in plain words such as "deep blue" or "pale grey"."""
    lightness, a, b = (float(value) for value in perceived(colour))
    strength = float(np.hypot(a, b))
    if strength < 0.022:
        return _step(lightness, _GREYS)
    hue = _step(float(np.degrees(np.arctan2(b, a))) % 360.0, _HUES)
    if hue in ("orange", "yellow") and lightness < 0.66:
        hue = "brown" if hue == "orange" else "olive"
    if strength < 0.055:
        return f"{_step(lightness, _SHADES)} {hue} grey".strip()
    return f"{_step(lightness, _SHADES)} {hue}".strip()


_GREYS = ((0.20, "black"), (0.42, "dark grey"), (0.68, "grey"), (0.92, "pale grey"), (9.0, "white"))
_SHADES = ((0.38, "deep"), (0.52, "dark"), (0.76, ""), (9.0, "pale"))
_HUES = (
    (12.0, "pink"),
    (48.0, "red"),
    (88.0, "orange"),
    (122.0, "yellow"),
    (180.0, "green"),
    (222.0, "teal"),
    (283.0, "blue"),
    (325.0, "violet"),
    (361.0, "pink"),
)


def _step(value: float, steps: tuple[tuple[float, str], ...]) -> str:
    """Return the word of the first step that lies above the value."""
    return next(word for above, word in steps if value < above)


def _linear(colours: Array) -> Array:
    """Undo the display curve: (..., 3) in [0, 1] to linear light."""
    low = colours / 12.92
    high = ((np.maximum(colours, 0.04045) + 0.055) / 1.055) ** 2.4
    return np.where(colours <= 0.04045, low, high)


def _lab(light: Array) -> Array:
    """Return Oklab coordinates of linear light, (..., 3)."""
    cones = np.cbrt(np.maximum(light @ _TO_CONES.T, 0.0))
    lab: Array = cones @ _TO_LAB.T
    return lab


def _as_seen(colours: Array) -> Array:
    """Return the colours as each kind of eye sees them: (n, 3) to (eyes, n, 3) in Oklab."""
    return _lab(np.clip(np.einsum("eij,nj->eni", _EYES, _linear(colours)), 0.0, 1.0))


@lru_cache(maxsize=1)
def _candidates() -> tuple[tuple[float, float, float], ...]:
    """Return the Okabe-Ito colours, then a grid without the too dark and the too pale ones."""
    known = [tuple(int(h[i : i + 2], 16) / 255 for i in (0, 2, 4)) for h in OKABE_ITO]
    grid = np.array(list(product(np.linspace(0.0, 1.0, _LEVELS), repeat=3)))
    lightness = perceived(grid)[:, 0]
    grid = grid[(lightness > 0.30) & (lightness < 0.93)]
    return tuple((r, g, b) for r, g, b in [*known, *grid.tolist()])


@lru_cache(maxsize=64)
def _grow(count: int) -> tuple[tuple[float, float, float], ...]:
    """Take Okabe and Ito's colours, then always the candidate farthest from all taken."""
    colours = _candidates()
    seen = _as_seen(np.array(colours))
    nearest = np.full(len(colours), np.inf)
    taken: list[int] = []
    for step in range(count):
        taken.append(step if step < len(OKABE_ITO) else int(np.argmax(nearest)))
        apart = np.linalg.norm(seen - seen[:, taken[-1]][:, None], axis=2).min(axis=0)
        nearest = np.minimum(nearest, apart)
    return tuple(colours[i] for i in taken)
