"""The figures of the paper, computed on our own data.

A. Jung and I. Baranov, "Basic principles of clustering methods". `FIGURES` has them in order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from coterie.arrays import Floats
from coterie.colours import cluster_colours
from coterie.data.media.patches import Patches, image_patches
from coterie.data.toy import paper_non_convex, paper_round, sample_picture
from coterie.estimators import DBSCAN, GaussianMixture, KMeans
from coterie.plots.clusters import ClustersDisplay, draw_ellipse
from coterie.plots.patch_clusters import BOX, draw_snapshot, upper_middle
from coterie.plots.points import true_to_scale
from coterie.plots.style import (
    ACCENT,
    FAINT,
    INK,
    LINE,
    SECOND,
    named_axes,
    new_figure,
    quiet,
    titled,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def _figure(width: float, height: float) -> Figure:
    """A figure with a margin, as on a page."""
    figure = new_figure(width, height)
    figure.get_layout_engine().set(w_pad=0.14, h_pad=0.14)  # type: ignore[union-attr, call-arg]
    return figure


def _patches() -> Patches:
    return image_patches(sample_picture(), 16)


def patch_box() -> Figure:
    """Data points are small rectangular regions of a snapshot; one is in a red box."""
    patches = _patches()
    figure = _figure(6.4, 4.7)
    axes = figure.subplots()
    draw_snapshot(axes, patches, upper_middle(patches), title="")
    titled(axes, "Patches of a snapshot", f"{len(patches)} of them; one in the red box, enlarged")
    return figure


def patch_scatter() -> Figure:
    """Patches as circles, by their mean redness and blueness."""
    patches = _patches()
    figure = _figure(5.4, 5.6)
    axes = figure.subplots()
    red, _, blue = patches.features.T
    axes.scatter(red, blue, s=22, facecolors="none", edgecolors=ACCENT, linewidths=1.0, alpha=0.75)
    boxed = upper_middle(patches)
    axes.scatter(red[boxed], blue[boxed], s=80, c="none", edgecolors=BOX, linewidths=2.0)
    axes.set(xlim=(0, 1), ylim=(0, 1), xticks=(0, 0.5, 1), yticks=(0, 0.5, 1), aspect="equal")
    quiet(axes, "both")
    named_axes(axes, "redness", "blueness")
    titled(axes, "Every patch is a data point", "the patch of the red box in red")
    return figure


def principal_direction() -> Figure:
    """A data set, its principal direction, and the principal components as crosses."""
    random = np.random.default_rng(3)
    X = random.normal(size=(24, 2)) * [1.1, 0.45] @ _turn(0.62) + [3.0, 1.9]
    # The unit vector v that maximises the mean of (v'x)^2: not centred, as in the paper.
    direction = np.linalg.eigh(X.T @ X / len(X))[1][:, -1]
    direction *= np.sign(direction.sum())
    components = np.outer(X @ direction, direction)
    figure = _figure(6.4, 4.8)
    axes = figure.subplots()
    for point, component in zip(X, components, strict=True):
        across, up = zip(point, component, strict=True)
        axes.plot(across, up, color=LINE, linewidth=0.9, zorder=1)
    end = 1.12 * float((X @ direction).max()) * direction
    axes.plot([0, end[0]], [0, end[1]], color=INK, linewidth=1.4, zorder=2)
    _dots(axes, X, s=42, facecolors="white", edgecolors=ACCENT, linewidths=1.6, zorder=3)
    _dots(axes, components, s=38, c=SECOND, marker="x", linewidths=1.6, zorder=4)
    _dots(axes, np.zeros((1, 2)), s=16, c=INK, zorder=4)
    _named(axes, "0", np.zeros(2), (-10, -4))
    _named(axes, "$v$", end, (4, 2))
    true_to_scale(axes, np.concatenate([X, components, [[0, 0]], [1.02 * end]]))
    quiet(axes)
    named_axes(axes, "x₁", "x₂")
    titled(axes, "The principal direction", "data points as circles, their components as crosses")
    return figure


def _dots(axes: Axes, points: Floats, **style: Any) -> None:
    axes.scatter(points[:, 0], points[:, 1], **style)


def _named(axes: Axes, text: str, at: Floats, beside: tuple[float, float]) -> None:
    """Words beside a point, readable on any ground."""
    from matplotlib.patheffects import withStroke

    axes.annotate(
        text, (float(at[0]), float(at[1])), xytext=beside, textcoords="offset points",
        fontsize=11, color=INK, zorder=7, path_effects=[withStroke(linewidth=2.4, foreground="w")],
    )  # fmt: skip


def _turn(angle: float) -> Floats:
    return np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])


def boundary_cases() -> Figure:
    """Hard clustering: labels do not show that some points are near the boundary."""
    random = np.random.default_rng(1)
    X = np.concatenate([random.normal([c, 0.0], [1.0, 0.8], size=(60, 2)) for c in (-1.7, 1.7)])
    model = KMeans(2, n_init=4, random_state=0).fit(X)
    figure = _figure(6.8, 4.8)
    axes = figure.subplots()
    ClustersDisplay.from_estimator(
        model, X, regions=True, diagnoses=False, title="", names=("x₁", "x₂"), ax=axes
    )
    middle, gap = model.cluster_centers_.mean(axis=0), np.diff(model.cluster_centers_, axis=0)[0]
    along = middle + np.array([-gap[1], gap[0]])
    axes.axline(tuple(middle), tuple(along), color=INK, linewidth=1.0)
    distances = np.sort(model.transform(X), axis=1)
    margin = distances[:, 1] - distances[:, 0]
    near = np.argsort(margin)[:5]
    _dots(axes, X[near], s=110, facecolors="none", edgecolors=INK, linewidths=1.6, zorder=6)
    titled(
        axes, "Some points are closer to the boundary than others",
        f"circled: the five whose distances to both means differ least, by {margin[near].max():.2g}"
        " or less",
    )  # fmt: skip
    return figure


def mixture_ellipses() -> Figure:
    """A mixture: its density is a weighted sum of normal distributions."""
    random = np.random.default_rng(4)
    parts = ((300, [0.0, 0.0], [2.6, 0.9], 0.15), (140, [5.2, 1.2], [0.55, 1.15], 0.1),
             (110, [-4.0, 2.9], [0.7, 0.8], 0.6))  # fmt: skip
    X = np.concatenate(
        [
            random.normal(size=(n, 2)) * spread @ _turn(angle) + mean
            for n, mean, spread, angle in parts
        ]
    )
    model = GaussianMixture(3, n_init=4, random_state=0).fit(X)
    figure = _figure(7.0, 4.6)
    axes = figure.subplots()
    _density(axes, model, X)
    _dots(axes, X, s=7, c=FAINT, alpha=0.45, linewidths=0, zorder=2)
    order = np.argsort(-model.weights_)
    for place, (component, colour) in enumerate(zip(order, cluster_colours(3), strict=True), 1):
        mean, covariance = model.means_[component], model.covariances_[component]
        draw_ellipse(axes, mean, covariance, colour)
        _dots(axes, mean[None], s=26, c=INK, zorder=6)
        symbols = f"$\\mu^{{({place})}},\\ \\Sigma^{{({place})}}$"
        _named(axes, f"{symbols}\nweight {model.weights_[component]:.2f}", mean, (7, 5))
    true_to_scale(axes, X)
    quiet(axes)
    named_axes(axes, "x₁", "x₂")
    titled(
        axes, "A Gaussian mixture", "ellipses at one and two standard deviations; shade: density"
    )
    return figure


def _density(axes: Axes, model: Any, X: Floats) -> None:
    """The density of the mixture, as shades."""
    low, high = X.min(axis=0) - 1.0, X.max(axis=0) + 1.0
    across, up = np.meshgrid(*(np.linspace(a, b, 160) for a, b in zip(low, high, strict=True)))
    grid = np.column_stack([across.ravel(), up.ravel()])
    density = np.exp(model.score_samples(grid)).reshape(across.shape)
    root = np.sqrt(density)
    levels = np.linspace(0.12, 1.0, 10) * root.max()
    axes.contourf(across, up, root, levels=levels, cmap="Blues", alpha=0.5, zorder=0)


def connectivity() -> Figure:
    """Points are similar if nearby points lead from one to the other."""
    from matplotlib.patches import Circle, FancyArrowPatch

    X = np.array([[0.0, 0.0], [0.8, 0.12], [1.6, -0.06], [2.4, 0.08]])
    eps = 0.9
    model = DBSCAN(eps, min_samples=2).fit(X)
    figure = _figure(7.2, 4.3)
    axes = figure.subplots()
    for number, point in enumerate(X, start=1):
        axes.add_patch(Circle(tuple(point), eps, facecolor=ACCENT, alpha=0.05, edgecolor="none"))
        axes.add_patch(
            Circle(tuple(point), eps, fill=False, edgecolor=ACCENT, alpha=0.25, linewidth=0.8)
        )
        _named(axes, f"$x^{{({number})}}$", point, (-8, 10))
    _dots(axes, X, s=70, facecolors="white", edgecolors=ACCENT, linewidths=2.2, zorder=4)
    arrows = [(a, a + 1, ACCENT, 0.4, "nearby", -0.2) for a in range(len(X) - 1)]
    for first, last, colour, bend, word, drop in [*arrows, (0, 3, SECOND, 0.86, "similar", -1.08)]:
        arrow = FancyArrowPatch(
            tuple(X[first]), tuple(X[last]), connectionstyle=f"arc3,rad={bend}", arrowstyle="->",
            mutation_scale=13, color=colour, linestyle=(0, (4, 2)), linewidth=1.5, shrinkA=7,
            shrinkB=7,
        )  # fmt: skip
        axes.add_patch(arrow)
        middle = (X[first] + X[last]) / 2 + [0, drop]
        axes.text(middle[0], middle[1], word, color=colour, ha="center", va="top", fontsize=10)
    axes.set(xlim=(-1.0, 3.4), ylim=(-1.32, 1.1), aspect="equal")
    axes.set_axis_off()
    gap = float(np.linalg.norm(X[3] - X[0]))
    titled(
        axes, "Similar: reached by way of nearby points",
        f"circles: within eps = {eps:g}. The ends are {gap:.2g} apart, and DBSCAN finds "
        f"{model.n_clusters_} cluster",
    )  # fmt: skip
    return figure


def kmeans_on_both() -> Figure:
    """k-means is right about the round groups, and wrong about the others."""
    return _both(
        [KMeans(4, n_init=4, random_state=0), KMeans(2, n_init=4, random_state=0)],
        ["k-means, k = 4", "k-means, k = 2"],
        ["round groups are found; outliers join them", "the disc and the ring are cut through"],
    )


def dbscan_on_both() -> Figure:
    """DBSCAN finds both, and the outliers."""
    models = [DBSCAN(0.9, min_samples=5), DBSCAN(0.6, min_samples=5)]
    titles = [f"DBSCAN, eps = {model.eps:g}, m_near = {model.min_samples}" for model in models]
    return _both(models, titles, ["groups found, outliers as crosses"] * 2)


def _both(models: list[Any], titles: list[str], below: list[str]) -> Figure:
    figure = _figure(9.4, 4.9)
    panels = figure.subplots(1, 2)
    for axes, model, (X, _), title, line in zip(
        panels, models, (paper_round(), paper_non_convex()), titles, below, strict=True
    ):
        ClustersDisplay.from_estimator(
            model.fit(X), X, diagnoses=False, title="", names=("x₁", "x₂"), ax=axes
        )
        titled(axes, title, line)
    return figure


FIGURES: dict[str, Callable[[], Figure]] = {
    "1-patch-box": patch_box,
    "2-patch-scatter": patch_scatter,
    "3-principal-direction": principal_direction,
    "4-boundary-cases": boundary_cases,
    "5-mixture-ellipses": mixture_ellipses,
    "6-connectivity": connectivity,
    "7-kmeans-on-both": kmeans_on_both,
    "8-dbscan-on-both": dbscan_on_both,
}
