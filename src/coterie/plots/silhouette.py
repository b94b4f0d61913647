"""The silhouette of every row, cluster by cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from coterie.choosing.sampling import labels_of, unwrapped
from coterie.choosing.silhouettes import Silhouettes, silhouettes
from coterie.formatting import plural
from coterie.plots.points import palette_for
from coterie.plots.style import FAINT, INK, Display, named_axes, quiet, titled

MARKED = 40  # clusters; more are drawn without their numbers


@dataclass(eq=False, repr=False)
class SilhouetteDisplay(Display):
    """The silhouette of each row: near 1 within its cluster, below 0 nearer to another one.

    Make one with `from_estimator` or `from_labels`.
    """

    silhouettes: Silhouettes  # of one labelling

    @classmethod
    def from_estimator(
        cls, model: Any, X: Any, *, sample_size: int | None = 5000, ax: Any = None
    ) -> SilhouetteDisplay:
        """Draw the silhouettes of a fitted model and its rows, in the metric of the model."""
        model, X = unwrapped(model, X)
        metric = getattr(model, "metric", "euclidean")
        n = X.shape[0] if hasattr(X, "shape") else len(X)
        labels = labels_of(model, X, n)
        return cls(silhouettes(X, [labels], metric=metric, sample_size=sample_size)).plot(ax)

    @classmethod
    def from_labels(
        cls, X: Any, labels: ArrayLike, *, sample_size: int | None = 5000, ax: Any = None
    ) -> SilhouetteDisplay:
        """Draw the Euclidean silhouettes of any labels, (n,); -1 is noise."""
        return cls(silhouettes(X, [labels], sample_size=sample_size)).plot(ax)

    def plot(self, ax: Any = None) -> SilhouetteDisplay:
        """Draw on given axes, or on a new figure."""
        axes = self._axes(ax)
        values, labels = self.silhouettes.values[0], self.silhouettes.labels[0]
        mean = self.silhouettes.means[0]
        if mean is None:
            titled(axes, "No silhouettes: fewer than two clusters")
            axes.set_axis_off()
            return self
        palette = palette_for(labels)
        gap, place = max(1.0, 0.012 * len(values)), 0.0
        present = np.unique(labels[labels >= 0])
        for cluster in present:
            own = np.sort(values[labels == cluster])[::-1]
            rows = place + np.arange(len(own) + 1)
            heights = np.append(own, own[-1:])
            axes.fill_betweenx(rows, 0, heights, step="post", color=palette[cluster], linewidth=0)
            if len(present) <= MARKED:
                middle, across = place + len(own) / 2, axes.get_yaxis_transform()
                axes.text(
                    -0.012, middle, f"{cluster}", fontsize=10, fontweight="bold",
                    color=0.7 * palette[cluster], ha="right", va="center", transform=across,
                )  # fmt: skip
                axes.text(
                    1.012, middle, f"{own.mean():.2f}", fontsize=9, color=FAINT, va="center",
                    transform=across,
                )  # fmt: skip
            place += len(own) + gap
        axes.axvline(mean, color=INK, linewidth=1.1, linestyle=(0, (4, 3)))
        axes.set(ylim=(place, -gap), xlim=(min(0.0, float(np.nanmin(values))), 1.0))
        axes.set_yticks([])
        quiet(axes, "x")
        axes.spines["left"].set_visible(False)
        named_axes(axes, "silhouette", "")
        count = plural(len(present), "cluster")
        sample = self.silhouettes.sample
        below = "" if sample is None else f"a random sample of {sample:,} rows"
        titled(axes, f"Mean silhouette {mean:.2f}, {count}", below)
        return self
