"""The sheet of the demonstration: a photo by three methods, two data sets by two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from coterie.arrays import Floats
from coterie.colours import cluster_colours, matching_colours
from coterie.data.media.patches import Patches
from coterie.plots.clusters import ClustersDisplay
from coterie.plots.patch_clusters import draw_snapshot, upper_middle
from coterie.plots.pictures import mean_colours
from coterie.plots.projection import Projection
from coterie.plots.style import FAINT, INK, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Labels = NDArray[np.intp]
ACROSS = 4
MARGIN, GAP, HEAD, LINE = 0.3, 0.32, 0.62, 0.5  # inches


@dataclass(frozen=True, eq=False)
class Panel:
    """A clustering, and the words above it."""

    title: str
    below: str
    labels: Labels


@dataclass(frozen=True, eq=False)
class PointsPanel(Panel):
    """A clustering of points in the plane."""

    points: Floats  # (n, 2)
    kind: NDArray[np.uint8] | None  # (n,) core, border and noise of DBSCAN


def draw_demo(
    patches: Patches, photo: Sequence[Panel], points: Sequence[PointsPanel], *, heading: str
) -> Figure:
    """Draw the photo and its clusterings above, the points below, four across.

    Labels must be matched, so that a number means the same in every panel of a data set.
    """
    height, width = patches.picture.shape[:2]
    steepness = min(max(height / width, 0.5), 1.3)
    sheet = _Sheet(panel=(3.35, 3.35 * steepness), square=3.35)
    figure = new_figure(*sheet.size)
    figure.set_layout_engine("none")
    figure.text(
        MARGIN / sheet.size[0], 1 - 0.36 / sheet.size[1], heading, fontsize=16, color=INK,
        fontweight="bold", va="center",
    )  # fmt: skip
    snapshot = figure.add_axes(sheet.upper(0))
    draw_snapshot(snapshot, patches, upper_middle(patches), title="")
    size = f"{patches.size[1]} x {patches.size[0]}"
    _titled(snapshot, "A photo", f"{len(patches):,} patches of {size} pixels, one in the box")
    palette = _palette(patches, photo)
    for place, clustering in enumerate(photo, start=1):
        axes = figure.add_axes(sheet.upper(place))
        axes.imshow(patches.overlay(clustering.labels, palette, 0.62), interpolation="nearest")
        axes.set_axis_off()
        _titled(axes, clustering.title, clustering.below)
    for place, panel in enumerate(points):
        axes = figure.add_axes(sheet.lower(place))
        _draw_points(axes, panel)
    return figure


@dataclass(frozen=True)
class _Sheet:
    """Layout of the panels, in inches."""

    panel: tuple[float, float]
    square: float

    @property
    def size(self) -> tuple[float, float]:
        width = 2 * MARGIN + ACROSS * self.panel[0] + (ACROSS - 1) * GAP
        return width, HEAD + LINE + self.panel[1] + GAP + LINE + self.square + MARGIN

    def upper(self, place: int) -> tuple[float, float, float, float]:
        return self._box(place, MARGIN + self.square + LINE + GAP, self.panel[1])

    def lower(self, place: int) -> tuple[float, float, float, float]:
        return self._box(place, MARGIN, self.square)

    def _box(self, place: int, bottom: float, tall: float) -> tuple[float, float, float, float]:
        width, height = self.size
        left = MARGIN + place * (self.panel[0] + GAP)
        return left / width, bottom / height, self.panel[0] / width, tall / height


def _palette(patches: Patches, photo: Sequence[Panel]) -> Floats:
    """A colour for every number: near the mean colour of the first clustering that has it."""
    most = 1 + max(int(panel.labels.max(initial=-1)) for panel in photo)
    means = np.full((most, 3), np.nan)
    for panel in photo:
        own = mean_colours(patches, panel.labels)
        open_places = np.isnan(means[: len(own), 0]) & np.isin(np.arange(len(own)), panel.labels)
        means[: len(own)][open_places] = own[open_places]
    means[np.isnan(means)] = 0.5
    return matching_colours(means) if most else cluster_colours(0)


def _titled(axes: Axes, title: str, below: str) -> None:
    for text, up, size, colour in ((title, 19, 12.5, INK), (below, 5, 9, FAINT)):
        axes.annotate(
            text, (0, 1), xytext=(0, up), xycoords="axes fraction", textcoords="offset points",
            fontsize=size, color=colour, va="bottom", parse_math=False,
        )  # fmt: skip


def _draw_points(axes: Axes, panel: PointsPanel) -> None:
    means = None
    if panel.kind is None:
        means = np.array(
            [panel.points[panel.labels == c].mean(axis=0) for c in np.unique(panel.labels)]
        )
    view = Projection.of(panel.points)
    display = ClustersDisplay(
        panel.points, panel.labels, view, means, kind=panel.kind, title="", numbered=False
    )
    display.plot(axes)
    axes.set_aspect("equal", adjustable="datalim")
    axes.set(xticks=[], yticks=[], xlabel="", ylabel="")
    for spine in axes.spines.values():
        spine.set(visible=True, color="#e4e8ec")
    _titled(axes, panel.title, panel.below)
