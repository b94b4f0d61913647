"""What Gaussian mixtures ask of one block. Each step is a pure function of (block, model).

Rows are read in a frame of the data's own: z = (x - origin) / 2^exponent, column by column, so
that neither offsets nor units cost digits. Sums are taken over chunks of `chunk_rows` rows counted
from the first row of the whole data, and chunks are added in the order of one fixed binary tree.
Blocks that begin at multiples of `chunk_rows` therefore give the same bits as one block, in
whatever order they are added and by however many threads they were swept.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from coterie.kernels.block import Block
from coterie.kernels.exact import Floats

Kind = Literal["full", "tied", "diag", "spherical"]
LOG_2 = float(np.log(2.0))


@dataclass(frozen=True)
class Frame:
    """Where kernels work: z = (x - origin) / 2^exponent."""

    origin: Floats  # (d,)
    exponent: NDArray[np.int32]  # (d,)

    @classmethod
    def plain(cls, d: int) -> Frame:
        return cls(np.zeros(d), np.zeros(d, dtype=np.int32))

    @property
    def log_unit(self) -> float:
        """Log of the volume of a unit cube of the frame, in the data's units."""
        return LOG_2 * int(self.exponent.sum())


@dataclass(frozen=True)
class Densities:
    """The components of a mixture, as the sweep reads them, in the frame's units."""

    kind: Kind
    offsets: Floats  # (k,) log weight + log of the density's peak in the data's units
    means: Floats  # (k, d)
    factors: Floats  # precisions_cholesky: (k, d, d) upper, (d, d) upper, (k, d) or (k,)
    centres: Floats | None = None  # (k, d) moments are taken about these; None: the means

    @property
    def n_components(self) -> int:
        return len(self.means)


@dataclass(frozen=True)
class Moments:
    """Sums over all rows: log-likelihood, and by component r, r (z - c), r (z - c)(z - c)'.

    r = weight of the row times the degree to which it belongs; c = the component's centre.
    """

    log_likelihood: float
    mass: Floats  # (k,)
    first: Floats  # (k, d)
    second: Floats | None  # full (k, d, d), diag (k, d), spherical (k,) of |z - c|^2, tied: none


@dataclass(frozen=True)
class Sums:
    """Moments on their way: nodes of the tree of chunks, by (level, place)."""

    kind: Kind
    n_components: int
    n_columns: int
    nodes: dict[tuple[int, int], Floats]

    def __add__(self, other: Sums) -> Sums:
        nodes = dict(self.nodes)
        for place, values in other.nodes.items():
            _join(nodes, place, values)
        return Sums(self.kind, self.n_components, self.n_columns, nodes)

    @property
    def moments(self) -> Moments:
        k, d = self.n_components, self.n_columns
        # What is left are complete trees of falling size, from the first row on.
        left = [self.nodes[place] for place in sorted(self.nodes, key=lambda p: p[1] << p[0])]
        total = left[-1].copy()
        for values in reversed(left[:-1]):
            total += values
        mass, first, second = np.split(total[1:], [k, k + k * d])
        shaped: Floats | None = None
        if self.kind == "full":
            rows, columns = np.triu_indices(d)
            shaped = np.empty((k, d, d))
            shaped[:, rows, columns] = shaped[:, columns, rows] = second.reshape(k, -1)
        elif self.kind == "diag":
            shaped = second.reshape(k, d)
        elif self.kind == "spherical":
            shaped = second
        return Moments(float(total[0]), mass, first.reshape(k, d), shaped)


def _join(nodes: dict[tuple[int, int], Floats], place: tuple[int, int], values: Floats) -> None:
    """Add a node; two that share a parent become that parent."""
    level, index = place
    while (sibling := nodes.pop((level, index ^ 1), None)) is not None:
        values = sibling + values  # of two numbers, so the order does not matter
        level, index = level + 1, index >> 1
    nodes[level, index] = values


def chunk_rows(d: int) -> int:
    """Rows that are summed before the tree begins; blocks must begin at multiples of it."""
    return 8192 if d <= 8 else 4096 if d <= 64 else 1024


def sweep(block: Block, frame: Frame, densities: Densities) -> Sums:
    """E step and the sums of the M step in one pass; degrees of belonging are not kept."""
    z = _framed(block, frame)
    logs = _log_densities(z, densities)
    top = logs.max(axis=1)
    total = np.exp(logs - top[:, None]).sum(axis=1)
    scores = top + np.log(total)
    with np.errstate(invalid="ignore"):
        degrees = np.exp(logs - scores[:, None])
    weights = np.ones(len(z)) if block.weights is None else block.weights
    centres = densities.means if densities.centres is None else densities.centres
    return _sums(block, densities.kind, z, degrees * weights[:, None], centres, weights * scores)


def score_samples(block: Block, frame: Frame, densities: Densities) -> Floats:
    """(n,) log-likelihood of each row."""
    logs = _log_densities(_framed(block, frame), densities)
    found: Floats = np.logaddexp.reduce(logs, axis=1)
    return found


def responsibilities(block: Block, frame: Frame, densities: Densities) -> Floats:
    """(n, k) degrees of belonging."""
    logs = _log_densities(_framed(block, frame), densities)
    return np.asarray(np.exp(logs - np.logaddexp.reduce(logs, axis=1)[:, None]))


def labels(block: Block, frame: Frame, densities: Densities) -> NDArray[np.int32]:
    """(n,) the component with the largest degree, the lowest index among equals."""
    logs = _log_densities(_framed(block, frame), densities)
    return np.asarray(logs.argmax(axis=1), dtype=np.int32)


def label_moments(
    block: Block, frame: Frame, kind: Kind, labels: NDArray[np.int32] | None, centres: Floats
) -> Sums:
    """Sums for degrees in {0, 1}: labels (n,) of the whole data, or None: all rows in one."""
    z = _framed(block, frame)
    own = np.zeros(len(z), int) if labels is None else labels[block.first :][: len(z)]
    weights = np.ones(len(z)) if block.weights is None else block.weights
    return _sums(
        block, kind, z, np.eye(len(centres))[own] * weights[:, None], centres, np.zeros(len(z))
    )


def degree_moments(
    block: Block, frame: Frame, kind: Kind, degrees: Floats, centres: Floats
) -> Sums:
    """Sums for given degrees of belonging, (n, k) of the whole data."""
    z = _framed(block, frame)
    own = degrees[block.first :][: len(z)]
    weights = np.ones(len(z)) if block.weights is None else block.weights
    return _sums(block, kind, z, own * weights[:, None], centres, np.zeros(len(z)))


def _framed(block: Block, frame: Frame) -> Floats:
    values = block.rows.values_at(np.arange(block.n_rows))
    return np.asarray(np.ldexp(values - frame.origin, -frame.exponent))


def _log_densities(z: Floats, q: Densities) -> Floats:
    out = np.empty((len(z), len(q.means)))
    for c, mean in enumerate(q.means):
        f = q.factors if q.kind == "tied" else q.factors[c]
        y = (z - mean) @ f if f.ndim == 2 else (z - mean) * f
        out[:, c] = q.offsets[c] - 0.5 * (y**2).sum(axis=1)
    return out


def _sums(block: Block, kind: Kind, z: Floats, r: Floats, centres: Floats, scores: Floats) -> Sums:
    k, d = centres.shape
    size = chunk_rows(d)
    nodes: dict[tuple[int, int], Floats] = {}
    for a in range(0, len(z), size):
        rows = slice(a, a + size)
        parts = [[scores[rows].sum()], r[rows].sum(axis=0)]
        firsts, seconds = [], []
        for c in range(k):
            x = z[rows] - centres[c]
            rx = r[rows, c, None] * x
            firsts.append(rx.sum(axis=0))
            if kind == "full":
                seconds.append((rx.T @ x)[np.triu_indices(d)])
            elif kind == "diag":
                seconds.append((rx * x).sum(axis=0))
            elif kind == "spherical":
                seconds.append([(rx * x).sum()])
        _join(nodes, (0, (block.first + a) // size), np.concatenate(parts + firsts + seconds))
    return Sums(kind, k, d, nodes)
