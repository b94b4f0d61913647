"""Steps of Gaussian mixtures on one block: each is a pure function of (block, model).

Rows are standardized as they are read: z = (x - origin) / 2^exponent, column by column, so that
offsets and units cost no digits. Degrees of belonging are the responsibilities of the field, and
the sums of the M step are its sufficient statistics. Densities are added by log-sum-exp.

Sums are taken over chunks of rows, counted from the first row of the whole data. Chunks are the
leaves of a `TreeSum`. So blocks that begin at multiples of `chunk_rows` give the same bits as one
block.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from coterie.arrays import Floats
from coterie.kernels import _native, triangles
from coterie.kernels.block import Block
from coterie.kernels.tree_sum import TreeSum

Kind = Literal["full", "tied", "diag", "spherical"]
LOG_2 = float(np.log(2.0))
LOG_2_PI = float(np.log(2 * np.pi))


@dataclass(frozen=True)
class Standardization:
    """The units in which kernels work: z = (x - origin) / 2^exponent, column by column."""

    origin: Floats  # (d,)
    exponent: NDArray[np.int32]  # (d,)

    @classmethod
    def plain(cls, d: int) -> Standardization:
        return cls(np.zeros(d), np.zeros(d, dtype=np.int32))

    @cached_property
    def scale(self) -> Floats:
        """(d,) 2^-exponent."""
        return np.ldexp(1.0, -self.exponent)

    @cached_property
    def log_unit(self) -> float:
        """Log of the volume of a standardized unit cube, in the data's units."""
        return LOG_2 * int(self.exponent.sum())


Frame = Standardization  # its name in pickles of 0.1.0


@dataclass(frozen=True)
class Densities:
    """The components of a mixture for a sweep, in standardized units."""

    kind: Kind
    offsets: Floats  # (k,) log weight + log of the density's peak
    means: Floats  # (k, d)
    factors: Floats  # precisions_cholesky: (k, d (d + 1) / 2) upper, (d, d) upper, (k, d) or (k,)
    centres: Floats | None = None  # (k, d) moments are taken about these; None: the means
    negligible: Floats | None = None  # (k,) log2 of degrees that full covariances may take as zero

    @property
    def n_components(self) -> int:
        return len(self.means)

    def untied(self) -> Densities:
        """Shared covariances as full ones, a copy for each component."""
        k, d = self.means.shape
        factors = triangles.packed(np.broadcast_to(self.factors, (k, d, d)))
        return replace(self, kind="full", factors=factors)

    def factor(self, c: int) -> Floats:
        """The factor of one component: a matrix, or (d,) or a number for variances alone."""
        own: Floats = self.factors
        if self.kind == "full":
            own = triangles.upper(self.factors[c])
        elif self.kind != "tied":
            own = self.factors[c]
        return own


@dataclass(frozen=True)
class Moments:
    """Sums over all rows: the log-likelihood, and the sufficient statistics of the components.

    These are the sums of r, r (z - c) and r (z - c)(z - c)', in standardized units. Here r is the
    weight of the row times its degree of belonging, and c the component's centre.
    """

    log_likelihood: float
    mass: Floats  # (k,)
    first: Floats  # (k, d)
    second: Floats | None  # full (k, d (d + 1) / 2), diag (k, d), spherical (k,) of |z - c|^2


@dataclass(frozen=True)
class Sums:
    """Moments before they are whole: their numbers in one row, as a sum over leaves."""

    kind: Kind
    n_components: int
    n_columns: int
    tree: TreeSum

    def __add__(self, other: Sums) -> Sums:
        return Sums(self.kind, self.n_components, self.n_columns, self.tree + other.tree)

    @property
    def log_likelihood(self) -> float:
        return float(self.tree.total[0])

    @property
    def moments(self) -> Moments:
        k, d, total = self.n_components, self.n_columns, self.tree.total
        mass, first, second = total[1 : 1 + k], total[1 + k :][: k * d], total[1 + k + k * d :]
        shaped: Floats | None = None
        if self.kind == "full":
            shaped = second.reshape(k, -1)
        elif self.kind == "diag":
            shaped = second.reshape(k, d)
        elif self.kind == "spherical":
            shaped = second
        return Moments(float(total[0]), mass, first.reshape(k, d), shaped)


def chunk_rows(d: int) -> int:
    """Rows of a leaf of the sums: blocks must begin at multiples of it. It divides `LEAF_ROWS`."""
    return _native.mixture_chunk_rows(d)


def sweep(
    block: Block, scaling: Standardization, densities: Densities, *, moments: bool = True
) -> Sums:
    """E step and the sums of the M step in one pass; degrees of belonging are not kept.

    moments : False: only the log-likelihood is found.
    """
    _check_alignment(block, densities.means)
    prepared = _prepared(block, scaling, densities)
    step = prepared.sweep if moments else prepared.likelihood
    return _sums(densities.kind, densities.means, step(block.rows, block.first))


def swept_apart(blocks: list[Block], scaling: Standardization, densities: Densities) -> Floats:
    """(blocks, size) the sums of each block by itself, in one row as `Sums` lays them out."""
    prepared = _prepared(blocks[0], scaling, densities)
    swept = (prepared.sweep(block.rows, 0) for block in blocks)
    return np.stack([_sums(densities.kind, densities.means, own).tree.total for own in swept])


def score_samples(block: Block, scaling: Standardization, densities: Densities) -> Floats:
    """(n,) log-likelihood of each row, in the data's units."""
    found: Floats = _prepared(block, scaling, densities).scores(block.rows)
    return found - scaling.log_unit


def responsibilities(block: Block, scaling: Standardization, densities: Densities) -> Floats:
    """(n, k) degrees of belonging."""
    found: Floats = _prepared(block, scaling, densities).degrees(block.rows)
    return found


def labels(block: Block, scaling: Standardization, densities: Densities) -> NDArray[np.int32]:
    """(n,) the component with the largest degree, the lowest index among equals."""
    found: NDArray[np.int32] = _prepared(block, scaling, densities).labels(block.rows)
    return found


def label_moments(
    block: Block,
    scaling: Standardization,
    kind: Kind,
    labels: NDArray[np.int32] | None,
    centres: Floats,
) -> Sums:
    """Sums for degrees in {0, 1}. labels : (n,) of the rows of the block; None: one component."""
    _check_alignment(block, centres)
    nodes = _without_densities(block, scaling, kind, centres).sums_of_labels(
        block.rows, block.first, labels
    )
    return _sums(kind, centres, nodes)


def degree_moments(
    block: Block, scaling: Standardization, kind: Kind, degrees: Floats, centres: Floats
) -> Sums:
    """Sums for given degrees of belonging, (n, k) of the rows of the block."""
    _check_alignment(block, centres)
    nodes = _without_densities(block, scaling, kind, centres).sums_of_degrees(
        block.rows, block.first, np.ascontiguousarray(degrees)
    )
    return _sums(kind, centres, nodes)


def _check_alignment(block: Block, means: Floats) -> None:
    block.must_begin_at_a_multiple_of(chunk_rows(means.shape[1]))


def _prepared(block: Block, scaling: Standardization, densities: Densities) -> _native.Mixture:
    return _native.Mixture(
        block.team,
        densities.kind,
        scaling.origin,
        scaling.scale,
        densities.offsets,
        densities.means,
        np.ravel(densities.factors),
        densities.centres,
        densities.negligible,
    )


def _without_densities(
    block: Block, scaling: Standardization, kind: Kind, centres: Floats
) -> _native.Mixture:
    """A native mixture with centres for moments alone, without densities."""
    centres = np.ascontiguousarray(centres)
    offsets = np.zeros(len(centres))
    return _native.Mixture(
        block.team, kind, scaling.origin, scaling.scale, offsets, centres, None, None
    )


def _sums(kind: Kind, centres: Floats, nodes: list[tuple[int, int, Floats]]) -> Sums:
    k, d = centres.shape
    return Sums(kind, k, d, TreeSum({(level, index): sums for level, index, sums in nodes}))
