"""Curves: the error of a fit, the choice of k, the choice of eps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from coterie.arrays import Floats
from coterie.choosing.eps import EpsChoice, choose_eps
from coterie.choosing.k import KChoice, choose_k
from coterie.formatting import number, plural, share
from coterie.plots.style import (
    ACCENT,
    FAINT,
    LINE,
    SECOND,
    Display,
    named_axes,
    new_figure,
    quiet,
    require_matplotlib,
    titled,
    whole_numbers,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(eq=False, repr=False)
class HistoryDisplay(Display):
    """The error after each iteration. Make one with `from_estimator`."""

    errors: Floats  # (iterations,)
    name: str
    stopped: str
    size = (6.4, 4.0)

    @classmethod
    def from_estimator(cls, model: Any, *, ax: Any = None) -> HistoryDisplay:
        """Draw the history of a fitted KMeans or GaussianMixture (or of a loaded model)."""
        model = getattr(model, "estimator", model)
        history = getattr(model, "history_", None)
        if not history:
            raise ValueError(
                f"expected a fitted model with a history, got {type(model).__name__}; "
                "fit a KMeans or a GaussianMixture first"
            )
        soft = hasattr(model, "soft_clustering_error_")
        errors = np.array([record.error for record in history], dtype=np.float64)
        name = "soft clustering error" if soft else "clustering error"
        return cls(errors, name, str(model.stopped_)).plot(ax)

    def plot(self, ax: Any = None) -> HistoryDisplay:
        """Draw on given axes, or on a new figure."""
        axes = self._axes(ax)
        steps = np.arange(1, len(self.errors) + 1)
        marker = "o" if len(steps) <= 40 else ""
        axes.plot(steps, self.errors, color=ACCENT, linewidth=1.8, marker=marker, markersize=3.5)
        axes.annotate(
            number(self.errors[-1]), (steps[-1], self.errors[-1]), xytext=(0, 8),
            textcoords="offset points", fontsize=9.5, color=ACCENT, ha="right",
        )  # fmt: skip
        whole_numbers(axes.xaxis)
        quiet(axes, "y")
        named_axes(axes, "iteration", self.name)
        count = plural(len(steps), "iteration")
        titled(axes, f"The {self.name} over {count}", f"stopped: {self.stopped}")
        return self


@dataclass(eq=False, repr=False)
class KChoiceDisplay(Display):
    """The criteria for each number of clusters. Make one with `from_choice` or `from_data`."""

    choice: KChoice

    @classmethod
    def from_choice(cls, choice: KChoice, *, ax: Any = None) -> KChoiceDisplay:
        """Draw a result of `choose_k`."""
        return cls(choice).plot(ax)

    @classmethod
    def from_data(cls, X: Any, *, ax: Any = None, **options: Any) -> KChoiceDisplay:
        """Choose with ``choose_k(X, **options)``, and draw."""
        return cls(choose_k(X, **options)).plot(ax)

    def plot(self, ax: Any = None) -> KChoiceDisplay:
        """Draw on two given axes, one above the other, or on a new figure."""
        upper, lower = _two(self, ax)
        rows, choice = self.choice.rows, self.choice
        k = [row.k for row in rows]
        if choice.method == "mixture":
            self._criterion(upper, k, "bic", "BIC", ACCENT)
            self._criterion(upper, k, "icl", "ICL", SECOND)
            named_axes(upper, "", "smaller is better")
        else:
            self._criterion(upper, k, "error", "clustering error", ACCENT)
            upper.set_ylim(bottom=0)
            named_axes(upper, "", "")
        self._criterion(lower, k, "silhouette", "mean silhouette", ACCENT)
        self._criterion(lower, k, "stability", "agreement of restarts", SECOND)
        lower.set_ylim(min(0.0, lower.get_ylim()[0]), 1.04)
        for axes in (upper, lower):
            axes.axvline(choice.k, color=LINE, linewidth=6, alpha=0.5, zorder=0)
            axes.set_xlim(k[0] - 0.3, k[-1] + 0.3 + 0.34 * (k[-1] - k[0]))
            axes.set_xticks(k if len(k) <= 20 else k[:: len(k) // 10])
            quiet(axes, "y")
        upper.tick_params(labelbottom=False)
        named_axes(lower, "number of clusters", "")
        first, _, rest = choice.reason.partition(": ")
        titled(upper, first, rest[:1].upper() + rest[1:])
        return self

    def _criterion(self, axes: Axes, k: list[int], name: str, words: str, colour: str) -> None:
        """Draw one line, its name at its end, on top of grid lines and axis."""
        from matplotlib.patheffects import withStroke

        known = [
            (own, value)
            for own, row in zip(k, self.choice.rows, strict=True)
            if (value := getattr(row, name)) is not None
        ]
        if not known:
            return
        x, y = zip(*known, strict=True)
        axes.plot(x, y, color=colour, linewidth=1.8, marker="o", markersize=4)
        axes.annotate(
            words, (x[-1], y[-1]), xytext=(8, 0), textcoords="offset points", fontsize=9.5,
            color=colour, va="center", path_effects=[withStroke(linewidth=3, foreground="white")],
        )  # fmt: skip


@dataclass(eq=False, repr=False)
class EpsChoiceDisplay(Display):
    """The k-distance curve, and the clusters and noise of DBSCAN along eps.

    Make one with `from_choice` or `from_data`.
    """

    choice: EpsChoice

    @classmethod
    def from_choice(cls, choice: EpsChoice, *, ax: Any = None) -> EpsChoiceDisplay:
        """Draw a result of `choose_eps`."""
        return cls(choice).plot(ax)

    @classmethod
    def from_data(
        cls, X: Any, min_samples: int = 5, *, ax: Any = None, **options: Any
    ) -> EpsChoiceDisplay:
        """Choose with ``choose_eps(X, min_samples, **options)``, and draw."""
        return cls(choose_eps(X, min_samples, **options)).plot(ax)

    def plot(self, ax: Any = None) -> EpsChoiceDisplay:
        """Draw on two given axes, one above the other, or on a new figure."""
        upper, lower = _two(self, ax)
        choice = self.choice
        self._draw_distances(upper)
        self._draw_clusters(lower)
        words, _, rest = choice.reason.partition(": ")
        titled(upper, f"{words}, min_samples {choice.min_samples}", rest[:1].upper() + rest[1:])
        return self

    def _draw_distances(self, axes: Axes) -> None:
        """Draw distances over the share of rows; the line of eps shows the share of core points."""
        curve, choice = self.choice.distances, self.choice
        part = np.arange(1, len(curve) + 1) / len(curve)
        axes.plot(100 * part, curve, color=ACCENT, linewidth=1.8)
        most = min(float(curve[-1]), 4 * max(choice.eps, float(np.quantile(curve, 0.9))))
        top = 1.06 * max(most, choice.eps)
        axes.set(xlim=(0, 101), ylim=(0, top if top > 0 else 1.0))
        axes.axhline(choice.eps, color=SECOND, linewidth=1.2)
        core = float((curve <= choice.eps).mean())
        below = choice.eps > 0.85 * top  # the title stands above the line
        axes.annotate(
            f"eps {number(choice.eps)}: {share(core)} are core points", (0, choice.eps),
            xytext=(6, -4 if below else 4), textcoords="offset points", fontsize=9.5, color=SECOND,
            va="top" if below else "bottom",
        )  # fmt: skip
        quiet(axes, "y")
        which = "rows" if choice.sample is None else f"sample of {choice.sample:,} rows"
        named_axes(axes, f"% of the {which}, in order", "distance to the\nmin_samples-th nearest")

    def _draw_clusters(self, axes: Axes) -> None:
        rows, choice = self.choice.rows, self.choice
        eps = [row.eps for row in rows]
        axes.plot(eps, [100 * row.noise for row in rows], color=FAINT, linewidth=1.6)
        axes.annotate(
            "% noise", (eps[0], 100 * rows[0].noise), xytext=(6, 2), fontsize=9.5, color=FAINT,
            textcoords="offset points",
        )  # fmt: skip
        axes.set(ylim=(0, 103), xscale="log")
        axes.set_ylabel("% noise", fontsize=9.5, color=FAINT)
        counts = axes.twinx()
        counts.step(eps, [row.n_clusters for row in rows], color=ACCENT, where="mid", linewidth=1.8)
        counts.set_ylim(0, 1.15 * max(1, *(row.n_clusters for row in rows)))
        counts.set_ylabel("clusters", fontsize=9.5, color=ACCENT)
        whole_numbers(counts.yaxis)
        quiet(counts)
        counts.spines["left"].set_visible(False)
        counts.tick_params(colors=ACCENT)
        if choice.plateau is not None:
            axes.axvspan(*choice.plateau, color=ACCENT, alpha=0.07, linewidth=0)
        axes.axvline(choice.eps, color=SECOND, linewidth=1.2)
        right = np.log(choice.eps / eps[0]) > 0.6 * np.log(eps[-1] / eps[0])
        axes.annotate(
            f"eps {number(choice.eps)}: {plural(choice.model.n_clusters_, 'cluster')}",
            (choice.eps, 97), xytext=(-5 if right else 5, 0), textcoords="offset points",
            fontsize=9.5, color=SECOND, va="top", ha="right" if right else "left",
        )  # fmt: skip
        quiet(axes)
        axes.set_xlabel("eps", fontsize=9.5, color=FAINT)
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
        axes.xaxis.set_minor_formatter(lambda value, _: _if_2_or_5(value))
        axes.tick_params(which="minor", labelsize=8.5, colors=FAINT, length=2, color=LINE)


def _if_2_or_5(value: float) -> str:
    """Labels between powers of ten, where there is room for them."""
    return f"{value:g}" if f"{value:e}"[0] in "25" else ""


def _two(display: Display, ax: Any) -> tuple[Any, Any]:
    """Return two axes, one above the other: given ones, or those of a new figure."""
    require_matplotlib()
    if ax is None:
        ax = new_figure(6.8, 6.4).subplots(2, 1)
    pair = np.asarray(ax, dtype=object).ravel()
    if len(pair) != 2:
        raise ValueError(
            f"expected two axes, got {len(pair)}; pass figure.subplots(2, 1), or leave ax out"
        )
    display.ax_, display.figure_ = pair, pair[0].figure
    return pair[0], pair[1]
