"""The steps of `mixture_steps` for rows with missing cells, which are NaN.

A row counts by its observed coordinates: the marginal of a Gaussian is Gaussian again. Rows with
the same cells present (a pattern) are swept together, by the same kernels, over those columns
alone. The conditional expectations of the other columns follow from the sums, so that no row is
filled in: EM for missing data as in Ghahramani and Jordan (1994), a pattern at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from coterie.arrays import Floats, Integers
from coterie.kernels import _native, mixture_steps, triangles
from coterie.kernels.block import LEAF_ROWS, OF_THE_ROWS, Block
from coterie.kernels.mixture_steps import LOG_2_PI, Densities, Standardization, Sums
from coterie.kernels.tree_sum import TreeSum

VALUES_FOR_A_TEAM = 1 << 16  # fewer are swept before a second thread has woken

Columns = NDArray[np.intp]
Answer = TypeVar("Answer", bound=NDArray[Any])


@dataclass(frozen=True)
class CellRange:
    """Ranges and numbers of the cells that are present, column by column."""

    low: Floats  # (d,)
    high: Floats  # (d,)
    count: Integers  # (d,)
    infinite: int  # cells that hold an infinity
    first_infinite: tuple[int, int] | None  # row and column of the first of them

    def __add__(self, other: CellRange) -> CellRange:
        firsts = (self.first_infinite, other.first_infinite)
        return CellRange(
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
            self.count + other.count,
            self.infinite + other.infinite,
            min((place for place in firsts if place is not None), default=None),
        )


def cell_range(block: Block) -> CellRange:
    """Ranges of the cells that are present; infinities are counted apart too."""
    found: CellRange | None = None
    for rows in _batches(block.n_rows):
        X = np.asarray(block.data[rows], dtype=np.float64)
        present, infinite = ~np.isnan(X), np.isinf(X)
        places = np.argwhere(infinite)
        part = CellRange(
            np.where(present, X, np.inf).min(axis=0),
            np.where(present, X, -np.inf).max(axis=0),
            present.sum(axis=0),
            len(places),
            (block.first + rows.start + int(places[0, 0]), int(places[0, 1]))
            if len(places)
            else None,
        )
        found = part if found is None else found + part
    assert found is not None
    return found


def cell_totals(block: Block, unit: Floats) -> TreeSum:
    """(1 + 2 d,) sums over the rows: of w; by column, of w and of w x / unit over cells present.

    A fixed tree over leaves keeps the bits.
    """
    sums = {}
    for leaf, rows in block.leaves():
        X = block.data[rows]
        present = ~np.isnan(X)
        w = np.ones(len(X)) if block.weights is None else block.weights[rows]
        values = w[:, np.newaxis] * (np.where(present, X, 0.0) / unit)
        observed = (w[:, np.newaxis] * present).sum(axis=0)
        sums[leaf] = np.concatenate([[w.sum()], observed, values.sum(axis=0)])
    return TreeSum.of_leaves(sums.items())


@dataclass(frozen=True)
class PatternRows:
    """Rows of one leaf that have the same cells."""

    leaf: int  # its number in the whole data
    rows: NDArray[np.intp]  # places in the block
    block: Block | None  # over the observed columns; None if there are none
    weights: Floats | None

    @property
    def mass(self) -> float:
        """Weight of the rows."""
        return float(len(self.rows) if self.weights is None else self.weights.sum())


@dataclass(frozen=True)
class Pattern:
    """A set of observed columns, and the rows of a block that have just these, leaf by leaf."""

    observed: Columns
    missing: Columns
    leaves: list[PatternRows]


def patterns(block: Block) -> list[Pattern]:
    """Rows grouped by their missing cells; kept in a cache, since no model changes them."""
    cache = block.cache(OF_THE_ROWS)
    if "patterns" not in cache:
        cache["patterns"] = _patterns(block)
    found: list[Pattern] = cache["patterns"]
    return found


def _patterns(block: Block) -> list[Pattern]:
    n_columns, alone = block.rows.n_columns, _native.Team(1)
    found: dict[bytes, Pattern] = {}
    for leaf, own in block.leaves():
        X = block.data[own]
        bits = np.packbits(np.isnan(X), axis=1)
        keys = bits.view(np.dtype((np.void, bits.shape[1]))).ravel()
        distinct, which = np.unique(keys, return_inverse=True)
        order = np.argsort(which, kind="stable")
        groups = np.split(order, np.cumsum(np.bincount(which))[:-1])
        for key, rows in zip(distinct, groups, strict=True):
            if (pattern := found.get(key.tobytes())) is None:
                packed = np.frombuffer(key.tobytes(), np.uint8)
                missing = np.unpackbits(packed, count=n_columns).astype(bool)
                pattern = Pattern(np.flatnonzero(~missing), np.flatnonzero(missing), [])
                found[key.tobytes()] = pattern
            weights = None if block.weights is None else block.weights[own][rows]
            part = None
            if len(pattern.observed):
                values = np.ascontiguousarray(X[rows][:, pattern.observed])
                team = block.team if values.size > VALUES_FOR_A_TEAM else alone
                part = Block.over(values, weights, team)
            pattern.leaves.append(PatternRows(leaf, own.start + rows, part, weights))
    return [found[key] for key in sorted(found)]


def _batches(n: int) -> list[slice]:
    return [slice(a, min(n, a + LEAF_ROWS)) for a in range(0, n, LEAF_ROWS)]


def sweep(
    block: Block, scaling: Standardization, densities: Densities, *, moments: bool = True
) -> Sums:
    """E step and the sums of the M step, expected over the missing cells.

    Shared covariances give full second moments, since a total scatter exists for whole rows only.
    Patterns are added in the order of their keys, which decides the last bits of a leaf.
    """
    if densities.kind == "tied":
        densities = densities.untied()
    model = Marginals(scaling, densities)
    k, d = densities.means.shape
    size = 1 + k + k * d + _second_size(densities.kind, k, d)
    sums = {leaf: np.zeros(size) for leaf, _ in block.leaves()}
    for pattern in patterns(block):
        found = model.moments(model.of(pattern), pattern.leaves)
        for rows, own in zip(pattern.leaves, found, strict=True):
            sums[rows.leaf] += own
    return Sums(densities.kind, k, d, TreeSum.of_leaves(sums.items()))


def score_samples(block: Block, scaling: Standardization, densities: Densities) -> Floats:
    """(n,) log-likelihood of the observed cells of each row; 0 for a row without any."""
    return _row_by_row(block, scaling, densities, mixture_steps.score_samples)


def responsibilities(block: Block, scaling: Standardization, densities: Densities) -> Floats:
    """(n, k) degrees of belonging; the weights of the mixture for a row without observed cells."""
    return _row_by_row(block, scaling, densities, mixture_steps.responsibilities)


def labels(block: Block, scaling: Standardization, densities: Densities) -> NDArray[np.int32]:
    """(n,) the component with the largest degree, the lowest index among equals."""
    return _row_by_row(block, scaling, densities, mixture_steps.labels)


def _row_by_row(
    block: Block,
    scaling: Standardization,
    densities: Densities,
    step: Callable[[Block, Standardization, Densities], Answer],
) -> Answer:
    model = Marginals(scaling, densities)
    whole: Any = None
    for pattern in patterns(block):
        marginal = model.of(pattern)
        for rows in pattern.leaves:
            part = model.answer(marginal, rows, step)
            if whole is None:
                whole = np.empty((block.n_rows, *part.shape[1:]), dtype=part.dtype)
            whole[rows.rows] = part
    answer: Answer = whole
    return answer


@dataclass(frozen=True)
class Marginal:
    """The mixture over the observed columns of a pattern, and the conditional of the others."""

    observed: Columns
    missing: Columns
    scaling: Standardization
    densities: Densities
    conditional: Conditional | None  # None: diagonal covariances, with independent columns


class Marginals:
    """The marginals of a mixture for rows with some of the columns, in standardized units."""

    def __init__(self, scaling: Standardization, densities: Densities) -> None:
        self.scaling, self.densities = scaling, densities
        k, d = densities.means.shape
        self.centres = densities.means if densities.centres is None else densities.centres
        factors = densities.factors
        if densities.kind == "full":
            factors = triangles.upper(factors)
        elif densities.kind == "tied":
            factors = np.broadcast_to(factors, (k, d, d))
        elif densities.kind == "spherical":
            factors = np.broadcast_to(factors[:, np.newaxis], (k, d))
        self.factors = factors  # (k, d, d) upper, or (k, d)
        self.has_matrices = factors.ndim == 3
        diagonals = np.diagonal(factors, axis1=1, axis2=2) if self.has_matrices else factors
        peaks = np.log(diagonals).sum(axis=1) - 0.5 * d * LOG_2_PI
        self.log_weights = densities.offsets - peaks

    def of(self, pattern: Pattern) -> Marginal:
        """The mixture over the columns of a pattern."""
        observed, missing = pattern.observed, pattern.missing
        others = conditional(self.factors, observed, missing) if self.has_matrices else None
        factors = self.factors[:, observed] if others is None else others.factors
        scaling = Standardization(self.scaling.origin[observed], self.scaling.exponent[observed])
        diagonals = np.diagonal(factors, axis1=1, axis2=2) if self.has_matrices else factors
        peaks = np.log(diagonals).sum(axis=1) - 0.5 * len(observed) * LOG_2_PI
        densities = Densities(
            "full" if self.has_matrices else "diag",
            self.log_weights + peaks,
            np.ascontiguousarray(self.densities.means[:, observed]),
            triangles.packed(factors) if self.has_matrices else np.ascontiguousarray(factors),
            np.ascontiguousarray(self.centres[:, observed]),
        )
        return Marginal(observed, missing, scaling, densities, others)

    def _log_unit(self, columns: Columns) -> float:
        return Standardization(
            self.scaling.origin[columns], self.scaling.exponent[columns]
        ).log_unit

    def answer(
        self,
        marginal: Marginal,
        rows: PatternRows,
        step: Callable[[Block, Standardization, Densities], Answer],
    ) -> NDArray[Any]:
        """The answer of a step for the rows of a pattern."""
        if rows.block is not None:
            return step(rows.block, marginal.scaling, marginal.densities)
        n, weights = len(rows.rows), np.exp(self.log_weights)
        if step is mixture_steps.score_samples:
            return np.zeros(n)
        if step is mixture_steps.responsibilities:
            return np.tile(weights, (n, 1))
        return np.full(n, int(np.argmax(weights)), dtype=np.int32)

    def moments(self, marginal: Marginal, leaves: list[PatternRows]) -> Floats:
        """(leaves, size) expected sums over the rows of a pattern, each leaf by itself.

        Numbers stand in the order of `Sums`. Let o be the observed columns, and h the missing ones.
        Given x_o, component c has the mean x_h = m_h + A (x_o - m_o) and the covariance D (see
        `Conditional`). About the centre: x_h - c_h = A (x_o - c_o) + b with
        b = m_h - c_h + A (c_o - m_o).
        """
        observed, missing, others = marginal.observed, marginal.missing, marginal.conditional
        (k, d), n = self.centres.shape, len(leaves)
        log_likelihood, mass, observed_first, observed_second = self._of_observed(marginal, leaves)
        first = np.zeros((n, k, d))
        second = np.zeros((n, k, d, d) if self.has_matrices else (n, k, d))
        first[:, :, observed] = observed_first
        shift = self.densities.means - self.centres
        m = mass[:, :, np.newaxis]
        # Densities are by the unit cube of all standardized columns, also for a row with a few.
        log_likelihood = log_likelihood + mass.sum(axis=1) * self._log_unit(missing)
        if others is None:
            b = shift[:, missing]
            first[:, :, missing] = m * b
            second[:, :, observed] = observed_second
            second[:, :, missing] = m * (b * b + 1.0 / self.factors[:, missing] ** 2)
            if self.densities.kind == "spherical":
                second = second.sum(axis=2)
        else:
            A, D = others.regression, others.covariances
            b = shift[:, missing] - _times(A, shift[:, observed])
            Af = _times(A, observed_first)
            first[:, :, missing] = Af + m * b
            among = triangles.symmetric(observed_second)
            cross = A @ among + _outer(b, observed_first)
            within = (
                cross @ _transposed(A) + _outer(Af, b) + m[..., np.newaxis] * (_outer(b, b) + D)
            )
            o, h = observed[:, np.newaxis], missing[:, np.newaxis]
            second[:, :, o, observed] = among
            second[:, :, h, observed] = cross
            second[:, :, o, missing] = _transposed(cross)
            second[:, :, h, missing] = within
            second = triangles.packed(second)
        flat = [part.reshape(n, -1) for part in (log_likelihood, mass, first, second)]
        return np.concatenate(flat, axis=1)

    def _of_observed(
        self, marginal: Marginal, leaves: list[PatternRows]
    ) -> tuple[Floats, Floats, Floats, Floats]:
        """Log-likelihoods (leaves,), masses (leaves, k) and moments of the observed cells."""
        k, n, s = len(self.centres), len(leaves), len(marginal.observed)
        if s == 0:
            mass = np.array([rows.mass for rows in leaves])[:, np.newaxis]
            nothing = np.zeros((n, k, 0))
            return np.zeros(n), mass * np.exp(self.log_weights), nothing, nothing
        blocks = [rows.block for rows in leaves if rows.block is not None]
        sums = mixture_steps.swept_apart(blocks, marginal.scaling, marginal.densities)
        first_ends = 1 + k + k * s
        first = sums[:, 1 + k : first_ends].reshape(n, k, s)
        return sums[:, 0], sums[:, 1 : 1 + k], first, sums[:, first_ends:].reshape(n, k, -1)


@dataclass(frozen=True)
class Conditional:
    """The distribution of the missing columns h given the observed columns o, by component."""

    factors: Floats  # (k, o, o) upper U with U U' = C_oo^-1
    regression: Floats  # (k, h, o) A = C_ho C_oo^-1
    covariances: Floats  # (k, h, h) the Schur complement D = C_hh - A C_oh


def conditional(factors: Floats, observed: Columns, missing: Columns) -> Conditional:
    """The conditional, from factors U of the inverse covariances, (k, d, d), alone.

    A covariance would hold a spread near the floor to a few digits only. Orthogonal factors keep
    U U', and QR brings the rows of U, those of h first, to a lower triangle [G 0; B S]. Then S is
    a factor of C_oo^-1, A = -G'^-1 B' and D = G'^-1 G^-1.
    """
    order = np.concatenate([missing, observed[::-1]])  # a lower triangle backwards is an upper one
    lower = _transposed(np.asarray(np.linalg.qr(_transposed(factors[:, order]), mode="r")))
    n = len(missing)
    G, B, S = lower[:, :n, :n], lower[:, n:, :n], lower[:, n:, n:]
    S = S * np.sign(np.diagonal(S, axis1=1, axis2=2))[:, np.newaxis]
    inverse = np.linalg.inv(G)
    regression = -_transposed(B @ inverse)
    return Conditional(S[:, ::-1, ::-1], regression[:, :, ::-1], _transposed(inverse) @ inverse)


def _times(matrices: Floats, vectors: Floats) -> Floats:
    """(..., a, b) times (..., b)"""
    return np.asarray((matrices @ vectors[..., np.newaxis])[..., 0])


def _outer(a: Floats, b: Floats) -> Floats:
    return np.asarray(a[..., :, np.newaxis] * b[..., np.newaxis, :])


def _transposed(matrices: NDArray[Any]) -> Floats:
    return np.asarray(np.swapaxes(matrices, -1, -2))


def _second_size(kind: str, k: int, d: int) -> int:
    return {"full": k * triangles.size(d), "diag": k * d, "spherical": k}[kind]
