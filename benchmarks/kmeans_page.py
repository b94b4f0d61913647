"""The page of the k-means benchmark: a line while it runs, tables and a picture at the end."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import plots
from benchmarks.peers import PEERS
from benchmarks.report import Row, cell, figures, in_threads, table
from benchmarks.workloads import WORKLOADS

OURS = "coterie"
NOTES = """\
Wall seconds of a whole fit, best (median). Tolerance 0, the same initial means, the same number of
threads; the iteration cap is in the JSON. *Ratio*: the best peer's best time over ours, among
peers whose error is at most 1 % above ours; a time in parentheses alone marks a peer that is not
counted. *Answer*, float64: **labels** equal but for proven ties, or else **error** equal to 1e-9;
float32: error equal to 1e-5; *near*: error within 1 %. faiss and superkmeans cannot stop by
themselves and make as many iterations as we do; superkmeans starts from seeds of its own, so its
error may differ either way."""


def summary(row: Row) -> str:
    """One line per row, while the run goes on."""
    ours = row["contenders"].get(OURS, {}).get("best")
    told = f"ratio {figures(row['ratio'])} to {row['best_peer']}" if row["ratio"] else "no ratio"
    faults = f"  FAULTS: {'; '.join(row['faults'])}" if row["faults"] else ""
    where = f"{row['workload']} {row['dtype']} x{row['threads']}"
    return f"{where}: ours {figures(ours)} s, {row['iterations']} iterations, {told}{faults}"


def page(rows: list[Row]) -> str:
    """A table per precision and number of threads, in the order of the workloads."""
    parts = [NOTES]
    for threads, dtype in groups(rows):
        chosen = ordered(rows, threads, dtype)
        names = [one.name for one in PEERS if any(one.name in row["contenders"] for row in chosen)]
        header = ["workload (n, d, k)", "iterations", OURS, *names]
        header += ["ratio", "floor", "stretch", "reached", "answer"]
        cells = [_cells(row, names) for row in chosen]
        parts.append(f"## {dtype}, {in_threads(threads)}\n\n{table(header, cells)}")
    uneven = [
        f"- {row['workload']} {row['dtype']} x{row['threads']}: {name} {entry['iterations']}"
        for row in rows
        for name, entry in row["contenders"].items()
        if len(set(entry.get("iterations", []))) > 1
    ]
    disturbed = [text for row in rows if (text := _disturbed(row))]
    if disturbed:
        heading = "## Disturbed rows: the machine was busy, or a limit on threads was not obeyed"
        parts.append(f"{heading}\n\n" + "\n".join(disturbed))
    if uneven:
        heading = "## Iterations that differed between rounds"
        parts.append(f"{heading}\n\n" + "\n".join(uneven))
    faults = [f"- {row['workload']} {row['dtype']}: {f}" for row in rows for f in row["faults"]]
    if faults:
        parts.append("## Faults\n\n" + "\n".join(faults))
    return "\n\n".join(parts)


def _disturbed(row: Row) -> str:
    """Contenders whose CPU time does not fit one thread's wall time, or exceeds the team's."""
    used = {n: e["cores_used"] for n, e in row["contenders"].items() if "cores_used" in e}
    threads = row["threads"]
    odd = [
        f"{name} {cores:.2f} cores"
        for name, cores in used.items()
        if cores < 0.9 or cores > 1.1 * threads
    ]
    if not odd:
        return ""
    where = f"{row['workload']} {row['dtype']} x{threads}"
    return f"- {where}: {', '.join(odd)}; ratio by CPU time {figures(row['ratio_of_cpu'])}"


def _cells(row: Row, names: list[str]) -> list[str]:
    entries = row["contenders"]
    shape = f"{row['workload']} ({row['n']:,}, {row['d']}, {row['k']})"
    times = [cell(entries.get(name), partial(_time, ours=name == OURS)) for name in (OURS, *names)]
    ratio = row["ratio"]
    reached = "-"
    if ratio is not None:
        levels = (("stretch", row["stretch"]), ("floor", row["floor"]))
        reached = next((level for level, value in levels if ratio >= value), "below")
    told = f"{figures(ratio)} ({row['best_peer']})" if ratio else "-"
    targets = [f"{row[level]:g}" for level in ("floor", "stretch")]
    return [shape, str(row["iterations"]), *times, told, *targets, reached, _answer(row)]


def _time(entry: Row, ours: bool) -> str:
    best, median = figures(entry["best"]), figures(entry["median"])
    return f"{best} ({median})" if ours or entry.get("counts", True) else f"({best})"


def _answer(row: Row) -> str:
    """Peers grouped by the comparison of their answers with ours."""
    if row["faults"]:
        return "**FAULT**"
    told: dict[str, list[str]] = {}
    for name, entry in row["contenders"].items():
        if "verdict" in entry:
            far = entry["verdict"] in ("near error", "differs")
            text = f"{name} {entry['error_gap']:+.0e}" if far else name
            told.setdefault(entry["verdict"], []).append(text)
    return "; ".join(f"{verdict}: {', '.join(names)}" for verdict, names in told.items()) or "-"


def groups(rows: list[Row]) -> list[tuple[int, str]]:
    """(threads, dtype) pairs that have rows, float64 first."""
    found = {(row["threads"], row["dtype"]) for row in rows}
    return sorted(found, key=lambda group: (group[0], group[1] != "float64"))


def ordered(rows: list[Row], threads: int, dtype: str) -> list[Row]:
    """The rows of one group in the order of the workloads."""
    place = {workload.name: i for i, workload in enumerate(WORKLOADS)}
    chosen = [row for row in rows if row["threads"] == threads and row["dtype"] == dtype]
    return sorted(chosen, key=lambda row: place.get(row["workload"], len(place)))


def draw(rows: list[Row], path: Path) -> None:
    """A panel per group: seconds on a log axis, a marker per contender, the ratio at the right."""
    shown = groups(rows)
    columns = min(2, len(shown))
    lines = -(-len(shown) // columns)
    tallest = max(len(ordered(rows, *group)) for group in shown)
    chart, axes = plots.figure(lines, columns, 7.2 * columns, lines * (0.9 + 0.42 * tallest) + 0.6)
    for panel, group in zip(axes.ravel(), shown, strict=False):
        _draw_group(panel, ordered(rows, *group), *group)
    for panel in axes.ravel()[len(shown) :]:
        panel.set_axis_off()
    chart.suptitle("k-means to convergence: best wall time, and ratio to the best peer")
    plots.legend_below(chart, axes)
    plots.save(chart, path)


def _draw_group(panel: Any, rows: list[Row], threads: int, dtype: str) -> None:
    for height, row in enumerate(rows):
        times = {n: e["best"] for n, e in row["contenders"].items() if "best" in e}
        if row["ratio"]:
            span = (times[OURS], times[row["best_peer"]])
            panel.plot(span, (height, height), color="#bbbbbb", linewidth=3, zorder=1)
        for name, seconds in times.items():
            look = plots.look(name)
            panel.scatter([seconds], [height], s=90 if name == OURS else 42, **look)
        text = f"{row['ratio']:.1f}×" if row["ratio"] else ""
        place = {"xy": (1.01, height), "xycoords": ("axes fraction", "data"), "va": "center"}
        panel.annotate(text, **place)
    panel.set_yticks(range(len(rows)), [f"{r['workload']}  k={r['k']}" for r in rows])
    panel.set_ylim(len(rows) - 0.5, -0.5)
    plots.logarithmic(panel, "x")
    panel.set_xlabel("seconds")
    panel.set_title(f"{dtype}, {in_threads(threads)}")
    plots.tidy(panel)
