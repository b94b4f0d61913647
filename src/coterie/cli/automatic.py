"""The data decide: which method, with which parameters, and the reasons in words.

Three looks are taken at the rows (a sample of them if there are many): k-means for every k,
mixtures for every k, and DBSCAN along eps. Density decides first, because clusters that empty space
sets apart are beyond doubt; then mixtures, whose clusters may be long; else k-means.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.metrics import adjusted_rand_score, homogeneity_score

from coterie.choosing.words import number, plural, share
from coterie.cli import building
from coterie.cli.building import ChosenK, Running, measured
from coterie.cli.methods import CHOOSING_ROWS, chosen_eps, chosen_k, read_timed, voice_of
from coterie.cli.methods_table import DensityOptions, MeansOptions, MixtureOptions, label_of
from coterie.cli.outcome import Keeping, Outcome, fit, keep
from coterie.cli.voice import Voice

if TYPE_CHECKING:
    from coterie.choosing import EpsChoice, KChoice
    from coterie.data import Dataset

UNEQUAL = 10.0  # ratio of spreads from which columns are scaled
SAME = 0.9  # adjusted Rand index of clusterings that count as the same
WITHIN = 0.98  # homogeneity of clusters that only divide others
WIDE = 1.2  # ratio of eps over which the same clusters are found
FEW_LEFT = 0.15  # noise that clear clusters leave
GOOD = 0.6  # silhouette of groups that are clearly apart
MOST_COLUMNS = 20  # for mixtures and densities


def run(source: str, options: Mapping[str, Any]) -> None:
    """The command."""
    keeping, voice = Keeping.of(source, options), voice_of(options)
    data, seconds = read_timed(source, options, voice)
    outcome = found_by_looking(data, options, voice, trace=keeping.film)
    outcome.seconds = seconds | outcome.seconds
    keep(outcome, keeping, voice)


def found_by_looking(
    data: Dataset, options: Mapping[str, Any], voice: Voice, trace: bool = False
) -> Outcome:
    """Choose scaling, method and parameters, and fit."""
    began = time.perf_counter()
    data, scaled = _comparable(data, options)
    method, model, reasons = _method(data, Running.of(options), voice)
    if trace:
        model.set_params(trace=True)
    chosen = time.perf_counter() - began
    outcome = fit(method, model, data, voice, f"fitting {label_of(method)}")
    outcome.reasons = [*scaled, *reasons]
    outcome.seconds = {"choosing": chosen} | outcome.seconds
    return outcome


def _comparable(data: Dataset, options: Mapping[str, Any]) -> tuple[Dataset, list[str]]:
    """Tables whose columns differ much in spread are scaled, unless the user has decided."""
    if data.kind != "table" or options.get("scaling") is not None or data.X.shape[1] < 2:
        return data, []
    spread = np.nanstd(data.X.astype(np.float64), axis=0)
    varying = np.flatnonzero(spread > 0)
    if len(varying) < 2:
        return data, []
    wide, narrow = varying[np.argmax(spread[varying])], varying[np.argmin(spread[varying])]
    ratio = spread[wide] / spread[narrow]
    if ratio < UNEQUAL:
        return data, []
    reason = (
        f"{data.columns[wide]} spreads {number(ratio)} times as wide as {data.columns[narrow]} "
        "and would decide alone, so columns are scaled (standard); --scaling none leaves them."
    )
    return data.scaled("standard"), [reason]


@dataclass(frozen=True)
class _Looks:
    """What the three methods see in the same rows; None where a look was not taken."""

    X: Any
    means: KChoice
    mixture: KChoice | None
    density: EpsChoice | None


def _method(data: Dataset, running: Running, voice: Voice) -> tuple[str, Any, list[str]]:
    """Method, its estimator, and the reasons."""
    sample, note = data, ""
    if len(data) > CHOOSING_ROWS:
        rows = np.random.default_rng(running.seed).choice(len(data), CHOOSING_ROWS, replace=False)
        sample = replace(data, X=data.X[np.sort(rows)])
        note = f" Looked for in a random sample of {CHOOSING_ROWS:,} rows."
    looks = _looks(sample, running, voice)
    whole = sample is data
    if looks.density is not None and _clear(looks.density) and not _round_groups(looks):
        # eps depends on how dense all rows are
        own = DensityOptions()
        density = looks.density if whole else chosen_eps(data, own, running, voice)
        reasons = [f"DBSCAN: {_against_means(looks)}{note}", density.reason]
        return "dbscan", building.dbscan(density.eps, own, data, running), reasons
    if looks.mixture is not None and _speaks_for_mixture(looks):
        why = "BIC and ICL agree, and the clusters are not round"
        reasons = [f"a Gaussian mixture: {why}.", f"{looks.mixture.reason}{note}"]
        mixture = building.mixture(looks.mixture.k, MixtureOptions(), data, running)
        return "mixture", measured(ChosenK(looks.mixture, "", whole), mixture), reasons
    means = building.kmeans(looks.means.k, MeansOptions(), data, running)
    return "kmeans", measured(ChosenK(looks.means, "", whole), means), _for_means(looks, note)


def _looks(data: Dataset, running: Running, voice: Voice) -> _Looks:
    means = chosen_k(data, "kmeans", running, voice).choice
    few = data.X.shape[1] <= MOST_COLUMNS and not sparse.issparse(data.X)
    if not few or len(data) < 20:
        return _Looks(data.X, means, None, None)
    mixture = chosen_k(data, "mixture", running, voice).choice
    return _Looks(data.X, means, mixture, chosen_eps(data, DensityOptions(), running, voice))


def _clear(density: Any) -> bool:
    """Whether the same few clusters are found over a range of eps, and little is left."""
    row = next(row for row in density.rows if row.eps == density.eps)
    low, high = density.plateau or (1.0, 1.0)
    few_crumbs = row.n_clusters <= 1.5 * row.large
    return bool(high >= WIDE * low and row.noise <= FEW_LEFT and few_crumbs)


def _round_groups(looks: _Looks) -> bool:
    """Whether k-means finds the dense clusters too, or divides them for good reasons."""
    dense = looks.density.model.labels_  # type: ignore[union-attr]
    inside = dense >= 0
    means = looks.means.model.labels_[inside]
    if adjusted_rand_score(dense[inside], means) >= SAME:
        return True
    picks, k = looks.means.picks, looks.means.k
    row = next(row for row in looks.means.rows if row.k == k)
    divides = homogeneity_score(dense[inside], means) >= WITHIN
    agreed = k in (picks.get("knee"), picks.get("stability"))
    return bool(divides and agreed and (row.silhouette or 0.0) >= GOOD)


def _speaks_for_mixture(looks: _Looks) -> bool:
    """Whether the criteria agree on Gaussians that restarts find again and k-means does not."""
    mixture: Any = looks.mixture
    row = next(row for row in mixture.rows if row.k == mixture.k)
    agreed = mixture.picks.get("bic") == mixture.picks.get("icl") == mixture.k
    sure = mixture.k < mixture.rows[-1].k and (row.stability or 0.0) >= SAME
    if mixture.k < 2 or not agreed or not sure:
        return False
    other = looks.means.model.labels_
    return bool(adjusted_rand_score(mixture.model.predict(looks.X), other) < SAME)


def _against_means(looks: _Looks) -> str:
    density: Any = looks.density
    low, high = density.plateau
    count = plural(density.model.n_clusters_, "cluster")
    return (
        f"empty space sets {count} apart (for every eps from {number(low)} to {number(high)}), "
        f"and k-means, which would take {looks.means.k}, does not find them: they are not round."
    )


def _for_means(looks: _Looks, note: str) -> list[str]:
    reasons = [f"{label_of('kmeans')}: {looks.means.reason}{note}"]
    density = looks.density
    if density is not None and _clear(density) and looks.means.k > 1:
        noise = float((density.model.labels_ < 0).mean())
        agree = "DBSCAN finds the same groups" if _round_groups(looks) else "DBSCAN differs"
        apart = (
            f", and {share(noise)} of the rows apart from all: see coterie dbscan" if noise else ""
        )
        reasons.append(f"{agree}{apart}.")
    return reasons
