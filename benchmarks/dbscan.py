"""Whole fits of DBSCAN: ours beside scikit-learn and the package `dbscan`, answers compared."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import plots
from benchmarks.dbscan_peers import (
    MOST_COLUMNS,
    OURS,
    PACKAGES,
    PEERS,
    Answer,
    contenders,
    verdict,
)
from benchmarks.dbscan_probe import GIGABYTES, SECONDS, probe
from benchmarks.dbscan_workloads import (
    MIN_SAMPLES,
    SKLEARN,
    WANG,
    WORKLOADS,
    Workload,
    load,
    select,
)
from benchmarks.options import Options
from benchmarks.report import Results, Row, figures, in_threads, table
from benchmarks.timing import limited, take_turns

NOTES = f"""\
Best wall time in milliseconds of whole fits, float64, `min_samples={MIN_SAMPLES}`, contenders
taking turns in one process, and how many times longer the peers took. *answer*: labels and core
points compared with ours; a peer that is wrong is timed all the same, in parentheses. *MB*: peak
resident memory beyond the data, from processes of their own. Where a peer ran in a process of its
own because it may not survive, it had {GIGABYTES} GB and {SECONDS} s."""


def run(options: Options) -> bool:
    """Fill the table; True if every answer of ours was that of a peer that is not wrong."""
    chosen = contenders(options.peers)
    results = Results(options, "dbscan", key=("workload", "threads"), packages=PACKAGES)
    rows = (
        measure(workload, threads, chosen, options)
        for threads in options.threads
        for workload in select(options.only)
    )
    passed = results.take(rows, summary)
    results.publish("DBSCAN: whole fits", page, draw)
    return passed


def measure(workload: Workload, threads: int, chosen: list[str], options: Options) -> Row:
    """One row: all contenders on one workload."""
    x = load(workload, options.quick, options.cache)
    chosen = [name for name in chosen if workload.d <= MOST_COLUMNS.get(name, workload.d)]
    inside = [name for name in chosen if options.quick or name not in workload.too_much]
    calls = {name: partial(PEERS[name], x, workload.eps, threads) for name in inside}
    with limited(threads):
        for name in inside:
            PEERS[name](x[:2000], workload.eps, threads)  # libraries and pools
        series = take_turns(calls, options.repeat, options.patience)
    entries: dict[str, Row] = {name: one.record() for name, one in series.items()}
    for name in chosen:
        alone = probe(name, workload, threads, options.quick, options.cache)
        entries.setdefault(name, {"alone": True})
        if name not in series:
            told = {"best": alone["seconds"]} if "seconds" in alone else alone
            entries[name] |= told
        entries[name]["beyond"] = alone.get("beyond")
    ours = series[OURS].answer
    for name, one in series.items():
        if name != OURS and one.answer is not None and ours is not None:
            entries[name]["verdict"] = verdict(ours, one.answer)
    return {
        "workload": workload.name,
        "n": len(x),
        "d": workload.d,
        "eps": workload.eps,
        "threads": threads,
        "data": x.nbytes,
        "clusters": 0 if ours is None else int(ours.labels.max()) + 1,
        "noise": 0 if ours is None else int((ours.labels < 0).sum()),
        "contenders": entries,
        "ratios": _ratios(entries),
        "floors": workload.floors,
        "faults": _faults(entries, ours, workload.d),
    }


def _ratios(entries: dict[str, Row]) -> dict[str, float]:
    ours = entries[OURS].get("best")
    return {
        name: entry["best"] / ours
        for name, entry in entries.items()
        if ours and name != OURS and "best" in entry
    }


def _faults(entries: dict[str, Row], ours: Answer | None, d: int) -> list[str]:
    """Differences from scikit-learn's answer, and in the plane from the clusters of both peers."""
    if ours is None:
        return [str(entries[OURS]["failure"])]
    right = {SKLEARN} | ({WANG} if d == 2 else set())
    return [
        f"{name}: {entries[name]['verdict']}"
        for name in right & entries.keys()
        if entries[name].get("verdict", "same").startswith("wrong")
    ]


def summary(row: Row) -> str:
    """One line per row, while the run goes on."""
    told = ", ".join(f"{n} {figures(r)}x" for n, r in row["ratios"].items())
    ours = figures(1e3 * row["contenders"][OURS].get("best", float("nan")))
    return " ".join([f"{row['workload']} x{row['threads']}: {ours} ms; {told}", *row["faults"]])


def page(rows: list[Row]) -> str:
    """A table per number of threads."""
    parts = [NOTES]
    for threads in sorted({row["threads"] for row in rows}):
        names = [name for name in PEERS if name != OURS]
        header = ["workload (n, d, eps)", "clusters", f"{OURS} ms"]
        for name in names:
            header += [f"{name} ms", "times", "floor"]
        header += [f"{name} MB" for name in PEERS] + ["answer"]
        cells = [_cells(row, names) for row in _ordered(rows, threads)]
        parts.append(f"## {in_threads(threads)}\n\n{table(header, cells)}")
    return "\n\n".join(parts)


def _cells(row: Row, names: list[str]) -> list[str]:
    entries = row["contenders"]
    shape = f"{row['workload']} ({row['n']:,}, {row['d']}, {row['eps']:g})"
    cells = [shape, f"{row['clusters']:,}", _milliseconds(entries[OURS])]
    for name in names:
        entry = entries.get(name, {})
        wrong = str(entry.get("verdict", "")).startswith("wrong")
        floor = row["floors"].get(name)
        values = [_milliseconds(entry), figures(row["ratios"].get(name))]
        cells += [f"({value})" if wrong else value for value in values]
        cells.append("-" if floor is None else f"{floor:g}")
    for name in PEERS:
        beyond = entries.get(name, {}).get("beyond")
        cells.append("-" if beyond is None else figures(beyond / 1e6))
    told = [
        f"{name}: {entries[name]['verdict']}"
        for name in names
        if "verdict" in entries.get(name, {})
    ]
    return [*cells, "**FAULT**" if row["faults"] else "; ".join(told) or "-"]


def _milliseconds(entry: Row) -> str:
    if "best" in entry:
        return figures(1e3 * entry["best"])
    return str(entry.get("failure", "-"))


def _ordered(rows: list[Row], threads: int) -> list[Row]:
    place = {workload.name: i for i, workload in enumerate(WORKLOADS)}
    chosen = [row for row in rows if row["threads"] == threads]
    return sorted(chosen, key=lambda row: place.get(row["workload"], len(place)))


def draw(rows: list[Row], path: Path) -> None:
    """Seconds on a log axis, a marker per contender; hollow where the answer is wrong."""
    shown = sorted({row["threads"] for row in rows})
    tallest = max(len(_ordered(rows, threads)) for threads in shown)
    chart, axes = plots.figure(1, len(shown), 8.0 * len(shown), 0.42 * tallest + 1.6)
    for panel, threads in zip(axes[0], shown, strict=True):
        _draw_panel(panel, _ordered(rows, threads), threads)
    chart.suptitle("DBSCAN: best wall time, and how many times longer each peer took")
    plots.legend_below(chart, axes)
    plots.save(chart, path)


def _draw_panel(panel: Any, rows: list[Row], threads: int) -> None:
    for height, row in enumerate(rows):
        for name, entry in row["contenders"].items():
            if "best" not in entry:
                continue
            wrong = str(entry.get("verdict", "")).startswith("wrong")
            look = plots.look(name)
            size = 90 if name == OURS else 42
            if wrong:
                look |= {"facecolors": "none", "edgecolors": look.pop("color"), "label": None}
            panel.scatter([1e3 * entry["best"]], [height], s=size, **look)
        short = {SKLEARN: "sk", WANG: "dbscan"}
        told = [f"{short[n]} {figures(r)}×" for n, r in row["ratios"].items()]
        place = {"xy": (1.01, height), "xycoords": ("axes fraction", "data"), "va": "center"}
        panel.annotate("  ".join(told), fontsize=8, **place)
    panel.set_yticks(range(len(rows)), [row["workload"] for row in rows])
    panel.set_ylim(len(rows) - 0.5, -0.5)
    plots.logarithmic(panel, "x")
    panel.set_xlabel("milliseconds (hollow: wrong answer)")
    panel.set_title(in_threads(threads))
    plots.tidy(panel)
