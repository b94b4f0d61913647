"""Models side by side: the same rows, the same colours for the same clusters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from coterie.arrays import Floats
from coterie.choosing.compare import ModelComparison, compare
from coterie.choosing.sampling import checked_rows
from coterie.formatting import plural, share
from coterie.plots.points import draw_points, palette_for, true_to_scale
from coterie.plots.projection import Projection
from coterie.plots.style import Display, named_axes, new_figure, quiet, require_matplotlib, titled

ACROSS = 3


@dataclass(eq=False, repr=False)
class ComparisonDisplay(Display):
    """One panel for each model. Make one with `from_comparison` or `from_estimators`."""

    comparison: ModelComparison
    points: Floats  # (n, 2)
    view: Projection

    @classmethod
    def from_comparison(
        cls,
        X: Any,
        comparison: ModelComparison,
        *,
        columns: Sequence[int] | None = None,
        names: Sequence[str] | None = None,
        ax: Any = None,
    ) -> ComparisonDisplay:
        """Draw a result of `compare` for the rows of X."""
        rows = checked_rows(X)
        view = Projection.of(rows, columns, names)
        return cls(comparison, view.points(rows), view).plot(ax)

    @classmethod
    def from_estimators(
        cls, X: Any, models: Sequence[Any] | Mapping[str, Any], *, ax: Any = None, **options: Any
    ) -> ComparisonDisplay:
        """Compare with ``compare(X, models, **options)``, and draw."""
        return cls.from_comparison(X, compare(X, models, **options), ax=ax)

    def plot(self, ax: Any = None) -> ComparisonDisplay:
        """Draw on given axes, one for each model, or on a new figure."""
        require_matplotlib()
        compared = self.comparison
        count = len(compared.names)
        if ax is None:
            across = 2 if count == 4 else min(count, ACROSS)
            down = -(-count // across)
            figure = new_figure(0.4 + 3.3 * across, 3.25 * down + 0.2)
            ax = figure.subplots(down, across, squeeze=False, sharex=True, sharey=True)
        panels = np.asarray(ax, dtype=object).ravel()
        if len(panels) < count:
            raise ValueError(f"expected {count} axes, one for each model, got {len(panels)}")
        self.ax_, self.figure_ = panels, panels[0].figure
        palette = palette_for(np.concatenate(compared.labels))
        for place, axes in enumerate(panels):
            if place >= count:
                axes.set_axis_off()
                continue
            draw_points(axes, self.points, compared.labels[place], palette)
            true_to_scale(axes, self.points)
            quiet(axes)
            titled(axes, compared.names[place], self._below(place))
            axes.title.set_fontsize(10.5)
        named_axes(panels[0], *(name.replace(" (", "\n(") for name in self.view.names))
        return self

    def _below(self, place: int) -> str:
        compared = self.comparison
        first = plural(len(compared.sizes[place]), "cluster")
        if compared.noise[place]:
            first += f", {share(compared.noise[place])} noise"
        parts = []
        silhouette = compared.silhouettes[place]
        if silhouette is not None:
            parts.append(f"silhouette {silhouette:.2f}")
        if place:
            parts.append(f"ARI {compared.ari[0, place]:.2f}")
        return f"{first}\n{', '.join(parts)}"
