"""Clusters on paper: rows, means, ellipses of mixtures, core, border and noise, and regions."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coterie.arrays import Floats
from coterie.choosing.diagnose import Diagnosis, diagnose
from coterie.choosing.sampling import checked_rows, labels_of, unwrapped
from coterie.formatting import plural, share
from coterie.plots.points import draw_points, limits, palette_for, true_to_scale
from coterie.plots.projection import Projection
from coterie.plots.style import INK, Display, named_axes, quiet, titled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Labels = NDArray[np.intp]
NAMED = 12  # more clusters than this are not numbered in the picture
REGION_CELLS = 220


@dataclass(eq=False, repr=False)
class ClustersDisplay(Display):
    """Rows coloured by cluster, in two columns or along two principal components.

    Make one with `from_estimator` or `from_labels`.
    """

    points: Floats  # (n, 2)
    labels: Labels  # (n,)
    view: Projection
    means: Floats | None = None  # (k, 2)
    covariances: Floats | None = None  # (k, 2, 2)
    kind: NDArray[np.uint8] | None = None  # (n,) core 2, border 1, noise 0
    regions: Labels | None = None  # (cells, cells) labels of a grid over the limits
    diagnoses: tuple[Diagnosis, ...] = ()
    title: str | None = None
    numbered: bool = True

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: Any,
        *,
        columns: Sequence[int] | None = None,
        names: Sequence[str] | None = None,
        means: bool = True,
        ellipses: bool = True,
        regions: bool = False,
        diagnoses: bool = True,
        title: str | None = None,
        ax: Any = None,
    ) -> ClustersDisplay:
        """Draw a fitted KMeans, GaussianMixture, DBSCAN or loaded model and its rows.

        Parameters
        ----------
        model : fitted estimator or loaded model
        X : array-like or CSR matrix of shape (n_samples, n_features)
            The rows of the fit, or others, which are predicted.
        columns : pair of int or None, default=None
            Which two columns to show; by default both of two, or two principal components.
        names : sequence of str or None, default=None
            Names of all columns; by default those of the fit.
        means, ellipses : bool, default=True
            Whether to draw the means, and for mixtures where two standard deviations end.
        regions : bool, default=False
            Colour the plane by `predict` too; for rows of two columns.
        diagnoses : bool, default=True
            Whether to write the first of `diagnose` under the title.
        title : str or None, default=None
        ax : matplotlib Axes or None, default=None
        """
        model, X = unwrapped(model, X)
        rows = checked_rows(X)
        found = labels_of(model, X, rows.shape[0])
        if names is None:
            names = getattr(model, "feature_names_in_", None)
        view = Projection.of(rows, columns, names)
        display = cls(view.points(rows), found, view, title=title)
        centres = getattr(model, "cluster_centers_", getattr(model, "means_", None))
        if means and centres is not None:
            display.means = view.points(centres)
        if ellipses and hasattr(model, "covariances_"):
            display.covariances = view.covariances(model, model.covariances_)
            display.means = view.points(model.means_)
        if hasattr(model, "kind_") and len(model.kind_) == len(found):
            display.kind = model.kind_
        if regions:
            display.regions = display._regions_by(model)
        if diagnoses and hasattr(model, "get_params"):
            display.diagnoses = diagnose(model, X)
        return display.plot(ax)

    @classmethod
    def from_labels(
        cls,
        X: Any,
        labels: ArrayLike,
        *,
        columns: Sequence[int] | None = None,
        names: Sequence[str] | None = None,
        title: str | None = None,
        ax: Any = None,
    ) -> ClustersDisplay:
        """Draw rows by any labels, (n,); -1 is noise."""
        rows = checked_rows(X)
        view = Projection.of(rows, columns, names)
        found = np.asarray(labels, dtype=np.intp)
        return cls(view.points(rows), found, view, title=title).plot(ax)

    def plot(self, ax: Any = None) -> ClustersDisplay:
        """Draw on given axes, or on a new figure."""
        axes = self._axes(ax)
        k = 0 if self.means is None else len(self.means)
        palette = palette_for(self.labels, k)
        if self.regions is not None:
            self._draw_regions(axes, palette)
        draw_points(axes, self.points, self.labels, palette, self.kind)
        if self.covariances is not None and self.means is not None:
            for mean, covariance, colour in zip(
                self.means, self.covariances, palette, strict=False
            ):
                draw_ellipse(axes, mean, covariance, colour)
        self._draw_marks(axes, palette)
        true_to_scale(axes, self.points)
        quiet(axes)
        if not self.view.names[1]:
            axes.set_yticks([])
            axes.spines["left"].set_visible(False)
        named_axes(axes, *self.view.names)
        below = str(self.diagnoses[0]) if self.diagnoses else ""
        titled(axes, self._title(), below)
        return self

    def _title(self) -> str:
        if self.title is not None:
            return self.title
        count = len(np.unique(self.labels[self.labels >= 0]))
        noise = float((self.labels < 0).mean())
        beside = f", {share(noise)} noise" if noise else ""
        return f"{plural(count, 'cluster')} of {plural(len(self.labels), 'row')}{beside}"

    def _draw_marks(self, axes: Axes, palette: Floats) -> None:
        """Draw means as crosses, and the number of each cluster beside its mean or middle."""
        from matplotlib.patheffects import withStroke

        glow = [withStroke(linewidth=2.6, foreground="white")]
        if self.means is not None:
            for size, colour, width in ((95, "white", 4.4), (80, INK, 1.9)):
                x, y = self.means.T
                axes.scatter(x, y, s=size, c=colour, marker="x", linewidths=width, zorder=6)
        present = np.unique(self.labels[self.labels >= 0])
        if len(present) > NAMED or not self.numbered:
            return
        for cluster in present:
            if self.means is not None:
                place, beside = self.means[cluster], (10, 6)
            else:  # above the highest row: the middle of a ring is empty
                inside = self.points[self.labels == cluster]
                place, beside = inside[np.argmax(inside[:, 1])], (0, 8)
            axes.annotate(
                str(cluster), place, xytext=beside, textcoords="offset points", fontsize=10,
                fontweight="bold", color=0.62 * palette[cluster], ha="center",
                path_effects=glow, zorder=7,
            )  # fmt: skip

    def _regions_by(self, model: Any) -> Labels:
        if not self.view.exact or not self.view.names[1]:
            raise ValueError(
                f"expected rows of two columns for regions, got {len(self.view.origin)}; "
                "leave regions out, or fit two columns"
            )
        left, right, bottom, top = limits(self.points)
        across, up = np.meshgrid(
            np.linspace(left, right, REGION_CELLS), np.linspace(bottom, top, REGION_CELLS)
        )
        rows = self.view.lifted(np.column_stack([across.ravel(), up.ravel()]))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # a grid has no names of columns
            found = model.predict(rows)
        return np.asarray(found, dtype=np.intp).reshape(REGION_CELLS, REGION_CELLS)

    def _draw_regions(self, axes: Axes, palette: Floats) -> None:
        assert self.regions is not None
        shades = np.concatenate([1 - 0.22 * (1 - palette), np.ones((1, 3))])
        axes.imshow(
            shades[self.regions], extent=limits(self.points), origin="lower", aspect="auto",
            interpolation="bilinear", zorder=0,
        )  # fmt: skip


def draw_ellipse(axes: Axes, mean: Floats, covariance: Floats, colour: Floats) -> None:
    """Draw ellipses at one and two standard deviations."""
    from matplotlib.patches import Ellipse

    lengths, directions = np.linalg.eigh(covariance)
    angle = float(np.degrees(np.arctan2(directions[1, 1], directions[0, 1])))
    spread = np.sqrt(np.maximum(lengths, 0.0))
    for deviations, alpha in ((1.0, 0.9), (2.0, 0.45)):
        width, height = 2 * deviations * spread[1], 2 * deviations * spread[0]
        ellipse = Ellipse((float(mean[0]), float(mean[1])), width, height, angle=angle)
        ellipse.set(fill=False, edgecolor=0.8 * colour, linewidth=1.5, alpha=alpha, zorder=4)
        axes.add_patch(ellipse)
