"""Native kernels. Python talks to them through coterie.kernels."""

from collections.abc import Sequence
from typing import Annotated, overload

import numpy
from numpy.typing import NDArray


def simd_level() -> str:
    """Name of the instruction-set level in use."""

def simd_levels() -> list[str]:
    """Levels this machine can run, lowest first."""

def use_simd_level(name: str) -> bool:
    """Use another level from now on; False if the machine cannot run it."""

class Team:
    """The threads of one fit."""

    def __init__(self, n_threads: int) -> None: ...

    @property
    def size(self) -> int: ...

def means_from_sums(team: Team, sums: Annotated[NDArray[numpy.int64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], top: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], mass: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], mass_top: int, means: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> bool:
    """
    Write the rounded means of clusters with mass; False if the limbs are too many.
    """

def saving(team: Team, sums: Annotated[NDArray[numpy.int64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], top: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], mass: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], mass_top: int, means: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> bytes:
    """Bytes of the exact sum of 2 m S - W m^2 over clusters and columns."""

WIDE_LOWEST_EXPONENT: int = -3232

class Block:
    """Rows of one array, and the team that works on them."""

    @overload
    def __init__(self, values: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, team: object) -> None: ...

    @overload
    def __init__(self, values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_columns: int, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, team: object) -> None: ...

    @overload
    def __init__(self, values: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, team: object) -> None: ...

    @overload
    def __init__(self, values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_columns: int, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, team: object) -> None: ...

    @property
    def n_rows(self) -> int: ...

    @property
    def n_columns(self) -> int: ...

    def scan(self) -> tuple[NDArray[numpy.float64], NDArray[numpy.float64], NDArray[numpy.float64], int, int]:
        """(low, high, smallest nonzero magnitude, first bad row, its column)."""

    def moments(self, top: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], levels: int, square_top: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, square_levels: int) -> tuple[NDArray[numpy.int64], bytes]:
        """Limbs of the sums of w x by column; the bytes of the sum of w x^2."""

    def distances(self, means: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> NDArray[numpy.float64]:
        """Squared distances (n, k) by the definition."""

    def projection_range(self, direction: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[float, float]:
        """Smallest and largest v.x."""

    def second_moments(self) -> NDArray[numpy.float64]:
        """Sum of w x x'."""

    def farthest(self, means: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], count: int) -> list[tuple[float, int]]:
        """(squared distance, row) of the rows farthest from their own mean."""

    def values_at(self, rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> NDArray[numpy.float64]:
        """Some rows as float64."""

    def hashes(self) -> NDArray[numpy.uint64]:
        """The hash of each row's values."""

class Lloyd:
    """Assignment updates of one block."""

    def __init__(self, block: object, labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')], low: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], high: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], top: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, levels: int, mass_top: int | None, mass_levels: int, algorithm: str) -> None: ...

    def step(self, means: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> tuple[int, int, int]:
        """Assign every row; (moved, evaluated, settled by the definition)."""

    def totals(self) -> tuple[NDArray[numpy.int64], NDArray[numpy.int64]]:
        """Limbs of the sums (k, levels, d) and of the masses (k, mass levels)."""

MOST_BUCKET_BITS: int = 13

class Seeding:
    """Passes over one block that choose initial means."""

    def __init__(self, block: object, low: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], high: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], copies: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, bucket_bits: int, seeds: int) -> None: ...

    @property
    def coarse(self) -> bool: ...

    @property
    def unit(self) -> float: ...

    def start(self, distance: float) -> None: ...

    def approach(self, seed: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, shift: int) -> tuple[float, NDArray[numpy.int64]]:
        """(largest distance left, units by bucket)."""

    def potentials(self, candidates: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], shift: int) -> NDArray[numpy.int64]:
        """Units left with each candidate."""

    def holdings(self, buckets: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], shift: int) -> tuple[NDArray[numpy.uint64], NDArray[numpy.int64], NDArray[numpy.float64]]:
        """(hashes, units, values) held in some buckets, by hash."""

    def refine(self, seeds: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> None:
        """Go on with float64 distances."""

    def draw(self, salt: int, factor: float) -> tuple[NDArray[numpy.uint64], NDArray[numpy.int64], NDArray[numpy.float64]]:
        """(hashes, copies, values) drawn independently, by hash."""

    def smallest_hashes(self, salt: int, count: int) -> tuple[NDArray[numpy.uint64], NDArray[numpy.int64], NDArray[numpy.float64]]:
        """(salted hashes, ones, values) of the smallest, in order."""

def mixture_chunk_rows(d: int) -> int:
    """
    Blocks that begin at multiples of this many rows give the same bits as one block.
    """

class Mixture:
    """A Gaussian mixture, prepared for sweeps."""

    def __init__(self, team: Team, kind: str, origin: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], scale: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], means: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], factors: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, centres: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None, negligible: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> None: ...

    def sweep(self, block: Block, first: int) -> list[tuple[int, int, NDArray[numpy.float64]]]:
        """Nodes (level, index, sums) of the tree of chunks."""

    def likelihood(self, block: Block, first: int) -> list[tuple[int, int, NDArray[numpy.float64]]]:
        """The same for the log-likelihood alone, (1,)."""

    def sums_of_labels(self, block: Block, first: int, labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None) -> list[tuple[int, int, NDArray[numpy.float64]]]:
        """The same for degrees in {0, 1}."""

    def sums_of_degrees(self, block: Block, first: int, degrees: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> list[tuple[int, int, NDArray[numpy.float64]]]:
        """The same for given degrees of belonging."""

    def scores(self, block: Block) -> NDArray[numpy.float64]:
        """(n,) log-likelihood of each row."""

    def degrees(self, block: Block) -> NDArray[numpy.float64]:
        """(n, k) degrees of belonging."""

    def labels(self, block: Block) -> NDArray[numpy.int32]:
        """(n,) the component of the largest degree, the lowest among equals."""

    @property
    def why(self) -> str:
        """Which kernels the last sweep used, with reasons."""

    @property
    def repeated(self) -> int:
        """Chunks whose sums lost digits about the origin and were taken again."""

    @property
    def abandoned(self) -> bool:
        """Whether bounds left over so many densities that all were computed."""

def paged(size: int) -> NDArray[numpy.float64]:
    """
    An array of numbers, not set, whose memory returns to the system with it.
    """

def fold(matrices: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], triangles: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """triangles: the upper triangles of the matrices, row by row."""

def unfold(triangles: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], matrices: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu')], symmetric: bool) -> None:
    """matrices: with these upper triangles; below them the same, or zeros."""

def covariances_about(team: Team, second: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], mass: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], first: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], shift: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """out: covariances about centre + shift, from moments about the centre."""

def wider_than(team: Team, triangles: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], root: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], times: float) -> list[bool]:
    """
    Which matrices, in units of root by column, spread more than so much everywhere.
    """

def largest_reach(triangles: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], vectors: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> float:
    """The largest entry of |U|'|v| of each upper U and its v."""

def cholesky(triangle: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], d: int) -> bool:
    """Becomes the upper R with R'R = C; false if C is not positive definite."""

def inverse_roots(team: Team, triangles: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], which: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], d: int, out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> int:
    """
    out: of those named the upper U with U U' = C^-1; the first that is not positive definite, or -1.
    """

class Density:
    """DBSCAN of one block: count, connect, label."""

    def __init__(self, block: object, metric: str, p: float, eps: float, index: str, every: bool) -> None: ...

    @property
    def why(self) -> str: ...

    @property
    def index(self) -> str: ...

    def count(self, min_samples: float, counts: bool) -> tuple[NDArray[numpy.uint8], NDArray[numpy.int64] | None]:
        """(1 for core rows, number of rows nearby or None)."""

    def connect(self) -> None: ...

    def label(self) -> tuple[NDArray[numpy.int64], int]:
        """(labels, number of clusters)."""

def core_rows(block: Block, core: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[NDArray[numpy.uint8], NDArray[numpy.int64], object]:
    """
    (0 noise, 1 border, 2 core for each row; indices of the core rows; a copy of them).
    """

def reach(cores: Block, labels: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], queries: Block, metric: str, p: float, eps: float, index: str) -> NDArray[numpy.int64]:
    """
    The lowest-numbered cluster with a core row within eps of each query, or -1.
    """

class Reachability:
    """Nearest rows, then the spanning tree."""

    def __init__(self, block: object, metric: str, unit: float, min_samples: int) -> None: ...

    def nearest(self) -> tuple[NDArray[numpy.float64], NDArray[numpy.float64], NDArray[numpy.float64], NDArray[numpy.int32]]:
        """(core, member, sums (n, k), neighbours (n, k))."""

    def span(self) -> tuple[NDArray[numpy.int32], NDArray[numpy.float64]]:
        """
        (order, height): rows as a chain, and when neighbours in it belong together.
        """

def cut(team: Team, core: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], member: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], sums: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], neighbours: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], order: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], height: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], reach: float) -> tuple[NDArray[numpy.int64], int]:
    """
    (labels, number of clusters) where distances of at most `reach` are nearby.
    """

@overload
def interleave(columns: Sequence[object], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu')]) -> bool: ...

@overload
def interleave(columns: Sequence[object], out: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device='cpu')]) -> bool:
    """out: the columns, (m,) each, as rows (m, d). Whether all are finite."""
