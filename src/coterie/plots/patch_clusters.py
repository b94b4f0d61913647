"""One figure for clusters of patches: the picture, its data points, and the clusters on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coterie.colours import colour_name, matching_colours
from coterie.data.media.patches import Patches
from coterie.plots.style import FAINT, INK, require_matplotlib

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Array = NDArray[np.float64]
Labels = NDArray[np.intp]

BOX = "#e11d2e"


def draw_patch_clusters(
    patches: Patches, labels: ArrayLike, means: ArrayLike, boxed: int | None = None
) -> Figure:
    """Draw the picture with one patch boxed, the patches as points, and the clusters.

    Parameters
    ----------
    patches : Patches
        The picture and its patches, from `image_patches`.
    labels : array (n,)
        The cluster of each patch.
    means : array (k, 3)
        Mean red, green and blue of each cluster.
    boxed : int, optional
        The patch that is boxed in red, in the picture and among the points; by default one in
        the upper middle.

    The figure stands for itself: it is not known to pyplot, and needs no display.
    """
    figure_class = require_matplotlib()
    labels, means = np.asarray(labels, dtype=np.intp), np.asarray(means, dtype=np.float64)
    colours = matching_colours(means)
    if boxed is None:
        boxed = upper_middle(patches)

    height, width = patches.picture.shape[:2]
    steepness = min(max(height / width, 0.5), 1.3)
    sheet = _Sheet(panel_width=4.9, panel_height=4.9 * steepness)
    figure = figure_class(figsize=sheet.size, facecolor="white")
    panels = [figure.add_axes(sheet.panel(row, column)) for row in (0, 1) for column in (0, 1)]
    draw_snapshot(panels[0], patches, boxed)
    _draw_scatter(panels[1], patches.features, labels, means, colours, boxed)
    _show(panels[2], patches.overlay(labels, colours), f"The {len(means)} clusters on the picture")
    _show(panels[3], patches.paint(means, labels), "Each patch in the mean colour of its cluster")
    _draw_legend(figure, sheet, labels, means, colours)
    return figure


def upper_middle(patches: Patches) -> int:
    """Return the patch to enlarge: it shows some detail in most pictures."""
    return int(0.34 * patches.rows) * patches.columns + int(0.43 * patches.columns)


@dataclass(frozen=True)
class _Sheet:
    """Layout of the panels, in inches: each has the shape of the picture."""

    panel_width: float
    panel_height: float
    margin: float = 0.35
    gap: float = 0.72  # room for the axis labels of the scatter plot
    title: float = 0.42
    legend: float = 0.62

    @property
    def size(self) -> tuple[float, float]:
        width = 2 * self.margin + 2 * self.panel_width + self.gap
        return width, self.legend + 2 * self.panel_height + self.gap + self.margin + self.title

    def panel(self, row: int, column: int) -> tuple[float, float, float, float]:
        """Return left, bottom, width, height as matplotlib wants them, in parts of the sheet."""
        width, height = self.size
        left = self.margin + column * (self.panel_width + self.gap)
        bottom = self.legend + self.margin + (1 - row) * (self.panel_height + self.gap)
        return left / width, bottom / height, self.panel_width / width, self.panel_height / height


def _title(axes: Axes, text: str) -> None:
    axes.set_title(text, loc="left", fontsize=11, color=INK, pad=7)


def _show(axes: Axes, picture: Array, title: str) -> None:
    """Show a picture (h, w, 3) without ticks or frame."""
    axes.imshow(np.clip(picture, 0.0, 1.0), interpolation="nearest")
    axes.set_axis_off()
    axes.set_anchor("W")  # a narrow picture stands at the left, under its title
    _title(axes, title)


def draw_snapshot(axes: Axes, patches: Patches, boxed: int, title: str | None = None) -> None:
    """Show the picture, one patch in a red box, and that patch enlarged in the corner."""
    from matplotlib.patches import ConnectionPatch, Rectangle

    cut = f"A snapshot, cut into {len(patches)} patches"
    _show(axes, patches.picture, cut if title is None else title)
    top, left, bottom, right = patches.box(boxed)
    corner, size = (left - 0.5, top - 0.5), (right - left, bottom - top)
    axes.add_patch(Rectangle(corner, *size, fill=False, edgecolor=BOX, linewidth=1.8))
    lens = axes.inset_axes((0.025, 0.68, 0.19, 0.285))
    lens.imshow(patches.picture[top:bottom, left:right], interpolation="nearest")
    lens.set_xticks([])
    lens.set_yticks([])
    for spine in lens.spines.values():
        spine.set(edgecolor=BOX, linewidth=1.8)
    for y, end in ((1.0, top - 0.5), (0.0, bottom - 0.5)):
        line = ConnectionPatch(
            (1.0, y), (left - 0.5, end), lens.transAxes, axes.transData, color=BOX, linewidth=0.8
        )
        axes.add_artist(line)


def _draw_scatter(
    axes: Axes, features: Array, labels: Labels, means: Array, colours: Array, boxed: int
) -> None:
    """Show each patch as a point by redness and blueness, and the means as crosses."""
    red, blue = features[:, 0], features[:, 2]
    axes.scatter(red, blue, s=13, c=colours[labels], alpha=0.6, linewidths=0, rasterized=True)
    axes.scatter(means[:, 0], means[:, 2], s=150, c="white", marker="x", linewidths=5.0)
    axes.scatter(means[:, 0], means[:, 2], s=120, c=INK, marker="x", linewidths=2.2)
    axes.scatter(red[boxed], blue[boxed], s=70, c="none", edgecolors=BOX, linewidths=1.8)
    axes.set(xlim=(0, 1), ylim=(0, 1), xticks=(0, 0.5, 1), yticks=(0, 0.5, 1))
    axes.set_xlabel("mean redness", fontsize=9, color=FAINT, labelpad=1)
    axes.set_ylabel("mean blueness", fontsize=9, color=FAINT, labelpad=1)
    axes.tick_params(labelsize=8, colors=FAINT, length=3)
    axes.grid(color="#eef1f4", linewidth=0.8)
    axes.set_axisbelow(True)
    for side, spine in axes.spines.items():
        spine.set(visible=side in ("left", "bottom"), color="#c3cbd3")
    _title(axes, "The patches as data points, the cluster means as crosses")


def _draw_legend(
    figure: Figure, sheet: _Sheet, labels: Labels, means: Array, colours: Array, most: int = 6
) -> None:
    """Show for each cluster its colour in the plots, its mean colour, its name and its share."""
    from matplotlib.patches import Rectangle

    strip = figure.add_axes((0, 0, 1, (sheet.legend + 0.1) / sheet.size[1]))
    strip.set(xlim=(0, sheet.size[0]), ylim=(0, sheet.legend + 0.1))
    strip.set_axis_off()
    shares = np.bincount(labels, minlength=len(means)) / len(labels)
    largest = np.argsort(-shares, kind="stable")[:most]
    step = (sheet.size[0] - 2 * sheet.margin) / max(len(largest), 4)
    for place, cluster in enumerate(largest):
        left = sheet.margin + place * step
        for offset, colour in ((0.0, colours[cluster]), (0.17, means[cluster])):
            face = np.clip(colour, 0.0, 1.0)
            strip.add_patch(Rectangle((left + offset, 0.26), 0.17, 0.34, facecolor=face))
        name = colour_name(means[cluster])
        strip.text(left + 0.43, 0.45, name, fontsize=9.5, color=INK, va="bottom")
        strip.text(left + 0.43, 0.40, f"{shares[cluster]:.0%}", fontsize=9, color=FAINT, va="top")
    if len(means) > most:
        others = f"smaller clusters not listed: {len(means) - most}"
        strip.text(sheet.size[0] - sheet.margin, 0.08, others, fontsize=8, color=FAINT, ha="right")
