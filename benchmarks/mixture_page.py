"""The page and the picture of the mixture benchmark."""

from __future__ import annotations

from pathlib import Path

from benchmarks import plots
from benchmarks.mixture_peers import OURS
from benchmarks.report import Row, figures, table

NOTES = """\
**An iteration**: the difference of two fits from the same start that differ in their number of
iterations, divided by it, so that the reading of the data and the last sweep do not count; best of
the rounds, in each of which a fit is repeated for a second if it takes less. *Times* is the peer's
time over ours. *Gap*: largest relative difference of means and covariances from scikit-learn's
after the same two iterations. **Memory**: MB at the peak of a fit beyond the data. **Whole fits**:
all parameters at their defaults, k-means start included; the seeds differ, so that runs may differ
in iterations and end in different optima: both are shown."""


def time_of(row: Row, name: str) -> float | None:
    found = row["contenders"].get(name, {}).get("iteration")
    return None if found is None else float(found)


def ratio(row: Row, name: str) -> float | None:
    ours, theirs = time_of(row, OURS), time_of(row, name)
    return None if not ours or theirs is None else theirs / ours


def summary(row: Row) -> str:
    times = ", ".join(f"{n} {_ms(time_of(row, n))} ms" for n in row["contenders"])
    return f"{row['label']} x{row['threads']}: {times}; faults: {row['faults'] or 'none'}"


def page(rows: list[Row]) -> str:
    iterations, memories, wholes = [], [], []
    for row in rows:
        entries = row["contenders"]
        gap = entries.get("scikit-learn", {}).get("gap")
        iterations.append(
            [
                row["label"],
                str(row["threads"]),
                *(_ms(time_of(row, name)) for name in (OURS, "scikit-learn", "oneDAL")),
                figures(ratio(row, "scikit-learn")),
                figures(row["floor"]),
                figures(ratio(row, "oneDAL")),
                "-" if gap is None else f"{gap:.0e}",
            ]
        )
        memories.append(
            [
                row["label"],
                f"{row['data'] / 1e6:.0f}",
                *(_mb(entries.get(name, {})) for name in (OURS, "scikit-learn", "oneDAL")),
            ]
        )
        whole = row["whole"]
        ours, theirs = whole[OURS], whole["scikit-learn"]
        if "best" in ours and "best" in theirs:
            wholes.append(
                [
                    f"{row['workload']} ({whole['n']:,}, {row['d']}, {row['k']} {row['family']})",
                    figures(ours["best"]),
                    figures(theirs["best"]),
                    figures(theirs["best"] / ours["best"]),
                    f"{ours['iterations']} / {theirs['iterations']}",
                    f"{ours['score']:.4f} / {theirs['score']:.4f}",
                ]
            )
    parts = [
        NOTES,
        "## An iteration of EM (ms)",
        table(
            [
                "workload (n, d, k)",
                "threads",
                "coterie",
                "scikit-learn",
                "oneDAL",
                "times scikit-learn",
                "floor",
                "times oneDAL",
                "gap",
            ],
            iterations,
        ),
        "## Memory beyond the data (MB)",
        table(["workload (n, d, k)", "data", "coterie", "scikit-learn", "oneDAL"], memories),
        "## Whole default fits (s)",
        table(
            ["workload (n, d, k)", "coterie", "scikit-learn", "times", "iterations", "score"],
            wholes,
        ),
    ]
    return "\n\n".join(parts)


def _ms(seconds: float | None) -> str:
    return "-" if seconds is None else figures(1000 * seconds)


def _mb(entry: Row) -> str:
    return "-" if entry.get("memory") is None else f"{entry['memory'] / 1e6:.1f}"


def draw(rows: list[Row], path: Path) -> None:
    """Ratios of the times of an iteration, and the floor that was set."""
    chart, axes = plots.figure(1, 1, 8.5, 1.6 + 0.42 * len(rows))
    panel = axes[0, 0]
    for height, row in enumerate(rows):
        for name in ("scikit-learn", "oneDAL"):
            times = ratio(row, name)
            if times is not None and times > 0:
                panel.scatter([times], [height], s=60, **plots.look(name))
        label = "floor, times scikit-learn" if height == 0 else None
        panel.scatter([row["floor"]], [height], s=90, color="#555555", marker="|", label=label)
    panel.axvline(1, color="#555555", linestyle="--", linewidth=1)
    panel.set_yticks(range(len(rows)), [f"{r['label']}, {r['threads']} thr." for r in rows])
    panel.set_ylim(len(rows) - 0.5, -0.5)
    plots.logarithmic(panel, "x")
    panel.set_xlabel("an iteration of Coterie is this many times faster than one of")
    plots.tidy(panel)
    plots.legend_below(chart, axes)
    plots.save(chart, path)
