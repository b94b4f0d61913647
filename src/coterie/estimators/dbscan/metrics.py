"""Distances by the names that scikit-learn gives them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.metrics.pairwise import _VALID_METRICS

from coterie.estimators.pieces import pieces
from coterie.kernels.dbscan_steps import METRICS, NAMED_POWERS, Measure

ALIASES = {"l2": "euclidean", "l1": "manhattan", "cityblock": "manhattan"}
POWERS = 960  # an exponent: float64 has larger and smaller numbers, which terms of a sum may be
WITHDRAWN = {"wminkowski"}  # scikit-learn still lists it, SciPy has it no more
METRIC_NAMES = set(_VALID_METRICS) - WITHDRAWN | {"precomputed"}
SPARSE_METRICS = ("euclidean", "manhattan", "cosine")


@dataclass(frozen=True)
class Metric:
    """The distance of rows, by its name and parameters."""

    name: Any  # a string or a callable
    p: float = 2.0
    parameters: dict[str, Any] = field(default_factory=dict)  # for scikit-learn's function

    @classmethod
    def of(cls, metric: Any, p: float | None, parameters: dict[str, Any] | None) -> Metric:
        """The metric of an estimator's parameters; p matters to "minkowski" only."""
        given = dict(parameters or {})
        name = ALIASES.get(metric, metric) if isinstance(metric, str) else metric
        if name != "minkowski":
            if given and name in METRICS:
                raise ValueError(
                    f"metric_params={given!r}: metric={metric!r} has no parameters. Leave "
                    "metric_params out, or choose the metric that they belong to."
                )
            return cls(name, parameters=given)
        power = given.pop("p", p)
        power = 2.0 if power is None else float(power)
        if not power > 0:
            raise ValueError(f"p={power:g}: expected a power above zero for metric='minkowski'.")
        if given.get("w") is None:
            given.pop("w", None)
            name = NAMED_POWERS.get(power, name)
        return cls(name, power, {**given, "p": power} if name == "minkowski" else given)

    @property
    def native(self) -> bool:
        """True if a native kernel has it. A power below one is no metric: no index can use it."""
        if self.name == "minkowski":
            return self.p >= 1 and self.parameters.keys() <= {"p"}
        return self.name in METRICS

    def measure(self, eps: float) -> Measure:
        return Measure(float(eps), self.name, self.p)

    def exponent(self, eps: float) -> int:
        """The power of two by which rows and eps are multiplied so that ``eps ** p`` is a float64
        number: zero where it is one already."""
        if self.name != "minkowski" or math.isinf(self.p) or _is_number(eps, self.p):
            return 0
        exponent = round(-math.log2(eps))
        near_one = math.ldexp(eps, exponent)
        if not _is_number(near_one, self.p):
            largest = POWERS / abs(math.log2(near_one))
            raise ValueError(
                f"p={self.p:g}: eps ** p with eps={eps:g} is beyond float64 in any unit. Expected "
                f"a power of at most {largest:.0f} for this eps. Use metric='chebyshev', which "
                "large powers come close to."
            )
        return exponent

    def check(self, X: Any) -> None:
        """Refuse rows that this metric cannot compare."""
        if self.name == "haversine" and X.shape[1] != 2:
            raise ValueError(
                f"X has {X.shape[1]} columns: metric='haversine' expects two, latitude and "
                "longitude in radians (np.radians converts degrees)."
            )
        if sparse.issparse(X) and not self.native and self.name != "precomputed":
            raise TypeError(
                f"X is sparse: metric={self.name!r} compares dense rows. Use X.toarray(), or a "
                f"metric for sparse rows: {', '.join(SPARSE_METRICS)}."
            )


def _is_number(base: float, power: float) -> bool:
    """True if ``base ** power`` is far from the limits of float64."""
    return abs(power * math.log2(base)) <= POWERS


def check_distances(D: Any, *, square: bool) -> None:
    """Refuse a matrix or a graph that holds no distances."""
    if square and D.shape[0] != D.shape[1]:
        raise ValueError(
            f"X has shape {D.shape}: metric='precomputed' expects a square matrix of the distances "
            "between all rows, or a sparse graph of them."
        )
    values = D.data if sparse.issparse(D) else D
    parts = pieces(len(values), values.nbytes / max(len(values), 1))
    lowest = min((float(values[some].min()) for some in parts), default=0.0)
    if lowest < 0:
        row, column = _first_negative(D)
        raise ValueError(
            f"Negative values in data passed to metric='precomputed': the smallest is {lowest:g}, "
            f"the first at row {row}, column {column}. Expected distances, zero or more."
        )


def _first_negative(D: Any) -> tuple[int, int]:
    if sparse.issparse(D):
        place = int(np.argmax(D.data < 0))
        return int(np.searchsorted(D.indptr, place, side="right")) - 1, int(D.indices[place])
    row, column = np.unravel_index(int(np.argmax(D < 0)), D.shape)
    return int(row), int(column)
