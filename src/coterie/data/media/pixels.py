"""Pixels of a picture as data points, with or without their place."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coterie.data.media.images import MAX_PIXELS, PictureSource, load_picture
from coterie.data.media.patches import Array, Patches
from coterie.data.memory_shortage import reports_shortage


@reports_shortage
def image_pixels(
    picture: PictureSource, *, position: float = 0.0, max_pixels: int = MAX_PIXELS
) -> Pixels:
    """Take every pixel of a picture as a data point.

    Parameters
    ----------
    picture : path or array
        Anything that `load_picture` takes.
    position : float, default=0
        Weight of the place of a pixel. 0: colours only. Otherwise two columns are added, `down`
        and `right`, that go from 0 to this value along the longer side of the picture, so that
        pixels of one object, which are near each other, tend to share a cluster.
    max_pixels : int, default=64_000_000
        Larger pictures are refused.

    Returns
    -------
    Pixels
        Its `features`, (n, 3) or (n, 5), are ready to be clustered; its methods bring labels back.
    """
    colours = load_picture(picture, max_pixels)
    return Pixels(colours, (1, 1), pixel_features(colours, position), check_position(position))


def pixel_features(picture: Array, position: float) -> Array:
    """Return one row per pixel of a picture (height, width, 3): colours, and the place if asked."""
    height, width = picture.shape[:2]
    colours = picture.reshape(-1, 3)
    if not check_position(position):
        return colours
    unit = position / max(height - 1, width - 1, 1)
    features = np.empty((len(colours), 5))
    features[:, :3] = colours
    features[:, 3] = np.repeat(np.arange(height) * unit, width)
    features[:, 4] = np.tile(np.arange(width) * unit, height)
    return features


def check_position(position: float) -> float:
    """Return the weight of the place, or raise an error."""
    if not (isinstance(position, int | float) and 0.0 <= position < np.inf):
        raise ValueError(
            f"expected a position weight of 0 or more, got {position!r}; "
            "0 leaves the place out, 1 makes it as important as colours"
        )
    return float(position)


@dataclass(frozen=True, eq=False, repr=False)
class Pixels(Patches):
    """The pixels of one picture, row by row from the top left: patches of one pixel each."""

    position: float = 0.0

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the columns of `features`."""
        colours = ("red", "green", "blue")
        return (*colours, "down", "right") if self.position else colours

    def __repr__(self) -> str:
        """Return the number of pixels in words."""
        height, width = self.picture.shape[:2]
        return f"Pixels({height} x {width} = {len(self)} pixels, position {self.position:g})"

    def paint(self, means: ArrayLike, labels: ArrayLike) -> Array:
        """Paint each pixel in the colour of its cluster's mean; columns of the place are unused."""
        values: NDArray[np.float64] = np.asarray(means, dtype=np.float64)
        return super().paint(values[:, :3] if values.ndim == 2 else values, labels)

    def _spread(self, values: NDArray[np.generic]) -> NDArray[np.generic]:  # type: ignore[override]
        return values.reshape(*self.picture.shape[:2], *values.shape[1:])
