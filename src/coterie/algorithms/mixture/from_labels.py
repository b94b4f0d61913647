"""Mixtures made from clusters: from labels, or from degrees of belonging."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.algorithms.mixture.covariance import Family
from coterie.algorithms.mixture.covariance.floor import Floor
from coterie.algorithms.mixture.records import Mixture
from coterie.algorithms.mixture.survey import MixtureSurvey
from coterie.arrays import Floats
from coterie.engines.protocol import Engine, by_row
from coterie.kernels import mixture_steps
from coterie.kernels.mixture_steps import Moments, Sums


def mixture_from_labels(
    engine: Engine,
    survey: MixtureSurvey,
    family: Family,
    labels: NDArray[np.int32],
    k: int,
    floor: Floor,
) -> Mixture:
    """Weights, means and covariances of clusters; labels (n,) in 0 .. k - 1."""
    step = mixture_steps.label_moments
    return _from_moments(engine, survey, family, step, by_row(labels), k, floor)


def mixture_from_degrees(
    engine: Engine, survey: MixtureSurvey, family: Family, degrees: Floats, floor: Floor
) -> Mixture:
    """Weights, means and covariances for degrees of belonging (n, k)."""
    k = degrees.shape[1]
    step = mixture_steps.degree_moments
    return _from_moments(engine, survey, family, step, by_row(degrees), k, floor)


def _from_moments(
    engine: Engine,
    survey: MixtureSurvey,
    family: Family,
    step: Callable[..., Sums],
    belonging: Any,
    k: int,
    floor: Floor,
) -> Mixture:
    """Two passes: means, then moments about them. An empty cluster gets the data's own spread."""
    d = len(survey.scaling.origin)
    first: Moments = engine.reduce(
        step, survey.scaling, "diag", belonging, np.zeros((k, d))
    ).moments
    empty = ~(first.mass > 0)
    means = np.where(empty[:, None], 0.0, first.first / np.where(empty, 1.0, first.mass)[:, None])
    moments: Moments = engine.reduce(
        step, survey.scaling, family.moments_kind, belonging, means
    ).moments
    shift = np.where(empty[:, None], 0.0, moments.first / np.where(empty, 1, moments.mass)[:, None])
    covariances = family.estimate(moments, shift, floor, engine.team)
    if empty.any() and not family.shared:
        second = family.second_moments(survey.variances)
        whole = Moments(0.0, np.ones(1), np.zeros((1, d)), second)
        covariances[empty] = family.estimate(whole, np.zeros((1, d)), floor)[0]
    mixture = Mixture(first.mass / first.mass.sum(), means + shift, covariances)
    return mixture.in_data_units(family, survey.scaling)
