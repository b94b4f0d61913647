"""The choice of eps for DBSCAN: clusters along the k-distance curve, the pick and its reason."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.arrays import Floats
from coterie.choosing import arguments
from coterie.choosing.eps_search import EpsSearch, search_for
from coterie.choosing.knee import knee
from coterie.choosing.sampling import checked_rows
from coterie.estimators import DBSCAN, DBSCANPath
from coterie.formatting import number, plural, share, text_table

LEAST_SHARE = 0.01  # of the rows, in a large cluster
MOST_NOISE = 0.5  # of the rows, with an eps of a plateau
NARROW = 1.1  # a plateau whose ends differ by less says nothing


@dataclass(frozen=True)
class EpsRow:
    """Clusters and noise of DBSCAN with one eps."""

    eps: float
    n_clusters: int
    large: int  # number of clusters with at least 1 % of the rows
    noise: float  # part of the rows
    largest: float  # part of the rows in the largest cluster


@dataclass(frozen=True, eq=False)
class EpsChoice:
    """A table of candidates, the pick, and the reason for it."""

    eps: float
    reason: str
    min_samples: int
    knee: float | None  # eps at the bend of the k-distance curve
    plateau: tuple[float, float] | None  # least and largest eps with the same clusters
    rows: tuple[EpsRow, ...]
    distances: Floats = field(repr=False)  # to the min_samples-th nearest row, ascending
    sample: int | None  # number of rows whose distances these are; None: all rows
    path: DBSCANPath | None = field(repr=False)  # labels for any other eps; None: many fits
    model: Any = field(repr=False)  # DBSCAN, fitted with the pick

    def table(self) -> dict[str, list[Any]]:
        """Columns with one entry per candidate; shares are parts of one."""
        return {
            "eps": [row.eps for row in self.rows],
            "clusters": [row.n_clusters for row in self.rows],
            "noise": [row.noise for row in self.rows],
            "largest": [row.largest for row in self.rows],
        }

    def __str__(self) -> str:
        columns = self.table()
        columns["noise"] = [share(part) for part in columns["noise"]]
        columns["largest"] = [share(part) for part in columns["largest"]]
        mark = [row.eps for row in self.rows].index(self.eps)
        return f"{text_table(columns, mark)}\n\n{self.reason}"


def choose_eps(
    X: Any,
    min_samples: int = 5,
    *,
    metric: Any = "euclidean",
    sample_size: int | None = 10_000,
    random_state: Any = 0,
    n_jobs: int | None = None,
    callback: Callable[[int, int, float], object] | None = None,
) -> EpsChoice:
    """Choose eps, the distance within which points are neighbours, with a reason.

    Candidates lie along the curve of distances to the `min_samples`-th nearest point. DBSCAN finds
    the same number of large clusters over some ranges of eps: the pick is the middle of the widest
    range. Without such a range the pick is the bend of the curve.

    One :class:`DBSCANPath` answers for every eps, exactly and for all rows: up to a million rows
    of at most 8 columns, or 100,000 wider rows. Beyond that, and for sparse rows and other metrics,
    DBSCAN is fitted with each candidate, and the curve is that of a sample of rows.

    Parameters
    ----------
    X : array-like or CSR matrix of shape (n_samples, n_features)
    min_samples : int, default=5
        As for :class:`DBSCAN`; a point counts itself.
    metric : str or callable, default="euclidean"
        As for :class:`DBSCAN`, without "precomputed".
    sample_size : int or None, default=10_000
        Number of rows of the sample, if there is one; each distance is exact, to the nearest of all
        rows. None: all rows, also beyond the limits above.
    random_state : int, RandomState instance or None, default=0
        Seed of the sample.
    n_jobs : int or None, default=None
        Threads.
    callback : callable or None, default=None
        Called as ``callback(done, total, eps)`` after each candidate.

    Returns
    -------
    EpsChoice
    """
    min_samples = arguments.whole(min_samples, "min_samples", "5 is usual")
    sample_size = arguments.sample_size(sample_size)
    arguments.metric(metric, "choose_eps")
    arguments.seed(random_state)
    arguments.threads(n_jobs, "choose_eps")
    arguments.callback(callback, "done, total, eps")
    if isinstance(metric, str) and metric == "precomputed":
        raise ValueError("expected a metric for rows, got 'precomputed'; pass the rows themselves")
    rows = checked_rows(X)
    search = search_for(rows, min_samples, metric, sample_size, random_state, n_jobs)
    curve = search.distances
    bend = knee(np.arange(len(curve)), curve)
    bend_at = None if bend is None or curve[bend] == 0 else float(curve[bend])
    tries = _tries(search, bend_at)
    table = []
    for done, eps in enumerate(tries, start=1):
        table.append(_row(eps, search.labels(eps)))
        if callback is not None:
            callback(done, len(tries), eps)
    plateau = _widest(table)
    eps = _pick(table, plateau, bend_at)
    if eps not in tries:
        table = sorted([*table, _row(eps, search.labels(eps))], key=lambda row: row.eps)
    return EpsChoice(
        eps=eps,
        reason=_reason(table, eps, plateau, bend_at, search.sample),
        min_samples=min_samples,
        knee=bend_at,
        plateau=None if plateau is None else (plateau[0].eps, plateau[-1].eps),
        rows=tuple(table),
        distances=curve,
        sample=search.sample,
        path=search.path,
        model=DBSCAN(eps, min_samples=min_samples, metric=metric, n_jobs=n_jobs).fit(X),
    )


def _tries(search: EpsSearch, bend: float | None) -> list[float]:
    """Candidates from few core points to nearly all rows, evenly by ratio."""
    positive = search.distances[search.distances > 0]
    if not len(positive):  # every row has copies enough to be a core point with any eps
        return [1.0]
    low = float(np.quantile(positive, 0.02))
    high = min(1.3 * float(positive[-1]), 30.0 * float(np.median(positive)))
    even = np.geomspace(low, max(high, 1.01 * low), search.candidates)
    steps = {_typed(eps) for eps in even}
    return sorted(steps if bend is None else steps | {_typed(bend)})


def _row(eps: float, labels: NDArray[np.int64]) -> EpsRow:
    sizes = np.bincount(labels[labels >= 0])
    return EpsRow(
        eps=eps,
        n_clusters=len(sizes),
        large=int((sizes >= LEAST_SHARE * len(labels)).sum()),
        noise=float((labels < 0).mean()),
        largest=float(sizes.max(initial=0) / len(labels)),
    )


def _widest(table: list[EpsRow]) -> list[EpsRow] | None:
    """The widest run of candidates, by ratio, with the same number of large clusters (two up)."""
    runs: list[list[EpsRow]] = [[]]
    for row in table:
        if runs[-1] and row.large == runs[-1][-1].large:
            runs[-1].append(row)
        else:
            runs.append([row])
    fit = [run for run in runs if run and run[0].large >= 2]
    fit = [[row for row in run if row.noise <= MOST_NOISE] for run in fit]
    fit = [run for run in fit if len(run) >= 2 and run[-1].eps > NARROW * run[0].eps]
    return max(fit, key=lambda run: run[-1].eps / run[0].eps) if fit else None


def _pick(table: list[EpsRow], plateau: list[EpsRow] | None, bend: float | None) -> float:
    if plateau is not None:
        return _typed(np.sqrt(plateau[0].eps) * np.sqrt(plateau[-1].eps))
    return table[len(table) // 2].eps if bend is None else _typed(bend)


def _typed(value: float) -> float:
    """Round to three digits, which a person can type."""
    return float(f"{value:.3g}")


def _reason(
    table: list[EpsRow],
    eps: float,
    plateau: list[EpsRow] | None,
    bend: float | None,
    sample: int | None,
) -> str:
    row = next(row for row in table if row.eps == eps)
    left = f"{plural(row.n_clusters, 'cluster')} and leaves {share(row.noise)} noise"
    if plateau is not None:
        low, high = number(plateau[0].eps), number(plateau[-1].eps)
        text = (
            f"eps {number(eps)}: from {low} to {high} the same {row.large} large clusters are "
            f"found, and {number(eps)}, the middle, gives {left}."
        )
        if bend is not None:
            text += f" The k-distance curve bends at {number(bend)}."
    elif bend is not None:
        text = (
            f"eps {number(eps)}: there the k-distance curve bends; it gives {left}. No range of "
            "eps keeps two or more large clusters, so the data may be one group, or groups of "
            "very different density."
        )
    else:
        text = f"eps {number(eps)}: the k-distance curve does not bend; it gives {left}."
    if sample is not None:
        text += f" The curve is that of a random sample of {sample:,} rows."
    return text
