"""Powers of two that bring data to a range in which float64 squares neither overflow nor vanish.

Multiplying by a power of two changes no digit, so the clustering of the scaled data is the
clustering of the data. Drivers and kernels never see that it happened.
"""

from __future__ import annotations

import sys
import warnings
from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from coterie.algorithms.kmeans.records import Iteration, Run, RunRecord, TraceStep
from coterie.algorithms.mixture.records import MixtureIteration, MixtureRun
from coterie.arrays import Floats
from coterie.kernels.scan_steps import Extent

# As exponents of two. Squares of differences must be float64 numbers, and exact sums need room.
LARGEST_SPREAD = 480
SMALLEST_SPREAD = -300
LEAST_SPREAD = -480  # below this even after scaling, squares would vanish
LARGEST_VALUE = 900
LARGEST_SQUARE = 1000
LEAST_VALUE = -432  # of data scaled down: squares of differences in its last digit remain
SMALLEST_NORMAL = -1022
NARROWEST = -1072  # columns from minus the smallest float64 to the smallest are narrower
WEIGHT_RANGE = 300
LARGEST_TOTAL = 2.0**1023  # of weights: no rounding brings such a sum to infinity
LARGEST_MIXTURE = 2.0**1000  # of weights, which a log-likelihood multiplies
FAR = -545  # brings any difference of two float64 numbers below 2**LARGEST_SPREAD

Record = TypeVar("Record", Run, RunRecord, Iteration, TraceStep, MixtureRun, MixtureIteration)


def times_power(values: Any, exponent: int) -> Any:
    """``values * 2**exponent`` as float64; infinite or zero where float64 ends."""
    if exponent == 0:
        return values
    with np.errstate(over="ignore", under="ignore"):
        return np.ldexp(np.asarray(values, dtype=np.float64), exponent)


def scaled_rows(X: Any, exponent: int) -> Any:
    """Rows times ``2**exponent``, as float64; the rows themselves where the exponent is zero."""
    if exponent == 0:
        return X
    if sparse.issparse(X):
        data = times_power(X.data, exponent)
        return sparse.csr_array((data, X.indices, X.indptr), shape=X.shape)
    return times_power(X, exponent)


@dataclass(frozen=True)
class Units:
    """The units of the drivers: rows times ``2**row_exponent``, weights times
    ``2**weight_exponent``."""

    row_exponent: int = 0
    weight_exponent: int = 0

    def rows_in(self, values: Any) -> Any:
        """Rows or means of the user, as the drivers have them."""
        return times_power(values, self.row_exponent)

    def rows_out(self, values: Any) -> Any:
        """Rows or means of the drivers, as the user has them."""
        return times_power(values, -self.row_exponent)

    def weights_out(self, values: Any) -> Any:
        """Weights of the drivers, as the user has them."""
        return times_power(values, -self.weight_exponent)

    def restored(self, record: Record) -> Record:
        """A record of a fit in the units of the user."""
        if self == Units():
            return record
        powers = POWERS[type(record)]
        changes: dict[str, Any] = {}
        for field in fields(record):
            value = getattr(record, field.name)
            if field.name in powers:
                of_rows, of_weights = powers[field.name]
                exponent = -of_rows * self.row_exponent - of_weights * self.weight_exponent
                power = times_power(value, exponent)
                changes[field.name] = float(power) if isinstance(value, float) else power
            elif field.name in ("history", "trace") and value and type(value[0]) in POWERS:
                changes[field.name] = tuple(self.restored(part) for part in value)
        return replace(record, **changes)


# The fields of records that have units, as powers of those of the rows and of the weights.
OF_RUNS = {
    "means": (1, 0),
    "initial_means": (1, 0),
    "clustering_error": (2, 0),
    "inertia": (2, 1),
    "counts": (0, 1),
}
POWERS: dict[type, dict[str, tuple[int, int]]] = {
    Run: OF_RUNS,
    RunRecord: {name: OF_RUNS[name] for name in OF_RUNS if name != "counts"},
    Iteration: {"error": (2, 0), "largest_move": (1, 0)},
    TraceStep: {"means": (1, 0)},
    MixtureRun: {"soft_clustering_error": (0, 1)},  # rows keep their units in a mixture
    MixtureIteration: {"error": (0, 1), "decrease": (0, 1)},
}


@dataclass(frozen=True)
class Reach:
    """Range of values: by column the lowest, the highest, and the smallest magnitude but zero."""

    low: Floats
    high: Floats
    tiny: Floats

    @classmethod
    def of(cls, extent: Extent) -> Reach:
        return cls(extent.low, extent.high, extent.tiny)

    @classmethod
    def of_means(cls, means: Floats) -> Reach:
        sizes = np.where(means == 0, np.inf, np.abs(means))
        return cls(means.min(axis=0), means.max(axis=0), sizes.min(axis=0))

    def __or__(self, other: Reach) -> Reach:
        return Reach(
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
            np.minimum(self.tiny, other.tiny),
        )

    @property
    def spread(self) -> int | None:
        """The smallest e with all columns narrower than 2**e; None if every column is constant."""
        widest = float(np.max(0.5 * self.high - 0.5 * self.low))
        if widest == 0 and (self.high > self.low).any():  # halves of the smallest float64 are zero
            return NARROWEST
        return None if widest == 0 else int(np.frexp(widest)[1]) + 1

    @property
    def value(self) -> int:
        """The smallest e with all values below 2**e in magnitude."""
        return int(np.frexp(max(np.abs(self.low).max(), np.abs(self.high).max()))[1])

    @property
    def least(self) -> float:
        return float(self.tiny.min())


def row_exponent(reach: Reach, *, largest_value: int = LARGEST_VALUE) -> int:
    """The power of two for the rows: zero for ordinary data."""
    spread, value = reach.spread, reach.value
    exponent = min(0, largest_value - value)
    if spread is not None and spread + exponent > LARGEST_SPREAD:
        exponent = LARGEST_SPREAD - spread
    elif spread is not None and spread + exponent < SMALLEST_SPREAD:
        exponent = min(SMALLEST_SPREAD - spread, largest_value - value)
    vanishing = exponent < 0 and np.frexp(reach.least)[1] - 1 + exponent < LEAST_VALUE
    if vanishing or (spread is not None and spread + exponent < LEAST_SPREAD):
        size = max(np.abs(reach.low).max(), np.abs(reach.high).max())
        width = min(2 * float(np.max(0.5 * reach.high - 0.5 * reach.low)), sys.float_info.max)
        raise ValueError(
            "X spans more orders of magnitude than float64 can square and compare: expected "
            f"columns of similar size, got values from {reach.least:.3g} to {size:.3g} in "
            f"magnitude, in columns up to {width:.3g} wide. Set tiny values to zero, drop "
            "constant columns, or rescale the columns (for example with StandardScaler)."
        )
    return exponent


def check_total(
    weights: NDArray[np.float64] | None, largest: float, name: str = "sample_weight"
) -> None:
    """Refuse weights whose sum would not be a float64 number, or too near the end of them."""
    if weights is None:
        return
    with np.errstate(over="ignore"):
        total = float(weights.sum())
    if not total <= largest:
        raise ValueError(
            f"{name} adds up to more than {largest:.0e}, near the end of float64: expected "
            "weights with a smaller sum. Divide all weights by the largest of them; only ratios "
            "of weights matter to where clusters are."
        )


def weight_exponent(
    weights: NDArray[np.float64] | None, largest_total: float = LARGEST_TOTAL
) -> int:
    """The power of two for the weights, which are positive."""
    if weights is None:
        return 0
    check_total(weights, largest_total)
    largest, smallest = float(weights.max()), float(weights.min())
    top, bottom = int(np.frexp(largest)[1]), int(np.frexp(smallest)[1])
    exponent = 0
    if top > WEIGHT_RANGE:
        exponent = WEIGHT_RANGE - top
    elif bottom < -WEIGHT_RANGE:
        exponent = min(-WEIGHT_RANGE - bottom, WEIGHT_RANGE - top)
    if bottom + exponent < -2 * WEIGHT_RANGE:
        raise ValueError(
            "sample_weight spans more orders of magnitude than exact sums can: expected weights "
            f"within a factor of about 1e270, got weights from {smallest:.3g} to {largest:.3g}. "
            "Set negligible weights to zero."
        )
    return exponent


def warn_of_infinity(name: str, stacklevel: int) -> None:
    """Warn of answers that are infinite because float64 ends."""
    warnings.warn(
        f"{name} overflow float64 and are given as infinity; labels are right. Rescale X.",
        RuntimeWarning,
        stacklevel=stacklevel,
    )
