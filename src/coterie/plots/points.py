"""Many points on few pixels: dots up to some number of rows, their density beyond."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from coterie.algorithms.dbscan.dbscan import PointKind
from coterie.arrays import Floats
from coterie.colours import cluster_colours
from coterie.plots.style import NOISE_COLOUR, colours_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Labels = NDArray[np.intp]
DOTS = 20_000
RASTERED = 3000  # dots: in SVG and PDF as a picture, which stays small
WAITING = len(PointKind)  # a kind of its own: points that a trace has not reached yet
CELLS = 420  # of the density picture, along the longer side


def draw_points(
    axes: Axes, points: Floats, labels: Labels, palette: Floats, kind: Any = None
) -> None:
    """Rows as dots, or as a picture of their density if there are too many for dots.

    kind : (n,) a `PointKind`, or `WAITING`; None for clusters of other methods.
    """
    if len(points) > DOTS:
        _density(axes, points, labels, palette)
        return
    size = float(np.clip(16_000 / max(len(points), 1), 4.0, 26.0))
    colours = colours_of(labels, palette)
    core = labels >= 0 if kind is None else kind == PointKind.CORE
    # A random order, so that no cluster lies on top because of its number.
    order = np.random.default_rng(0).permutation(np.flatnonzero(core))
    _dots(axes, points[order], s=size, c=colours[order], alpha=0.75, linewidths=0)
    noise = labels < 0 if kind is None else kind == PointKind.NOISE
    _dots(axes, points[noise], s=1.1 * size, c=[NOISE_COLOUR], marker="x", linewidths=0.9)
    if kind is not None:
        edge, waiting = kind == PointKind.BORDER, kind == WAITING
        _dots(axes, points[edge], s=0.7 * size, facecolors="white", edgecolors=colours[edge])
        _dots(axes, points[waiting], s=0.6 * size, c=[NOISE_COLOUR], alpha=0.6, linewidths=0)


def _dots(axes: Axes, points: Floats, **style: Any) -> None:
    if len(points):
        x, y = points.T
        axes.scatter(x, y, rasterized=len(points) > RASTERED, **style)


def limits(points: Floats) -> tuple[float, float, float, float]:
    """Left, right, bottom, top around the points, with a margin."""
    low, high = points.min(axis=0), points.max(axis=0)
    span = np.where(high > low, high - low, 1.0)
    low, high = low - 0.05 * span, high + 0.05 * span
    return float(low[0]), float(high[0]), float(low[1]), float(high[1])


def true_to_scale(axes: Axes, points: Floats) -> None:
    """A unit is as long upwards as across, unless the picture would become a strip."""
    left, right, bottom, top = limits(points)
    axes.set(xlim=(left, right), ylim=(bottom, top))
    axes.locator_params(nbins=7)
    if 0.45 < (top - bottom) / (right - left) < 2.2:
        axes.set_aspect("equal", adjustable="box")
    else:
        axes.set_aspect("auto")


def _density(axes: Axes, points: Floats, labels: Labels, palette: Floats) -> None:
    """A picture whose hue is the mean colour of the rows in a cell, its strength their number."""
    left, right, bottom, top = limits(points)
    cells = (CELLS * 3 // 4, CELLS)
    column = ((points[:, 0] - left) / (right - left) * cells[1]).astype(np.intp)
    row = ((points[:, 1] - bottom) / (top - bottom) * cells[0]).astype(np.intp)
    cell = np.clip(row, 0, cells[0] - 1) * cells[1] + np.clip(column, 0, cells[1] - 1)
    size = cells[0] * cells[1]
    counts = np.bincount(cell, minlength=size)
    shades = np.concatenate([palette, NOISE_COLOUR[None]])
    colour = np.zeros((size, 3))
    for channel in range(3):
        colour[:, channel] = np.bincount(cell, shades[labels, channel], minlength=size)
    colour /= np.maximum(counts, 1)[:, None]
    # A single row is still seen; the rest by the logarithm, up to the usual fullest cells.
    full = np.quantile(counts[counts > 0], 0.99)
    strength = np.log1p(counts) / np.log1p(max(full, 1.0))
    alpha = np.where(counts > 0, 0.18 + 0.82 * np.clip(strength, 0.0, 1.0), 0.0)
    picture = np.concatenate([np.clip(colour, 0, 1), alpha[:, None]], axis=1)
    axes.imshow(
        picture.reshape(*cells, 4), extent=(left, right, bottom, top), origin="lower",
        aspect="auto", interpolation="nearest", zorder=1,
    )  # fmt: skip


def palette_for(labels: Labels, at_least: int = 0) -> Floats:
    """One colour per cluster."""
    return cluster_colours(max(int(labels.max(initial=-1)) + 1, at_least))
