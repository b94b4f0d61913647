"""Diagnoses of DBSCAN fits: an eps that is too small or too large."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from coterie.choosing.diagnose.case import ONE_HOLDS_NEARLY_ALL, Case, Diagnosis
from coterie.choosing.eps import EpsChoice, choose_eps
from coterie.formatting import number, plural, share
from coterie.remedies import Remedy

MOSTLY = 0.5  # of the rows


def diagnoses(case: Case) -> Iterator[Diagnosis]:
    if case.noise >= MOSTLY:
        yield _too_small(case)
    elif case.largest >= ONE_HOLDS_NEARLY_ALL:
        yield from _too_large(case)


def _too_small(case: Case) -> Diagnosis:
    code = "all-noise" if case.noise == 1.0 else "mostly-noise"
    sentence = f"{share(case.noise)} of the rows are noise"
    better = _choice(case)
    if better is None or (left := _noise(better)) >= case.noise:
        fewer = max(2, case.model.min_samples // 2)
        return Diagnosis(
            code,
            sentence,
            (
                Remedy("set a larger {eps:name}"),
                Remedy("{min_samples}", {"min_samples": fewer}),
            ),
        )
    return Diagnosis(
        code,
        sentence,
        (
            Remedy(
                f"eps near {number(better.eps)} leaves {share(left)}, in "
                f"{plural(better.model.n_clusters_, 'cluster')}",
                {"eps": better.eps},
            ),
        ),
    )


def _too_large(case: Case) -> Iterator[Diagnosis]:
    better = _choice(case)
    sentence = case.nearly_all()
    if better is not None and better.plateau is not None and better.eps < case.model.eps:
        found = plural(better.model.n_clusters_, "cluster")
        yield Diagnosis(
            "one-cluster",
            sentence,
            (
                Remedy(
                    f"eps near {number(better.eps)} gives {found} and leaves "
                    f"{share(_noise(better))} noise",
                    {"eps": better.eps},
                ),
            ),
        )
    elif len(case.sizes) > 1 or case.noise > 0 or better is not None:
        yield Diagnosis(
            "one-cluster",
            sentence,
            (
                Remedy(
                    "no eps gives two large clusters over a wider range, so the rows may be one "
                    "dense group; k-means or a mixture can still divide it"
                ),
            ),
        )


def _choice(case: Case) -> EpsChoice | None:
    """The choice of `choose_eps` for these rows; None for distances that it does not take."""
    model = case.model
    if model.metric == "precomputed" or model.metric_params or model.p not in (None, 2):
        return None
    return choose_eps(case.X, model.min_samples, metric=model.metric, n_jobs=model.n_jobs)


def _noise(choice: EpsChoice) -> float:
    return float(np.mean(choice.model.labels_ < 0))
