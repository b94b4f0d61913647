"""Clusters of a picture: laid over it, and as the paper shows its patches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coterie.arrays import Floats
from coterie.colours import cluster_colours, matching_colours
from coterie.data.media.patches import Patches
from coterie.plots.patch_clusters import draw_patch_clusters
from coterie.plots.style import Display, titled

Labels = NDArray[np.intp]


@dataclass(eq=False, repr=False)
class SegmentationDisplay(Display):
    """Clusters laid over their picture.

    Make one with `from_estimator` or `from_labels`.
    """

    patches: Patches  # or Pixels
    labels: Labels
    colours: Floats  # (k, 3)
    alpha: float = 0.6
    title: str | None = None

    @classmethod
    def from_estimator(
        cls, model: Any, patches: Patches, *, alpha: float = 0.6, title: str | None = None,
        ax: Any = None,
    ) -> SegmentationDisplay:  # fmt: skip
        """Draw a model fitted to ``patches.features``, of `image_patches` or `image_pixels`."""
        labels = _labels(model, patches)
        return cls.from_labels(patches, labels, alpha=alpha, title=title, ax=ax)

    @classmethod
    def from_labels(
        cls, patches: Patches, labels: ArrayLike, *, alpha: float = 0.6, title: str | None = None,
        ax: Any = None,
    ) -> SegmentationDisplay:  # fmt: skip
        """Draw any labels of patches or pixels, (n,). Outliers, -1, show the picture itself."""
        found = np.asarray(labels, dtype=np.intp)
        colours = matching_colours(mean_colours(patches, found))
        return cls(patches, found, colours, alpha, title).plot(ax)

    def plot(self, ax: Any = None) -> SegmentationDisplay:
        """Draw on given axes, or on a new figure of the shape of the picture."""
        height, width = self.patches.picture.shape[:2]
        self.size = (6.4, 6.4 * height / width + 0.4)
        axes = self._axes(ax)
        painted = self.patches.overlay(self.labels, self.colours, self.alpha)
        axes.imshow(np.clip(painted, 0.0, 1.0), interpolation="nearest")
        axes.set_axis_off()
        count = len(np.unique(self.labels[self.labels >= 0]))
        titled(axes, f"{count} clusters on the picture" if self.title is None else self.title)
        return self


@dataclass(eq=False, repr=False)
class PatchesDisplay(Display):
    """The paper's view: the picture, its patches as points, and the clusters on the picture."""

    patches: Patches
    labels: Labels
    means: Floats  # (k, 3)

    @classmethod
    def from_estimator(cls, model: Any, patches: Patches) -> PatchesDisplay:
        """Draw a model fitted to ``patches.features``. The figure is always its own."""
        labels = _labels(model, patches)
        return cls(patches, labels, mean_colours(patches, labels)).plot()

    def plot(self, ax: Any = None) -> PatchesDisplay:
        """Draw on a new figure: its four panels fit together, and take no given axes."""
        if ax is not None:
            raise ValueError(
                "expected no ax: this display has four panels; use SegmentationDisplay or "
                "ClustersDisplay to draw on given axes"
            )
        self.figure_ = draw_patch_clusters(self.patches, self.labels, self.means)
        self.ax_ = np.array(self.figure_.axes[:4], dtype=object)
        return self


def _labels(model: Any, patches: Patches) -> Labels:
    model = getattr(model, "estimator", model)
    labels = getattr(model, "labels_", None)
    if labels is None or len(labels) != len(patches):
        labels = model.predict(patches.features)
    return np.asarray(labels, dtype=np.intp)


def mean_colours(patches: Patches, labels: Labels) -> Floats:
    """(k, 3) mean colour of each cluster's patches; grey for an empty one."""
    k = int(labels.max(initial=-1)) + 1
    inside = labels >= 0
    counts = np.bincount(labels[inside], minlength=k)
    colours = cluster_colours(k)
    for channel in range(3):
        values = patches.features[inside, channel]
        total = np.bincount(labels[inside], values, minlength=k)
        colours[:, channel] = np.where(counts > 0, total / np.maximum(counts, 1), 0.5)
    return colours
