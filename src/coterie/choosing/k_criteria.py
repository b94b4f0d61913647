"""Criteria for the number of clusters: the pick of each, and a sentence on the pick of all."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

import numpy as np

from coterie.choosing.knee import knee
from coterie.formatting import listed, number, plural

CRITERIA = {
    "kmeans": ("silhouette", "knee", "stability"),
    "mixture": ("bic", "icl", "aic", "silhouette", "stability"),
}
DECIDES = {"kmeans": "silhouette", "mixture": "bic"}
STABLE = 0.9  # mean adjusted Rand index of restarts that count as the same answer
MARGIN = 0.02  # difference of silhouettes that counts as none

NAMES = {
    "silhouette": "the silhouette",
    "knee": "the bend of the error curve",
    "stability": "stability over restarts",
    "bic": "BIC",
    "aic": "AIC",
    "icl": "ICL",
}


class Row(Protocol):
    """A row of the table of candidates."""

    @property
    def k(self) -> int: ...
    @property
    def error(self) -> float: ...
    @property
    def silhouette(self) -> float | None: ...
    @property
    def stability(self) -> float | None: ...


def pick_by_each(rows: Sequence[Row], method: str) -> dict[str, int]:
    """Return the k that each criterion alone would take. Some have no opinion."""
    picks: dict[str, int] = {}
    for name in CRITERIA[method]:
        pick = _knee(rows) if name == "knee" else _extreme(rows, name)
        if pick is not None:
            picks[name] = pick
    return picks


def _knee(rows: Sequence[Row]) -> int | None:
    place = knee([row.k for row in rows], [row.error for row in rows])
    return None if place is None else rows[place].k


def _extreme(rows: Sequence[Row], name: str) -> int | None:
    known = [(row.k, float(getattr(row, name))) for row in rows if getattr(row, name) is not None]
    if not known:
        return None
    if name == "stability":  # the most clusters that every restart finds
        stable = [k for k, value in known if value >= STABLE]
        return max(stable) if stable else None
    sign = 1.0 if name == "silhouette" else -1.0
    values = sign * np.array([value for _, value in known])
    return known[int(np.argmax(values))][0]  # the first of equals: the smaller k


def pick_with_reason(
    rows: Sequence[Row],
    picks: Mapping[str, int],
    method: str,
    criterion: str,
    sample: int | None,
    of_uniform_rows: Callable[[int], float | None],
) -> tuple[int, str, str]:
    """Return the pick, the criterion that decided, and the reason in words.

    of_uniform_rows : the silhouette that rows without any groups would reach with so many clusters.
    """
    decides = DECIDES[method] if criterion == "auto" else criterion
    if decides not in picks:
        pick = rows[0].k
        if len(rows) == 1:
            return pick, decides, f"{plural(pick, 'cluster')}: there was no other candidate."
        why = f"{NAMES[decides]} has no opinion on these candidates, so the smallest is taken"
        return pick, decides, f"{plural(pick, 'cluster')}: {why}."
    pick = picks[decides]
    if criterion == "auto" and decides == "silhouette":
        pick = _among_equals(rows, picks)
    if criterion == "auto" and decides == "silhouette" and rows[0].k == 1:
        reached = _row(rows, pick).silhouette
        chance = of_uniform_rows(pick)
        if reached is not None and chance is not None and reached < chance + MARGIN:
            reason = (
                f"1 cluster: the best silhouette, {reached:.2f} for {pick}, is no better than "
                f"the {chance:.2f} that rows spread evenly reach, so nothing speaks for groups."
            )
            return 1, decides, reason
    sentences = [f"{plural(pick, 'cluster')}: {_why(rows, pick, decides)}."]
    sentences += _others(picks, pick, decides)
    if decides == "silhouette" and sample is not None:
        sentences.append(f"Silhouettes are those of a random sample of {sample:,} rows.")
    edge = rows[-1].k
    more = _row(rows, pick).error != 0  # at 0 every cluster is one point, and more would be empty
    if pick == edge and len(rows) > 1 and more and decides not in ("stability", "knee"):
        sentences.append(f"{edge} is the largest number tried: try more.")
    return pick, decides, " ".join(sentences)


def _row(rows: Sequence[Row], k: int) -> Row:
    return next(row for row in rows if row.k == k)


def _among_equals(rows: Sequence[Row], picks: Mapping[str, int]) -> int:
    """Among k with nearly the best silhouette, return the one that other criteria would take."""
    best = _row(rows, picks["silhouette"]).silhouette
    assert best is not None
    near = [row for row in rows if row.silhouette is not None and row.silhouette > best - MARGIN]
    votes = [k for name, k in picks.items() if name != "silhouette"]
    return max(near, key=lambda row: (votes.count(row.k), row.silhouette, -row.k)).k


def _why(rows: Sequence[Row], pick: int, decides: str) -> str:
    if decides == "knee":
        return "the error falls quickly up to there and slowly after"
    value = getattr(_row(rows, pick), decides)
    if decides == "stability":
        return f"the most that restarts agree on (agreement {value:.2f})"
    others = [
        (getattr(row, decides), row.k)
        for row in rows
        if row.k != pick and getattr(row, decides) is not None
    ]
    if not others:
        return f"{NAMES[decides]} is {number(value)}"
    if decides == "silhouette":
        next_value, next_k = max(others)
        if next_value > value:
            most = f"{value:.2f}, nearly that of {next_k}, {next_value:.2f}"
            return f"the mean silhouette is {most}, and other criteria decide between them"
        digits = 2 if f"{value:.2f}" != f"{next_value:.2f}" else 4
        against = f"{value:.{digits}f} against {next_value:.{digits}f} for {next_k}"
        return f"the mean silhouette is largest there, {against}"
    next_value, next_k = min(others)
    return f"{NAMES[decides]} is smallest there, by {number(next_value - value)} against {next_k}"


def _others(picks: Mapping[str, int], pick: int, decides: str) -> list[str]:
    agree = [NAMES[name] for name, k in picks.items() if name != decides and k == pick]
    differ: dict[int, list[str]] = {}
    for name, k in picks.items():
        if name != decides and k != pick:
            differ.setdefault(k, []).append(NAMES[name])
    found = []
    if agree:
        text = listed(agree)
        found.append(f"{text[0].upper()}{text[1:]} say{'s' if len(agree) == 1 else ''} so too.")
    for k, names in differ.items():
        text = listed(names)
        found.append(f"{text[0].upper()}{text[1:]} would take {k}.")
    return found
