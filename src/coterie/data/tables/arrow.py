"""Parquet, Arrow and Feather files, read by pyarrow."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.data.errors import DataError, required
from coterie.data.memory_limits import Limits
from coterie.data.tables.arrow_footer import unpacked_size
from coterie.data.tables.fill_rows import (
    Part,
    as_numpy,
    batch_rows,
    new_rows,
    one_ahead,
    threads,
    write_parts,
)
from coterie.data.tables.format import NUMBER, ROW_NUMBER, TRUTH, Loaded

RUNS_PER_THREAD = 4  # runs of row groups: with several, threads end at about the same time
PANDAS_INDEX = re.compile(r"__index_level_\d+__")  # pandas' columns of row numbers
FOOTER_EXPANSION = 40  # bytes in memory per byte of Parquet's description of its columns
BUFFER = 1 << 18  # bytes read at once; to map a file into memory takes longer, page by page


Batches = Callable[[], Iterable[Any]]


@dataclass(frozen=True)
class Piece:
    """Rows that are decoded together."""

    first: int  # row
    n: int  # rows
    batches: Batches


def in_order(sizes: Sequence[int], batches: Callable[[int], Batches]) -> list[Piece]:
    """Return pieces of these sizes, one after the other."""
    firsts = np.cumsum([0, *sizes]).tolist()
    return [
        Piece(first, n, batches(number))
        for number, (first, n) in enumerate(zip(firsts, sizes, strict=False))
    ]


class ArrowTable:
    """A table with a schema, which declares types and sizes of columns."""

    def __init__(self, path: Path, limits: Limits) -> None:
        self.path, self.limits = path, limits
        self.stored = path.stat().st_size
        with arrow_errors(self.format):
            self._source = self._open()
            self.schema = self._schema()
            self.names = tuple(self.schema.names)
            self.types = tuple(
                ROW_NUMBER if PANDAS_INDEX.fullmatch(field.name) else _type(field.type)
                for field in self.schema
            )

    format: str
    named = True

    def _open(self) -> Any:
        raise NotImplementedError

    def _schema(self) -> Any:
        raise NotImplementedError

    def _rows(self) -> int:
        raise NotImplementedError

    def _pieces(self, wanted: Sequence[int]) -> list[Piece]:
        """Return the pieces in which the wanted columns are decoded."""
        raise NotImplementedError

    def load(self, chosen: Sequence[int], ids: int | None) -> Loaded:
        n, d = self._rows(), len(chosen)
        kinds = [self.schema.field(i).type for i in chosen]
        dtype = _common_dtype(kinds)
        self.limits.check(
            n * d * dtype.itemsize, self.stored, f"{n:,} rows of {d} columns", "choose columns"
        )
        X = new_rows(n, d, dtype)
        kept: dict[int, list[NDArray[Any]]] = {}  # ids, by the first row of their part
        numbers = [_reader(kind) for kind in kinds]

        def columns(piece: Piece) -> Iterator[list[NDArray[Any]]]:
            for batch in piece.batches():
                batch.validate(full=True)  # offsets could point anywhere
                for rows in _cut(batch, d):
                    if ids is not None:
                        kept.setdefault(piece.first, []).append(_as_ids(rows.column(d)))
                    yield [read(column) for read, column in zip(numbers, rows, strict=False)]

        with arrow_errors(self.format):
            pieces = self._pieces([*chosen, *([] if ids is None else [ids])])
            parts = [Part(piece.first, piece.n, partial(columns, piece)) for piece in pieces]
            there = sum(piece.n for piece in pieces)
            if there != n:
                raise DataError(
                    f"expected {n:,} rows, as the file declares, got parts of {there:,} rows; "
                    "the file is damaged: write it again"
                )
            finite = write_parts(X, parts)
        if ids is None:
            return Loaded(X, None, finite)
        names = [part for first in sorted(kept) for part in kept[first]]
        return Loaded(X, np.concatenate(names) if names else np.empty(0), finite)

    def place(self, row: int) -> str:
        return f"row {row}"


class Parquet(ArrowTable):
    """Parquet, decoded batch by batch to save memory."""

    format = "parquet"

    def _open(self) -> Any:
        parquet = required("pyarrow.parquet", "reading Parquet", "tables")
        with self.path.open("rb") as file:
            file.seek(-8, os.SEEK_END)
            footer = int.from_bytes(file.read(4), "little")
        needed = FOOTER_EXPANSION * min(footer, self.stored)
        self.limits.check(needed, self.stored, "a description of its columns", "write fewer")
        return parquet.ParquetFile(self.path)

    def _schema(self) -> Any:
        return self._source.schema_arrow

    def _rows(self) -> int:
        return int(self._source.metadata.num_rows)

    def _pieces(self, wanted: Sequence[int]) -> list[Piece]:
        """Return runs of row groups, some for each thread; of few groups, threads share columns."""
        metadata = self._source.metadata
        groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
        largest = max((group.total_byte_size for group in groups), default=0)
        self.limits.check(largest, self.stored, "a row group")
        if not groups:
            return []
        runs = np.array_split(np.arange(len(groups)), min(len(groups), RUNS_PER_THREAD * threads()))
        names = [self.names[i] for i in wanted]
        few = len(groups) < threads()
        sizes = [sum(groups[i].num_rows for i in run) for run in runs]
        return in_order(sizes, lambda number: partial(self._batches, runs[number], names, few))

    def _batches(self, run: NDArray[np.intp], names: list[str], few: bool) -> Iterator[Any]:
        decoded = self._decoded(run.tolist(), names, few)
        return one_ahead(decoded) if few else decoded

    def _decoded(self, run: list[int], names: list[str], few: bool) -> Iterator[Any]:
        """Yield batches; each thread opens the file anew, since a reader serves one thread."""
        parquet = required("pyarrow.parquet", "reading Parquet", "tables")
        metadata = self._source.metadata
        wanted = list(dict.fromkeys(names))
        with parquet.ParquetFile(self.path, metadata=metadata, buffer_size=BUFFER) as source:
            size = batch_rows(len(names))
            for batch in source.iter_batches(size, run, columns=wanted, use_threads=few):
                yield batch.select(names)


class Feather(ArrowTable):
    """Arrow's own file format, also named Feather."""

    format = "arrow"

    def _open(self) -> Any:
        pa = required("pyarrow", "reading Arrow files", "tables")
        self.limits.check(unpacked_size(self.path), self.stored, "its columns", "split the file")
        return pa.ipc.open_file(pa.memory_map(str(self.path)))

    def _schema(self) -> Any:
        return self._source.schema

    def _rows(self) -> int:
        """Take all batches, because the file does not declare their number of rows."""
        self._taken: list[Any] = []
        with arrow_errors(self.format):
            for i in range(self._source.num_record_batches):
                batch = self._source.get_batch(i)
                batch.validate()
                self._taken.append(batch)
        return sum(batch.num_rows for batch in self._taken)

    def _pieces(self, wanted: Sequence[int]) -> list[Piece]:
        chosen = list(wanted)
        sizes = [batch.num_rows for batch in self._taken]
        return in_order(sizes, lambda number: partial(self._given, number, chosen))

    def _given(self, number: int, chosen: list[int]) -> Iterator[Any]:
        batch, self._taken[number] = self._taken[number], None  # frees its memory after use
        yield batch.select(chosen)


@contextmanager
def arrow_errors(name: str) -> Iterator[None]:
    """Turn pyarrow's many kinds of error into `DataError`."""
    pa = required("pyarrow", "reading tables", "tables")
    try:
        yield
    except (pa.ArrowException, OSError, EOFError, UnicodeDecodeError) as error:
        if isinstance(error, FileNotFoundError | PermissionError | IsADirectoryError):
            raise
        said = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
        raise DataError(
            f"expected a complete {name} file, but it cannot be read ({said}); "
            "the file is damaged or cut off: write or download it again"
        ) from error


def _type(kind: Any) -> str:
    """Return the type of a column in the words of `TableFormat.types`."""
    types = required("pyarrow.types", "reading tables", "tables")
    if types.is_floating(kind) or types.is_integer(kind) or types.is_decimal(kind):
        return NUMBER
    if types.is_boolean(kind):
        return TRUTH
    if types.is_string(kind) or types.is_large_string(kind) or types.is_dictionary(kind):
        return "text"
    return "nothing" if types.is_null(kind) else str(kind)


def _common_dtype(kinds: Sequence[Any]) -> np.dtype[Any]:
    """Return float32 if no column has more digits than that, else float64."""
    types = required("pyarrow.types", "reading tables", "tables")
    small = all(types.is_float16(kind) or types.is_float32(kind) for kind in kinds)
    return np.dtype(np.float32 if small else np.float64)


def _reader(kind: Any) -> Callable[[Any], NDArray[Any]]:
    """Return a function that turns a column of this type into floats or integers, gaps into NaN."""
    pa = required("pyarrow", "reading tables", "tables")
    decimal, boolean = pa.types.is_decimal(kind), pa.types.is_boolean(kind)
    integer = pa.types.is_integer(kind)

    def read(column: Any) -> NDArray[Any]:
        if decimal:  # pyarrow's own cast rounds twice, the way over a text once
            column = column.cast(pa.string()).cast(pa.float64())
        elif boolean or (integer and column.null_count):
            column = column.cast(pa.float64(), safe=False)
        return as_numpy(column)

    return read


def _cut(batch: Any, d: int) -> Iterator[Any]:
    """Yield a batch in pieces, so that Ctrl-C is heard soon and little memory is taken at once.

    A piece has at least as many rows as its dictionaries have words: each converts them anew.
    """
    words = [len(column.dictionary) for column in batch if hasattr(column, "dictionary")]
    step = max(batch_rows(d), *words, 0)
    for start in range(0, batch.num_rows, step):
        yield batch.slice(start, step)


def _as_ids(column: Any) -> NDArray[Any]:
    """Return ids of rows as NumPy; integers with gaps stay integers."""
    pa = required("pyarrow", "reading tables", "tables")
    if pa.types.is_integer(column.type) and column.null_count:
        return np.array(column.to_pylist(), dtype=object)
    return as_numpy(column)
