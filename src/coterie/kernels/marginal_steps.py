"""The steps of `mixture_steps` for rows with missing cells, which are NaN.

A row counts by the coordinates it has: the marginal of a Gaussian is Gaussian again. Rows with
the same cells present are swept together, by the same kernels, over those columns alone; what a
component expects of the other columns follows from the sums, so that no row is ever filled in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from coterie.kernels import _native, mixture_steps, triangles
from coterie.kernels.block import Block
from coterie.kernels.exact import Floats
from coterie.kernels.mixture_steps import Densities, Frame, Moments, Sums

ROWS_AT_ONCE = 1 << 16
WORTH_A_TEAM = 1 << 16  # values: less is swept before a second thread has woken
LOG_2_PI = float(np.log(2 * np.pi))

Columns = NDArray[np.intp]
Answer = TypeVar("Answer", bound=NDArray[Any])


@dataclass(frozen=True)
class Pattern:
    """Rows of a block that have the same cells."""

    rows: NDArray[np.intp]
    seen: Columns
    gone: Columns
    block: Block | None  # over the columns seen; None if there are none


def patterns(block: Block) -> list[Pattern]:
    """Rows grouped by their missing cells. A cache: the same for every model."""
    if "patterns" not in block.cache:
        block.cache["patterns"] = _patterns(block)
    found: list[Pattern] = block.cache["patterns"]
    return found


def _patterns(block: Block) -> list[Pattern]:
    distinct, which = _distinct(
        np.packbits(np.isnan(block.rows.values_at(rows)), axis=1) for rows in _batches(block.n_rows)
    )
    order = np.argsort(which, kind="stable")
    ends = np.cumsum(np.bincount(which))
    groups = np.split(order, ends[:-1])
    n_columns, alone = block.rows.n_columns, _native.Team(1)
    found = []
    for key, rows in zip(distinct, groups, strict=True):
        missing = np.unpackbits(key, count=n_columns).astype(bool)
        seen = np.flatnonzero(~missing)
        own = None
        if len(seen):
            values = np.concatenate(
                [block.rows.values_at(rows[part])[:, seen] for part in _batches(len(rows))]
            )
            weights = None if block.weights is None else block.weights[rows]
            team = block.team if values.size > WORTH_A_TEAM else alone
            own = Block.over(np.ascontiguousarray(values), weights, team)
        found.append(Pattern(rows, seen, np.flatnonzero(missing), own))
    return found


def _distinct(batches: Iterable[NDArray[np.uint8]]) -> tuple[NDArray[np.uint8], NDArray[Any]]:
    """The different rows of all batches in ascending order, and which of them each row is; batch
    by batch, so that Ctrl-C is heard."""
    of_batches, places = [], []
    for bits in batches:
        found, place = np.unique(bits, axis=0, return_inverse=True)
        of_batches.append(found)
        places.append(place.ravel())
    distinct, names = np.unique(np.concatenate(of_batches), axis=0, return_inverse=True)
    fewest = np.min_scalar_type(len(distinct))  # small numbers are sorted much faster
    named = np.split(names.ravel().astype(fewest), np.cumsum([len(own) for own in of_batches])[:-1])
    return distinct, np.concatenate([own[place] for own, place in zip(named, places, strict=True)])


def _batches(n: int) -> list[NDArray[np.intp]]:
    return [np.arange(a, min(n, a + ROWS_AT_ONCE)) for a in range(0, n, ROWS_AT_ONCE)]


def sweep(block: Block, frame: Frame, densities: Densities, *, moments: bool = True) -> Sums:
    """E step and the sums of the M step, expected over the missing cells.

    Shared covariances give full second moments, since a total scatter exists only for whole rows.
    """
    if densities.kind == "tied":
        densities = densities.untied()
    model = Marginals(frame, densities)
    k, d = densities.means.shape
    total = np.zeros(1 + k + k * d + _second_size(densities.kind, k, d))
    for pattern in patterns(block):
        total += _flat(model.moments(pattern, block.weights), densities.kind)
    return Sums(densities.kind, k, d, {(0, block.first // mixture_steps.chunk_rows(d)): total})


def score_samples(block: Block, frame: Frame, densities: Densities) -> Floats:
    """(n,) log-likelihood of what is seen of each row; 0 where nothing is."""
    return _row_by_row(block, frame, densities, mixture_steps.score_samples)


def responsibilities(block: Block, frame: Frame, densities: Densities) -> Floats:
    """(n, k) degrees of belonging; the weights of the mixture where nothing is seen."""
    return _row_by_row(block, frame, densities, mixture_steps.responsibilities)


def labels(block: Block, frame: Frame, densities: Densities) -> NDArray[np.int32]:
    """(n,) the component with the largest degree, the lowest index among equals."""
    return _row_by_row(block, frame, densities, mixture_steps.labels)


def _row_by_row(
    block: Block,
    frame: Frame,
    densities: Densities,
    step: Callable[[Block, Frame, Densities], Answer],
) -> Answer:
    model = Marginals(frame, densities)
    whole: Any = None
    for pattern in patterns(block):
        part = model.answer(pattern, step)
        if whole is None:
            whole = np.empty((block.n_rows, *part.shape[1:]), dtype=part.dtype)
        whole[pattern.rows] = part
    answer: Answer = whole
    return answer


class Marginals:
    """A mixture, as rows see it that have only some of the columns. In the frame's units."""

    def __init__(self, frame: Frame, densities: Densities) -> None:
        self.frame, self.densities = frame, densities
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
        self.whole = factors.ndim == 3
        diagonals = np.diagonal(factors, axis1=1, axis2=2) if self.whole else factors
        peaks = np.log(diagonals).sum(axis=1) - 0.5 * d * LOG_2_PI
        self.log_weights = densities.offsets - peaks

    def of(self, seen: Columns, factors: Floats) -> tuple[Frame, Densities]:
        """The same mixture over some of the columns, with the factors it has there."""
        frame = Frame(self.frame.origin[seen], self.frame.exponent[seen])
        diagonals = np.diagonal(factors, axis1=1, axis2=2) if self.whole else factors
        peaks = np.log(diagonals).sum(axis=1) - 0.5 * len(seen) * LOG_2_PI
        return frame, Densities(
            "full" if self.whole else "diag",
            self.log_weights + peaks,
            np.ascontiguousarray(self.densities.means[:, seen]),
            triangles.folded(factors) if self.whole else np.ascontiguousarray(factors),
            np.ascontiguousarray(self.centres[:, seen]),
        )

    def _log_unit(self, columns: Columns) -> float:
        return Frame(self.frame.origin[columns], self.frame.exponent[columns]).log_unit

    def answer(
        self, pattern: Pattern, step: Callable[[Block, Frame, Densities], Answer]
    ) -> NDArray[Any]:
        """What a step says of the rows of a pattern."""
        if pattern.block is not None:
            seen, gone = pattern.seen, pattern.gone
            own = split(self.factors, seen, gone).seen if self.whole else self.factors[:, seen]
            return step(pattern.block, *self.of(seen, own))
        weights = np.exp(self.log_weights)
        if step is mixture_steps.score_samples:
            return np.zeros(len(pattern.rows))
        if step is mixture_steps.responsibilities:
            return np.tile(weights, (len(pattern.rows), 1))
        return np.full(len(pattern.rows), int(np.argmax(weights)), dtype=np.int32)

    def moments(self, pattern: Pattern, weights: Floats | None) -> Moments:
        """Sums over the rows of a pattern, with what is expected of the columns gone.

        Given the columns s that are seen, component c expects of the others, g,
        x_g = m_g + A (x_s - m_s), up to a covariance D (see `Split`).
        About the centre: x_g - c_g = A (x_s - c_s) + b with b = m_g - c_g + A (c_s - m_s).
        """
        seen, gone = pattern.seen, pattern.gone
        k, d = self.centres.shape
        parts = split(self.factors, seen, gone) if self.whole else None
        if pattern.block is None:
            own = np.ones(len(pattern.rows)) if weights is None else weights[pattern.rows]
            mass = float(own.sum()) * np.exp(self.log_weights)
            part = Moments(0.0, mass, np.zeros((k, 0)), np.zeros((k, 0)))
        else:
            own = self.factors[:, seen] if parts is None else parts.seen
            part = mixture_steps.sweep(pattern.block, *self.of(seen, own)).moments
        assert part.second is not None
        first = np.zeros((k, d))
        second = np.zeros((k, d, d) if self.whole else (k, d))
        first[:, seen] = part.first
        shift = self.densities.means - self.centres
        mass = part.mass[:, np.newaxis]
        # Densities are by the unit cube of the whole frame, whatever a row has of it.
        log_likelihood = part.log_likelihood + float(part.mass.sum()) * self._log_unit(gone)
        if parts is None:
            b = shift[:, gone]
            first[:, gone] = mass * b
            second[:, seen] = part.second
            second[:, gone] = mass * (b * b + 1.0 / self.factors[:, gone] ** 2)
            return Moments(log_likelihood, part.mass, first, second)
        A, D = parts.regression, parts.spread
        b = shift[:, gone] - _times(A, shift[:, seen])
        Af = _times(A, part.first)
        first[:, gone] = Af + mass * b
        among = triangles.symmetric(part.second)
        cross = A @ among + _outer(b, part.first)
        within = cross @ _turned(A) + _outer(Af, b) + mass[:, np.newaxis] * (_outer(b, b) + D)
        s, g = seen[:, np.newaxis], gone[:, np.newaxis]
        second[:, s, seen] = among
        second[:, g, seen] = cross
        second[:, s, gone] = _turned(cross)
        second[:, g, gone] = within
        return Moments(log_likelihood, part.mass, first, triangles.folded(second))


@dataclass(frozen=True)
class Split:
    """Components by the columns seen, s, and gone, g."""

    seen: Floats  # (k, s, s) upper U with U U' = C_ss^-1
    regression: Floats  # (k, g, s) A = C_gs C_ss^-1
    spread: Floats  # (k, g, g) D = C_gg - A C_sg


def split(factors: Floats, seen: Columns, gone: Columns) -> Split:
    """From factors of the inverse covariances, (k, d, d), alone: a covariance holds a spread near
    the floor to a few digits only.

    Rotations keep U U', and bring the rows of U, those of g first, to a lower triangle
    [G 0; B S]. Then S is a factor of C_ss^-1, A = -G'^-1 B' and D = G'^-1 G^-1.
    """
    order = np.concatenate([gone, seen[::-1]])  # a lower triangle backwards is an upper one
    lower = _turned(np.asarray(np.linalg.qr(_turned(factors[:, order]), mode="r")))
    n = len(gone)
    G, B, S = lower[:, :n, :n], lower[:, n:, :n], lower[:, n:, n:]
    S = S * np.sign(np.diagonal(S, axis1=1, axis2=2))[:, np.newaxis]
    inverse = np.linalg.inv(G)
    regression = -_turned(B @ inverse)
    return Split(S[:, ::-1, ::-1], regression[:, :, ::-1], _turned(inverse) @ inverse)


def _times(matrices: Floats, vectors: Floats) -> Floats:
    """(k, a, b) times (k, b)"""
    return np.asarray((matrices @ vectors[:, :, np.newaxis])[:, :, 0])


def _outer(a: Floats, b: Floats) -> Floats:
    return np.asarray(a[:, :, np.newaxis] * b[:, np.newaxis, :])


def _turned(matrices: NDArray[Any]) -> Floats:
    return np.asarray(np.swapaxes(matrices, 1, 2))


def _second_size(kind: str, k: int, d: int) -> int:
    return {"full": k * triangles.size(d), "diag": k * d, "spherical": k}[kind]


def _flat(moments: Moments, kind: str) -> Floats:
    """As `Sums` lays them out."""
    second = moments.second
    assert second is not None
    if kind == "spherical":
        second = second.sum(axis=1)
    return np.concatenate(
        [[moments.log_likelihood], moments.mass, moments.first.ravel(), second.ravel()]
    )
