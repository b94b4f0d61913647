"""Sweeps that acceleration saves on slow mixtures, and the error as it falls."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import plots
from benchmarks.options import Options
from benchmarks.report import Results, Row, table

# (rows, columns, components, family, distance of means, seed): overlapping, so that EM creeps.
SLOW = (
    (20_000, 1, 3, "full", 2.0, 0),
    (20_000, 2, 5, "full", 2.0, 1),
    (20_000, 2, 8, "full", 3.0, 2),
    (20_000, 3, 6, "full", 2.5, 3),
    (20_000, 8, 10, "diag", 1.5, 4),
    (20_000, 8, 6, "full", 1.2, 5),
    (20_000, 2, 4, "tied", 2.0, 6),
    (20_000, 4, 6, "spherical", 1.5, 7),
)
GAPS = (1e-4, 1e-6, 1e-8)  # of the log-likelihood by row from the best that either found
SWEEPS = 6000
NOTES = """\
Sweeps over the data until the log-likelihood by row is within a gap of the best that either run
found; "-" if never in the sweeps allowed.
*Monotone*: "yes" if the error fell in every kept step."""


def run(options: Options) -> bool:
    results = Results(options, "acceleration", key=("case",))
    passed = results.take((measure(case, options.quick) for case in SLOW), summary)
    results.publish("EM, plain and accelerated", page, draw)
    return passed


def summary(row: Row) -> str:
    """One line per row, while the run goes on."""
    return " ".join([f"{row['case']}: {row['plain']} -> {row['accelerated']}", *row["faults"]])


def measure(case: tuple[int, int, int, str, float, int], quick: bool) -> Row:
    from coterie import GaussianMixture

    n, d, k, family, apart, seed = case
    rng = np.random.default_rng(seed)
    own = rng.integers(0, k, n)
    X = rng.normal(size=(n, d)) + apart * rng.normal(size=(k, d))[own]
    curves = []
    for accelerate in (False, True):
        model = GaussianMixture(
            k,
            covariance_type=family,
            tol=1e-13,
            max_iter=SWEEPS // 10 if quick else SWEEPS,
            random_state=0,
            accelerate=accelerate,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X)
        curves.append(
            (np.cumsum([r.sweeps for r in model.history_]), np.array(model.lower_bounds_))
        )
    top = max(float(bounds.max()) for _, bounds in curves)
    plain, accelerated = ([_first(curve, top - gap) for gap in GAPS] for curve in curves)
    monotone = bool(np.all(np.diff(curves[1][1]) >= -1e-12 * abs(top)))
    return {
        "case": f"{n:,}, {d}, {k} {family}, {apart:g} apart",
        "plain": plain,
        "accelerated": accelerated,
        "monotone": monotone,
        "faults": [] if monotone else ["the error rises"],
        "curves": [_thinned(curve, top) for curve in curves],
    }


def _first(curve: tuple[Any, Any], target: float) -> int | None:
    sweeps, bounds = curve
    reached = np.flatnonzero(bounds >= target)
    return int(sweeps[reached[0]]) if len(reached) else None


def _thinned(curve: tuple[Any, Any], top: float) -> list[list[float]]:
    """About 200 points, evenly on a log axis: sweeps and gap."""
    sweeps, bounds = curve
    places = np.unique(np.geomspace(1, len(sweeps), 200).astype(int)) - 1
    return [[int(s), float(g)] for s, g in zip(sweeps[places], top - bounds[places], strict=True)]


def page(rows: list[Row]) -> str:
    cells = []
    for row in rows:
        line = [row["case"]]
        for plain, fast in zip(row["plain"], row["accelerated"], strict=True):
            times = f"{plain / fast:.1f}" if plain and fast else "-"
            line.append(f"{plain or '-'} / {fast or '-'} = {times}")
        cells.append([*line, "yes" if row["monotone"] else "**no**"])
    header = ["rows, columns, components", *(f"to {gap:.0e}" for gap in GAPS), "monotone"]
    return f"{NOTES}\n\n{table(header, cells)}"


def draw(rows: list[Row], path: Path) -> None:
    chart, axes = plots.figure(2, 4, 13, 6)
    for panel, row in zip(axes.ravel(), rows, strict=False):
        looks = (("plain EM", "#0072B2", "--"), ("accelerated", "#D55E00", "-"))
        for curve, (name, colour, line) in zip(row["curves"], looks, strict=True):
            sweeps, gaps = np.array(curve).T
            panel.plot(sweeps, np.maximum(gaps, 1e-12), line, color=colour, label=name)
        panel.set_xscale("log")
        panel.set_yscale("log")
        panel.set_title(row["case"], fontsize=9)
        plots.tidy(panel)
    for panel in axes[-1]:
        panel.set_xlabel("sweeps over the data")
    for panel in axes[:, 0]:
        panel.set_ylabel("gap of the log-likelihood by row")
    plots.legend_below(chart, axes)
    plots.save(chart, path)
