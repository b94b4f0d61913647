"""Cases for DBSCAN: many ties, and every kind of number. Hypothesis draws shapes and kinds, a
seeded generator fills the arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from coterie.kernels import reference
from coterie.kernels.dbscan_steps import NAMED_POWERS
from coterie.kernels.reference.dbscan import predict

DATA = ("normal", "lattice", "tenths", "duplicates", "offset", "blobs", "line", "constant", "wild")
WEIGHTS = ("none", "whole", "signed", "float", "thirds")
METRICS = ("euclidean", "manhattan", "chebyshev", "minkowski", "cosine", "haversine")


@dataclass(frozen=True)
class Case:
    X: NDArray[Any]
    eps: float
    min_samples: int
    weights: NDArray[np.float64] | None = None
    metric: str = "euclidean"
    p: float | None = None

    @property
    def parameters(self) -> dict[str, Any]:
        return {
            "eps": self.eps,
            "min_samples": self.min_samples,
            "metric": self.metric,
            "p": self.p,
        }

    @property
    def plain(self) -> dict[str, Any]:
        """The metric of the reference: powers 1, 2 and infinity have their own names."""
        by_name = self.metric == "minkowski" and self.p in NAMED_POWERS
        return {"metric": NAMED_POWERS[self.p] if by_name else self.metric, "p": self.p}

    @property
    def repeatable(self) -> NDArray[np.bool_]:
        """Rows that are nearby to a copy of themselves: rows of zeros have no direction."""
        return np.full(len(self.X), self.metric != "cosine") | self.X.any(axis=1)

    def definition(self) -> reference.Clusters:
        return reference.dbscan(self.X, self.eps, self.min_samples, self.weights, **self.plain)

    def nearby(self, new: NDArray[Any] | None = None) -> NDArray[np.bool_]:
        rows = self.X if new is None else new
        near = reference.nearby(rows, self.X, self.eps, **self.plain)
        return near | np.eye(len(near), dtype=bool) if new is None else near

    def predictions(self, new: NDArray[Any]) -> NDArray[np.intp]:
        return predict(self.X, self.definition(), new, self.eps, **self.plain)


def make_rows(kind: str, n: int, d: int, rng: np.random.Generator) -> NDArray[np.float64]:
    normal = rng.normal(size=(n, d))
    match kind:
        case "lattice":
            return rng.integers(0, 5, size=(n, d)).astype(float)
        case "tenths":  # 0.1 is no binary number: ties at eps that only rounding decides
            return rng.integers(0, 6, size=(n, d)) * 0.1
        case "duplicates":
            return normal[rng.integers(max(1, n // 4), size=n)]
        case "offset":
            return np.round(normal * 4) / 4 + 1e9
        case "blobs":
            return 8 * rng.normal(size=(4, d))[rng.integers(4, size=n)] + normal
        case "line":
            return np.linspace(0, 1, n)[:, np.newaxis] * np.ones(d)
        case "constant":
            return np.full((n, d), 0.3)
        case "wild":
            return normal * 10.0 ** rng.uniform(-8, 8, size=(n, 1))
    return normal


def make_weights(kind: str, n: int, rng: np.random.Generator) -> NDArray[np.float64] | None:
    match kind:
        case "whole":
            weights = rng.integers(0, 4, size=n).astype(float)
        case "signed":
            weights = rng.integers(-2, 4, size=n).astype(float)
        case "float":
            weights = rng.normal(1, 1, size=n)
        case "thirds":  # sums that round to a whole number, and sums that nearly do
            weights = rng.integers(1, 7, size=n) / 3.0
        case _:
            return None
    weights[0] = 2.0  # not all zero
    return weights


def make_eps(X: NDArray[Any], kind: str, metric: str, p: float, rng: np.random.Generator) -> float:
    """An eps between no neighbours and all; often a distance of two rows, so that it ties."""
    if metric == "cosine":
        return float(rng.choice([1e-12, 0.01, 0.1, 0.5, 1.0]))
    if metric == "haversine":
        return float(rng.choice([1e-6, 0.1, 0.2, 0.5, 4.0]))
    if kind in ("lattice", "tenths") and rng.random() < 0.7:
        unit = 1.0 if kind == "lattice" else 0.1
        return unit * float(rng.choice([1, np.sqrt(2), 2, 3, np.sqrt(5)]))
    a, b = (np.asarray(X[rng.integers(len(X))], dtype=np.float64) for _ in range(2))
    with np.errstate(over="ignore"):
        distance = {
            "manhattan": np.abs(a - b).sum(),
            "chebyshev": np.abs(a - b).max(),
            "minkowski": (np.abs(a - b) ** p).sum() ** (1 / p),
        }.get(metric, np.sqrt(((a - b) ** 2).sum()))
    return float(distance) if distance > 0 else 0.5


@st.composite
def cases(draw: st.DrawFn, *, max_n: int = 60, max_d: int = 8, metrics: Any = METRICS) -> Case:
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    metric = draw(st.sampled_from(metrics))
    p = draw(st.sampled_from([1.0, 1.5, 2.0, 3.0, np.inf])) if metric == "minkowski" else None
    kind = draw(st.sampled_from(DATA))
    n = draw(st.integers(1, max_n))
    d = 2 if metric == "haversine" else draw(st.integers(1, max_d))
    X = make_rows(kind, n, d, rng).astype(draw(st.sampled_from([np.float64, np.float32])))
    if metric == "haversine":
        X = np.remainder(X, 3).astype(X.dtype)
    eps = make_eps(X, kind, metric, 2.0 if p is None or np.isinf(p) else p, rng)
    weights = make_weights(draw(st.sampled_from(WEIGHTS)), n, rng)
    return Case(X, eps, draw(st.integers(1, 8)), weights, metric, p)
