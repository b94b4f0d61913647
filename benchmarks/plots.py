"""The look of all pictures: colours that colour-blind readers can tell apart, and own markers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

# Okabe and Ito's palette; the marker carries the same information without colour.
STYLE: dict[str, tuple[str, str]] = {
    "coterie": ("#D55E00", "o"),
    "lloyd": ("#0072B2", "s"),
    "elkan": ("#56B4E9", "D"),
    "sklearnex": ("#009E73", "^"),
    "mlpack": ("#CC79A7", "v"),
    "faiss": ("#000000", "P"),
    "superkmeans": ("#E69F00", "X"),
    "scikit-learn": ("#0072B2", "s"),
    "fastkmeanspp": ("#56B4E9", "D"),
    "oneDAL": ("#009E73", "^"),
    "dbscan": ("#009E73", "^"),
}


def look(name: str) -> dict[str, Any]:
    """Keywords for a line or scatter of this contender: ours larger and on top."""
    colour, marker = STYLE.get(name, ("#999999", "."))
    ours = name == "coterie"
    return {"color": colour, "marker": marker, "label": name, "zorder": 4 if ours else 3}


def figure(rows: int, columns: int, width: float, height: float) -> tuple[Any, Any]:
    """A figure and its 2-D array of axes, without a display."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    return plt.subplots(rows, columns, figsize=(width, height), squeeze=False, layout="constrained")


def tidy(axes: Any) -> None:
    """Light grid behind the data, no frame on the right and on top."""
    axes.grid(True, which="major", color="#dddddd", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def logarithmic(panel: Any, *directions: str) -> None:
    """Log axes, "x" or "y", with plain numbers: at 1, 2 and 5 of a decade if there is room."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    for direction in directions:
        getattr(panel, f"set_{direction}scale")("log")
        axis = getattr(panel, f"{direction}axis")
        low, high = axis.get_data_interval()
        near = low > 0 and high / low < 300 and high < 100_000  # longer numbers would collide
        axis.set_major_locator(LogLocator(subs=(1, 2, 5) if near else (1,)))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
        axis.set_minor_formatter(NullFormatter())


def legend_below(chart: Any, axes: Any) -> None:
    """One legend for all panels, each contender once, under them."""
    entries: dict[str, Any] = {}
    for panel in axes.ravel():
        for handle, label in zip(*panel.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, handle)
    chart.legend(
        entries.values(),
        entries.keys(),
        loc="outside lower center",
        ncols=min(len(entries), int(chart.get_figwidth() / 1.5)),
        frameon=False,
    )


def save(chart: Any, path: Path) -> None:
    """Write the PNG and free the figure."""
    import matplotlib.pyplot as plt

    chart.savefig(path, dpi=130)
    plt.close(chart)
