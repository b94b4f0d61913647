"""The common look of figures, with quiet axes and direct labels, and the base of Displays."""

from __future__ import annotations

import io
import os
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from coterie.colours import cluster_colours
from coterie.visible_text import visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, FAINT, LINE, GRID = "#1f2933", "#7b8794", "#c3cbd3", "#eef1f4"
NOISE_COLOUR = np.array([0.62, 0.66, 0.70])
ACCENT, SECOND = "#0072B2", "#D55E00"
FORMATS = (".png", ".svg", ".pdf")


def require_matplotlib() -> type[Figure]:
    """Return the class of figures, or raise an error that names the package to install."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError(
            'drawing needs matplotlib, which is not installed; run: pip install "coterie[plot]"'
        ) from error
    return Figure


def new_figure(width: float, height: float) -> Figure:
    """Return a figure, sizes in inches, that pyplot does not know and that needs no display."""
    figure_class = require_matplotlib()
    return figure_class(figsize=(width, height), facecolor="white", layout="constrained")


def quiet(axes: Axes, grid: Literal["x", "y", "both"] | None = None) -> None:
    """Reduce axes to two thin spines and small faint ticks, and draw a grid if asked for."""
    axes.tick_params(labelsize=8.5, colors=FAINT, length=3, color=LINE)
    for side, spine in axes.spines.items():
        spine.set(visible=side in ("left", "bottom"), color=LINE)
    if grid:
        axes.grid(axis=grid, color=GRID, linewidth=0.8)
        axes.set_axisbelow(True)


def titled(axes: Axes, title: str, below: str = "") -> None:
    """Put a title at the left, and up to three fainter lines under it; markup is not read."""
    title, below = visible(title), visible(below)
    letters = _letters(axes)
    lines = [line for part in below.splitlines() for line in wrap(part, letters)][:3]
    pad = 8 + 12.5 * len(lines)
    axes.set_title(title, loc="left", fontsize=11.5, color=INK, pad=pad, parse_math=False)
    if lines:
        text = "\n".join(lines)
        note = axes.annotate(
            text, (0, 1), xytext=(0, 4), xycoords="axes fraction", textcoords="offset points",
            fontsize=9, color=FAINT, va="bottom", parse_math=False,
        )  # fmt: skip
        note.set_in_layout(False)  # long lines must not make the axes narrow


def _letters(axes: Axes) -> int:
    """Return the number of letters of 9 points that fit side by side above the axes."""
    return max(24, int(15.0 * (axes.bbox.width / axes.figure.dpi)))


def named_axes(axes: Axes, x: str, y: str) -> None:
    """Name both axes; dollar signs in names start no formula."""
    axes.set_xlabel(visible(x), fontsize=9.5, color=FAINT, parse_math=False)
    axes.set_ylabel(visible(y), fontsize=9.5, color=FAINT, parse_math=False)


def whole_numbers(axis: Any) -> None:
    """Put ticks at whole numbers only, as of iterations and clusters."""
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator(nbins=8, integer=True))


def colours_of(labels: NDArray[np.intp], palette: NDArray[np.float64] | None = None) -> Any:
    """Return one colour per row, (n, 3); noise is grey."""
    if palette is None:
        palette = cluster_colours(int(labels.max(initial=-1)) + 1)
    return np.concatenate([palette, NOISE_COLOUR[None]])[labels]


class Display:
    """A figure over a record of results: `plot` draws it, `save` writes it to a file.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Drawn on, after `plot`. An array of axes where there are several.
    figure_ : matplotlib Figure
    """

    ax_: Any
    figure_: Any
    size = (6.4, 4.8)

    def plot(self, ax: Any = None) -> Any:
        """Draw on given axes, or on a new figure. Returns self."""
        raise NotImplementedError

    def save(self, path: str | os.PathLike[str], *, dpi: int = 150) -> Path:
        """Write the figure as PNG, SVG or PDF, by the ending of the name."""
        target = Path(path)
        if target.suffix.lower() not in FORMATS:
            raise ValueError(
                f"expected a name ending in {', '.join(FORMATS)}, got {str(path)!r}; "
                "add one of these endings"
            )
        self.figure_.savefig(target, dpi=dpi)
        return target

    def _repr_png_(self) -> bytes:
        """Return the figure as PNG, for notebooks."""
        buffer = io.BytesIO()
        self.figure_.savefig(buffer, format="png", dpi=110)
        return buffer.getvalue()

    def _axes(self, ax: Any) -> Any:
        """Return the given axes, or those of a new figure."""
        require_matplotlib()
        if ax is None:
            ax = new_figure(*self.size).subplots()
        self.ax_, self.figure_ = ax, ax.figure
        return ax
