"""Data made from a seed: each function gives n rows, C order, float64, the same on every run.

Real data sets cannot be shipped or fetched here, so the `_like` generators copy what makes them
hard: 8-bit ties in photographs, sparse columns in land-cover tables, blank borders in digits.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def blobs(n: int, d: int, k: int, spread: float, seed: int) -> Array:
    """k round Gaussian clusters of standard deviation `spread`, centres uniform in a cube."""
    rng = np.random.default_rng(seed)
    centres = rng.uniform(-10.0, 10.0, (k, d))
    x = centres[rng.integers(k, size=n)]
    x += rng.normal(0.0, spread, (n, d))
    return x


def uniform(n: int, d: int, seed: int) -> Array:
    """No clusters at all: the unit cube, where bounds help least in low dimension."""
    return np.random.default_rng(seed).random((n, d))


def noise(n: int, d: int, seed: int) -> Array:
    """One Gaussian whose columns shrink in scale from 2 to 0.2."""
    x = np.random.default_rng(seed).normal(size=(n, d))
    x *= np.linspace(2.0, 0.2, d)
    return x


def photo_like(n: int, seed: int) -> Array:
    """RGB pixels of a painted picture 1000 wide: shaded shapes over a sky, grain, 8-bit steps."""
    from scipy.ndimage import gaussian_filter

    rng = np.random.default_rng(seed)
    height, width = n // 1000, 1000
    y, x = np.meshgrid(np.arange(height) / height, np.arange(width) / width, indexing="ij")
    picture = np.stack([0.5 + 0.3 * y, 0.6 + 0.2 * x * y, 0.9 - 0.4 * y], axis=-1)
    for _ in range(120):
        _paint_ellipse(picture, rng)
    grain = gaussian_filter(rng.normal(size=(height, width)), 3.0)
    picture *= 1.0 + (0.08 / grain.std()) * grain[..., None]
    picture = gaussian_filter(picture, (1.2, 1.2, 0.0))
    picture += rng.normal(0.0, 0.012, picture.shape)
    pixels: Array = np.clip(np.rint(255.0 * picture), 0.0, 255.0).reshape(-1, 3)
    return pixels


def _paint_ellipse(picture: Array, rng: np.random.Generator) -> None:
    """Blend one tilted, shaded ellipse into the picture (in place), inside its bounding box."""
    height, width, _ = picture.shape
    centre = rng.random(2)
    radii = rng.uniform(0.02, 0.25, 2)
    angle = rng.uniform(0.0, np.pi)
    colour = rng.beta(0.8, 0.8, 3)
    reach = radii.max()
    size = np.array([height, width])
    top, left = np.maximum(0, (centre - reach) * size).astype(int)
    bottom, right = ((centre + reach) * size).astype(int) + 1
    window = picture[top:bottom, left:right]
    rows = (top + np.arange(window.shape[0]))[:, None] / height - centre[0]
    columns = (left + np.arange(window.shape[1]))[None, :] / width - centre[1]
    along = (columns * np.cos(angle) + rows * np.sin(angle)) / radii[0]
    across = (rows * np.cos(angle) - columns * np.sin(angle)) / radii[1]
    inside = along**2 + across**2 < 1.0
    shade = 1.0 - 0.5 * along[inside]
    window[inside] = 0.25 * window[inside] + 0.75 * shade[:, None] * colour


def covertype_like(n: int, d: int, seed: int) -> Array:
    """Seven overlapping, correlated classes of unequal size; the later columns are mostly zero."""
    rng = np.random.default_rng(seed)
    classes = 7
    share = rng.dirichlet(np.ones(classes))
    label = rng.choice(classes, size=n, p=share)
    x = np.empty((n, d))
    for c in range(classes):
        rows = np.flatnonzero(label == c)
        mixing = rng.normal(size=(d, d)) * np.linspace(2.0, 0.1, d)
        x[rows] = rng.normal(size=(rows.size, d)) @ mixing + rng.normal(0.0, 2.0, d)
    sparse = d - d // 2
    present = rng.random((n, sparse)) < 0.05 * np.arange(1, sparse + 1)
    x[:, d // 2 :] *= present
    return x


def digits_like(n: int, seed: int) -> Array:
    """Scanned 8 x 8 digits, drawn with replacement, each pixel with unit noise."""
    rng = np.random.default_rng(seed)
    scans = _digits()
    x = scans[rng.integers(len(scans), size=n)]
    x += rng.normal(size=x.shape)
    return x


def mnist_like(n: int, seed: int) -> Array:
    """28 x 28 grey digits in 0..255: scans enlarged, sheared, scaled and shifted, blank borders.

    Warping is linear in the pixels, so 400 random warps are 400 matrices (784 x 64), and making
    the images is one small matrix product per warp instead of a loop over images.
    """
    rng = np.random.default_rng(seed)
    scans = _digits() / 16.0
    warps = 400
    chosen = rng.integers(len(scans), size=n)
    warp = rng.integers(warps, size=n)
    x = np.empty((n, 784))
    for w in range(warps):
        rows = np.flatnonzero(warp == w)
        x[rows] = scans[chosen[rows]] @ _warp_matrix(rng).T
    # Ink is darker than a linear enlargement leaves it: stretch the contrast, then 8-bit steps.
    x *= 1.6
    x -= 0.25
    return np.rint(255.0 * np.clip(x, 0.0, 1.0, out=x), out=x)


def _warp_matrix(rng: np.random.Generator) -> Array:
    """(784, 64): bilinear samples of an 8 x 8 scan at the pixels of a 28 x 28 canvas."""
    scale = rng.uniform(0.85, 1.1) * 2.5
    shear = rng.uniform(-0.25, 0.25)
    shift = rng.integers(-2, 3, size=2)
    row, column = np.meshgrid(np.arange(28) - 13.5, np.arange(28) - 13.5, indexing="ij")
    source_row = (row - shift[0]) / scale + 3.5
    source_column = (column - shift[1]) / scale + shear * (row - shift[0]) / 2.5 + 3.5
    grid = np.arange(8)
    weight_row = np.maximum(0.0, 1.0 - np.abs(source_row[..., None] - grid))
    weight_column = np.maximum(0.0, 1.0 - np.abs(source_column[..., None] - grid))
    weights: Array = weight_row[..., :, None] * weight_column[..., None, :]
    return weights.reshape(784, 64)


def _digits() -> Array:
    from sklearn.datasets import load_digits

    scans: Array = load_digits().data
    return scans
