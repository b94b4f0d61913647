"""Parquet, Arrow and Feather files, read by pyarrow."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.data.errors import DataError, required
from coterie.data.limits import Limits
from coterie.data.tables.arrow_sizes import unpacked_size
from coterie.data.tables.filling import Part, as_numpy, block_rows, threads, write_parts
from coterie.data.tables.opened import NUMBER, TRUTH, Loaded

RUNS_PER_THREAD = 4  # of row groups, so that no thread has to wait long for the others


Batches = Callable[[], Iterable[Any]]


class ArrowTable:
    """A table with a schema: its columns are typed, and their sizes declared."""

    def __init__(self, path: Path, limits: Limits) -> None:
        self.path, self.limits = path, limits
        self.stored = path.stat().st_size
        with told_apart(self.format):
            self._source = self._open()
            self.schema = self._schema()
            self.names = tuple(self.schema.names)
            self.types = tuple(_type(field.type) for field in self.schema)

    format: str

    def _open(self) -> Any:
        raise NotImplementedError

    def _schema(self) -> Any:
        raise NotImplementedError

    def _rows(self) -> int:
        raise NotImplementedError

    def _parts(self, wanted: Sequence[int]) -> list[tuple[int, Batches]]:
        """Return the parts of the table in order: how many rows, and who decodes them."""
        raise NotImplementedError

    def load(self, chosen: Sequence[int], ids: int | None) -> Loaded:
        n, d = self._rows(), len(chosen)
        kinds = [self.schema.field(i).type for i in chosen]
        dtype = _common_dtype(kinds)
        self.limits.check(
            n * d * dtype.itemsize, self.stored, f"{n:,} rows of {d} columns", "choose columns"
        )
        X = np.empty((n, d), dtype=dtype)
        kept: dict[int, list[NDArray[Any]]] = {}  # ids, by the first row of their part
        numbers = [_reader(kind) for kind in kinds]

        def columns(first: int, batches: Batches) -> Iterator[list[NDArray[Any]]]:
            for batch in batches():
                batch.validate()
                if ids is not None:
                    found = batch.columns[-1].to_numpy(zero_copy_only=False)
                    kept.setdefault(first, []).append(np.asarray(found))
                yield [read(column) for read, column in zip(numbers, batch.columns, strict=False)]

        with told_apart(self.format):
            parts, first = [], 0
            for m, batches in self._parts([*chosen, *([] if ids is None else [ids])]):
                parts.append(Part(first, m, partial(columns, first, batches)))
                first += m
            if first != n:
                raise DataError(
                    f"expected {n:,} rows, as the file declares, got parts of {first:,} rows; "
                    "the file is damaged: write it again"
                )
            finite = write_parts(X, parts)
        if ids is None:
            return Loaded(X, None, finite)
        pieces = [piece for first in sorted(kept) for piece in kept[first]]
        return Loaded(X, np.concatenate(pieces) if pieces else np.empty(0), finite)

    def place(self, row: int) -> str:
        return f"row {row}"


class Parquet(ArrowTable):
    """Parquet, decoded batch by batch, so that little besides the rows themselves is in memory."""

    format = "parquet"

    def _open(self) -> Any:
        parquet = required("pyarrow.parquet", "reading Parquet", "tables")
        return parquet.ParquetFile(self.path, memory_map=True)

    def _schema(self) -> Any:
        return self._source.schema_arrow

    def _rows(self) -> int:
        return int(self._source.metadata.num_rows)

    def _parts(self, wanted: Sequence[int]) -> list[tuple[int, Batches]]:
        """Return runs of row groups, some for each thread."""
        metadata = self._source.metadata
        groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
        largest = max((group.total_byte_size for group in groups), default=0)
        self.limits.check(largest, self.stored, "a row group")
        names = [self.names[i] for i in wanted]
        runs = np.array_split(np.arange(len(groups)), min(len(groups), RUNS_PER_THREAD * threads()))
        return [
            (
                sum(groups[i].num_rows for i in run),
                partial(self._decoded, run.tolist(), names, alone=len(runs) == 1),
            )
            for run in runs
        ]

    def _decoded(self, run: list[int], names: list[str], *, alone: bool) -> Iterator[Any]:
        """Yield batches; a file of its own, since a reader serves one thread only."""
        parquet = required("pyarrow.parquet", "reading Parquet", "tables")
        metadata = self._source.metadata
        wanted = list(dict.fromkeys(names))
        with parquet.ParquetFile(self.path, memory_map=True, metadata=metadata) as source:
            size = block_rows(len(names))
            for batch in source.iter_batches(size, run, columns=wanted, use_threads=alone):
                yield batch.select(names)


class Feather(ArrowTable):
    """Arrow's own file format, which Feather is too."""

    format = "arrow"

    def _open(self) -> Any:
        pa = required("pyarrow", "reading Arrow files", "tables")
        self.limits.check(unpacked_size(self.path), self.stored, "its columns", "split the file")
        return pa.ipc.open_file(pa.memory_map(str(self.path)))

    def _schema(self) -> Any:
        return self._source.schema

    def _rows(self) -> int:
        """Take all batches: the file says nowhere how many rows they have."""
        self._taken: list[Any] = []
        with told_apart(self.format):
            for i in range(self._source.num_record_batches):
                batch = self._source.get_batch(i)
                batch.validate()
                self._taken.append(batch)
        return sum(batch.num_rows for batch in self._taken)

    def _parts(self, wanted: Sequence[int]) -> list[tuple[int, Batches]]:
        chosen = list(wanted)
        return [
            (batch.num_rows, partial(self._given, number, chosen))
            for number, batch in enumerate(self._taken)
        ]

    def _given(self, number: int, chosen: list[int]) -> Iterator[Any]:
        batch, self._taken[number] = self._taken[number], None  # not needed any more
        yield batch.select(chosen)


@contextmanager
def told_apart(name: str) -> Iterator[None]:
    """Turn pyarrow's many kinds of error into one."""
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
    """Return the type of a column in our words."""
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
    """Return what turns a column of this type into floats or integers; gaps become NaN."""
    pa = required("pyarrow", "reading tables", "tables")
    always = pa.types.is_decimal(kind) or pa.types.is_boolean(kind)
    with_gaps = pa.types.is_integer(kind)

    def read(column: Any) -> NDArray[Any]:
        if always or (with_gaps and column.null_count):
            column = column.cast(pa.float64(), safe=False)
        return as_numpy(column)

    return read
