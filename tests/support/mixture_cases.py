"""Mixtures and rows for sweeps, and their formulas in long double."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, get_args

import numpy as np

from coterie.engines.memory import MemoryEngine
from coterie.kernels import mixture_steps, triangles
from coterie.kernels.mixture_steps import Densities, Kind, Moments, Standardization
from support.kmeans_cases import level

KINDS: list[Kind] = list(get_args(Kind))
LONG = np.longdouble


def model(kind: Kind, k: int, d: int, seed: int) -> Densities:
    random = np.random.default_rng(seed)
    shape = {"full": (k, d, d), "tied": (d, d), "diag": (k, d), "spherical": (k,)}[kind]
    factors = random.normal(size=shape) * 0.3
    if len(shape) >= 2 and shape[-1] == shape[-2] and kind in ("full", "tied"):
        factors = np.triu(factors, 1) + np.eye(d) * random.uniform(0.5, 2, size=(*shape[:-1], 1))
    else:
        factors = np.abs(factors) + 0.5
    if kind == "full":
        factors = triangles.packed(factors)
    return Densities(kind, random.normal(size=k), random.normal(size=(k, d)) * 2, factors)


def rows(n: int, d: int, seed: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.random.default_rng(seed + 1).normal(size=(n, d)) * 2


def expected(X: Any, w: Any, q: Densities) -> tuple[Any, ...]:
    """(scores, degrees, mass, first, second) in long double; second as whole matrices."""
    x, k = X.astype(LONG), len(q.means)
    logs = np.empty((len(x), k), dtype=LONG)
    for c in range(k):
        f = q.factor(c).astype(LONG)
        z = x - q.means[c]
        y = z @ f if np.ndim(f) == 2 else z * f
        logs[:, c] = q.offsets[c] - (y * y).sum(axis=1) / 2
    top = logs.max(axis=1, keepdims=True)
    scores = (top + np.log(np.exp(logs - top).sum(axis=1, keepdims=True)))[:, 0]
    degrees = np.exp(logs - scores[:, None])
    r = degrees * (np.ones(len(x)) if w is None else w).astype(LONG)[:, None]
    centred = x[:, None, :] - (q.means if q.centres is None else q.centres)
    first = (r[:, :, None] * centred).sum(axis=0)
    second = np.einsum("nk,nki,nkj->kij", r, centred, centred)
    return scores, degrees, r.sum(axis=0), first, second


def in_kind(second: Any, kind: Kind) -> Any:
    if kind == "full":
        return triangles.packed(second)
    diagonals = np.diagonal(second, axis1=1, axis2=2)
    return diagonals if kind == "diag" else diagonals.sum(axis=1)


def check(X: Any, w: Any, q: Densities, engine: MemoryEngine) -> None:
    scaling = Standardization.plain(X.shape[1])
    scores, degrees, mass, first, second = expected(X, w, q)
    found = engine.reduce(mixture_steps.sweep, scaling, q).moments
    size = 1 + np.abs(scores.astype(float)).max()
    weights = np.ones(len(X)) if w is None else w
    assert abs(found.log_likelihood - (scores * weights).sum()) < 1e-13 * size * weights.sum()
    np.testing.assert_allclose(
        engine.gather(mixture_steps.score_samples, scaling, q),
        scores.astype(float),
        rtol=0,
        atol=1e-13 * size,
    )
    y = engine.gather(mixture_steps.responsibilities, scaling, q)
    np.testing.assert_allclose(y, degrees.astype(float), rtol=0, atol=1e-12)
    np.testing.assert_allclose(y.sum(axis=1), 1.0, atol=1e-14)
    labels = engine.gather(mixture_steps.labels, scaling, q)
    assert np.all(degrees[np.arange(len(X)), labels] >= degrees.max(axis=1) - 1e-12)
    scale = 1e-12 * max(1.0, float(np.abs(second).max()))
    np.testing.assert_allclose(found.mass, mass.astype(float), rtol=0, atol=scale)
    np.testing.assert_allclose(found.first, first.astype(float), rtol=0, atol=scale)
    if q.kind == "tied":
        assert found.second is None
    else:
        wanted = in_kind(second, q.kind).astype(float)
        np.testing.assert_allclose(found.second, wanted, rtol=0, atol=2 * scale)


def check_somewhere(X: Any, q: Densities, weighted: bool, simd: str, seed: int) -> None:
    """Check a sweep with weights or without, on one of the machine's levels."""
    w = np.random.default_rng(seed).uniform(0.1, 3, len(X)) if weighted else None
    with level(simd):
        check(X, w, q, MemoryEngine(X, w))


def near(kind: Kind, k: int, d: int, seed: int, within: float = 1.0) -> Densities:
    """Overlapping components with means `within` standard deviations from the origin.

    Up to eight deviations, no mean is subtracted from rows, and moments are about the origin.
    """
    q = model(kind, k, d, seed)
    means = np.empty((k, d))
    for c in range(k):
        f = q.factor(c)
        whitened = q.means[c] @ f if np.ndim(f) == 2 else q.means[c] * f
        means[c] = q.means[c] * (within / np.linalg.norm(whitened))
    return replace(q, means=means)


def assert_same_bits(found: Moments, wanted: Moments) -> None:
    assert found.log_likelihood == wanted.log_likelihood
    assert np.array_equal(found.mass, wanted.mass)
    assert np.array_equal(found.first, wanted.first)
    assert (found.second is None) == (wanted.second is None)
    assert found.second is None or np.array_equal(found.second, wanted.second)
