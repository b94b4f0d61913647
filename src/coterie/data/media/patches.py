"""Patches of a picture as data points, and labels of patches back onto the picture.

The paper's example: cut a snapshot into small rectangles and describe each by the mean redness,
greenness and blueness of its pixels. Clusters of such points are regions of similar colour.
"""

from __future__ import annotations

import operator
import os
from dataclasses import dataclass
from typing import SupportsIndex, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coterie.colours import cluster_colours
from coterie.data.media.images import MAX_PIXELS, PictureSource, load_picture
from coterie.data.memory_shortage import reports_shortage

Array = NDArray[np.float64]
Labels = NDArray[np.intp]
Value = TypeVar("Value", bound=np.generic)


@reports_shortage
def image_patches(
    picture: PictureSource,
    size: SupportsIndex | tuple[SupportsIndex, SupportsIndex],
    *,
    max_pixels: int = MAX_PIXELS,
) -> Patches:
    """Cut a picture into rectangular patches and take the mean colour of each.

    Parameters
    ----------
    picture : path or array
        Anything that `load_picture` takes.
    size : int or (height, width)
        Size of a patch in pixels. Where it does not divide the picture, the patches at the right
        and bottom edge are smaller, and are the mean of the pixels that they have.
    max_pixels : int, default=64_000_000
        Larger pictures are refused.

    Returns
    -------
    Patches
        Its `features`, (n, 3), are ready to be clustered; its methods bring labels back.
    """
    pixels = load_picture(picture, max_pixels)
    height, width = pixels.shape[:2]
    try:
        tall, wide = _check_size(size, height, width)
    except ValueError as error:
        named = f"{picture}: " if isinstance(picture, str | os.PathLike) else ""
        raise ValueError(f"{named}{error}") from None
    tops, lefts = np.arange(0, height, tall), np.arange(0, width, wide)
    widths = np.diff(lefts, append=width)
    rows = [_mean_colours(pixels[top : top + tall], lefts, widths) for top in tops]
    return Patches(pixels, (tall, wide), np.concatenate(rows))


@dataclass(frozen=True, eq=False, repr=False)
class Patches:
    """The patches of one picture, row by row from the top left.

    Attributes
    ----------
    picture : array (height, width, 3)
        The picture itself, red, green, blue in [0, 1].
    size : (height, width)
        Size of a patch in pixels; the last row and column may be smaller.
    features : array (n, 3)
        One data point per patch: mean red, green and blue.
    """

    picture: Array
    size: tuple[int, int]
    features: Array

    @property
    def rows(self) -> int:
        """Number of patches from top to bottom."""
        return len(range(0, self.picture.shape[0], self.size[0]))

    @property
    def columns(self) -> int:
        """Number of patches from left to right."""
        return len(range(0, self.picture.shape[1], self.size[1]))

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the columns of `features`."""
        return ("red", "green", "blue")

    def __len__(self) -> int:
        """Return the number of patches."""
        return len(self.features)

    def __repr__(self) -> str:
        """Return the numbers and sizes of patches and picture in words."""
        height, width = self.picture.shape[:2]
        return (
            f"Patches({self.rows} x {self.columns} = {len(self)} patches of "
            f"{self.size[0]} x {self.size[1]} pixels, from a picture of {height} x {width})"
        )

    def box(self, patch: int) -> tuple[int, int, int, int]:
        """Return the place of a patch: top, left, bottom, right, the last two exclusive."""
        if not 0 <= patch < len(self):
            raise IndexError(
                f"expected a patch from 0 to {len(self) - 1}, got {patch}; "
                "patches are numbered row by row from the top left"
            )
        row, column = divmod(patch, self.columns)
        (tall, wide), (height, width) = self.size, self.picture.shape[:2]
        bottom, right = min((row + 1) * tall, height), min((column + 1) * wide, width)
        return row * tall, column * wide, bottom, right

    def ids(self) -> dict[str, NDArray[np.intp]]:
        """Return the top left pixel of every patch: `top` and `left`, (n,) each."""
        row, column = np.divmod(np.arange(len(self)), self.columns)
        return {"top": row * self.size[0], "left": column * self.size[1]}

    def put_back(self, labels: ArrayLike) -> Labels:
        """Return the label of every pixel, (height, width); another name for `segmentation`."""
        return self.segmentation(labels)

    def segmentation(self, labels: ArrayLike) -> Labels:
        """Return the label of every pixel, (height, width), from one label per patch, (n,)."""
        return self._spread(self._check_labels(labels))

    def paint(self, means: ArrayLike, labels: ArrayLike) -> Array:
        """Paint each patch in the mean of its cluster: means (k, 3), labels (n,) to a picture.

        Outliers, labelled -1, keep their own pixels.
        """
        checked = self._check_labels(labels)
        colours = _check_colours(means, checked, "means")
        return self._blend(self.picture, colours, checked, 1.0)

    def overlay(
        self, labels: ArrayLike, colours: ArrayLike | None = None, alpha: float = 0.55
    ) -> Array:
        """Lay one colour per cluster over the picture, so that both can be seen.

        The picture fades to grey as the colours grow stronger: only clusters have colours then.

        Parameters
        ----------
        labels : array (n,)
            One label per patch. Outliers, labelled -1, stay as they are.
        colours : array (k, 3), optional
            Red, green, blue in [0, 1]; by default a palette for colour-blind eyes too.
        alpha : float, default=0.55
            0 shows only the picture, 1 only the colours.
        """
        checked = self._check_labels(labels)
        if not 0.0 <= alpha <= 1.0:
            raise ValueError(
                f"expected alpha in [0, 1], got {alpha!r}; 0 shows the picture, 1 the colours"
            )
        if colours is None:
            colours = cluster_colours(int(checked.max()) + 1)
        grey = self.picture.mean(axis=2, keepdims=True)
        faded = self.picture + alpha * (grey - self.picture)
        return self._blend(faded, _check_colours(colours, checked, "colours"), checked, alpha)

    def _blend(self, base: Array, colours: Array, labels: Labels, alpha: float) -> Array:
        """Mix colours (k, 3) into a base picture (height, width, 3), except for outliers."""
        if not len(colours):  # outliers only
            return self.picture.copy()
        painted = self._spread(colours[labels])  # -1 picks some colour, taken back below
        mixed = (1.0 - alpha) * base + alpha * painted
        return np.where(self._spread(labels)[:, :, None] >= 0, mixed, self.picture)

    def _spread(self, values: NDArray[Value]) -> NDArray[Value]:
        """Give every pixel the value of its patch: (n, ...) to (height, width, ...)."""
        height, width = self.picture.shape[:2]
        grid = values.reshape(self.rows, self.columns, *values.shape[1:])
        row, column = np.arange(height) // self.size[0], np.arange(width) // self.size[1]
        return grid[row[:, None], column]

    def _check_labels(self, labels: ArrayLike) -> Labels:
        checked = np.asarray(labels)
        if checked.shape != (len(self),) or checked.dtype.kind not in "iu":
            raise ValueError(
                f"expected one integer label per patch, shape ({len(self)},), got shape "
                f"{checked.shape} of dtype {checked.dtype}; pass the labels_ of a model that was "
                "fitted to the features of these patches"
            )
        if checked.min() < -1:
            raise ValueError(
                f"expected labels of -1 (outlier) or more, got {checked.min()}; "
                "number the clusters from 0"
            )
        return checked.astype(np.intp)


def _check_size(
    size: SupportsIndex | tuple[SupportsIndex, SupportsIndex], height: int, width: int
) -> tuple[int, int]:
    """Return the size of a patch as (height, width), or raise an error."""
    pair = size if isinstance(size, tuple | list) else (size, size)
    try:
        tall, wide = (operator.index(side) for side in pair)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"expected a patch size as an integer or as (height, width), got {size!r}; pass size=8"
        ) from error
    if not (1 <= tall <= height and 1 <= wide <= width):
        most = min(height, width)
        raise ValueError(
            f"expected a patch size from 1 pixel to the whole picture, {height} x {width}, got "
            f"{size!r}; pass size={min(8, most)}, or another from 1 to {most}"
        )
    return tall, wide


def _check_colours(colours: ArrayLike, labels: Labels, name: str) -> Array:
    """Return one colour per cluster, (k, 3), clipped to [0, 1]."""
    checked = np.asarray(colours, dtype=np.float64)
    needed = int(labels.max()) + 1
    if checked.ndim != 2 or checked.shape[1] != 3 or len(checked) < needed:
        raise ValueError(
            f"expected {name} of shape ({needed}, 3) or more rows, red, green, blue for each "
            f"cluster, got shape {checked.shape}; pass one row per cluster"
        )
    if not np.isfinite(checked).all():
        raise ValueError(f"expected finite {name}, got NaN or infinity; clusters may be empty")
    return np.clip(checked, 0.0, 1.0)


def _mean_colours(band: Array, lefts: Labels, widths: Labels) -> Array:
    """Return the mean colours, (columns, 3), of one row of patches, (tall, width, 3).

    Colours of 8- and 16-bit pictures are k / 65535 with whole k. Their sums are taken in whole
    numbers, so that the mean is exact until the one division, in any order of adding.
    """
    counts = (widths * len(band))[:, None]
    codes = np.rint(band * 65535.0)
    if np.array_equal(codes / 65535.0, band):
        totals = np.add.reduceat(codes.astype(np.int64).sum(axis=0), lefts, axis=0)
        counts = counts * 65535
    else:
        totals = np.add.reduceat(band.sum(axis=0), lefts, axis=0)
    means: Array = totals / counts
    return means
