"""Parquet, Arrow and Feather files, and JSON lines, read by pyarrow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.data.errors import DataError, required
from coterie.data.limits import Limits
from coterie.data.tables.filling import as_numpy, write_batches
from coterie.data.tables.opened import NUMBER, TRUTH, Loaded

BATCH = 1 << 16  # rows decoded at once: small enough for the cache and for Ctrl-C


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

    def _batches(self, wanted: Sequence[int]) -> Iterator[Any]:
        raise NotImplementedError

    def load(self, chosen: Sequence[int], ids: int | None) -> Loaded:
        n, d = self._rows(), len(chosen)
        dtype = _common_dtype([self.schema.field(i).type for i in chosen])
        self.limits.check(
            n * d * dtype.itemsize, self.stored, f"{n:,} rows of {d} columns", "choose columns"
        )
        X = np.empty((n, d), dtype=dtype)
        kept: list[NDArray[Any]] = []
        wanted = [*chosen, *([] if ids is None else [ids])]

        def columns() -> Iterator[list[NDArray[Any]]]:
            for batch in self._batches(wanted):
                batch.validate()
                if ids is not None:
                    kept.append(np.asarray(batch.columns[-1].to_numpy(zero_copy_only=False)))
                yield [_numbers(column) for column in batch.columns[:d]]

        with told_apart(self.format):
            written = write_batches(X, columns())
        if written != n:
            raise DataError(
                f"expected {n:,} rows, as the file declares, got "
                f"{'more' if written > n else f'{written:,}'}; the file is damaged: write it again"
            )
        if ids is None:
            return X, None
        return X, np.concatenate(kept) if kept else np.empty(0)

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

    def _batches(self, wanted: Sequence[int]) -> Iterator[Any]:
        self._check_pages()
        names = [self.names[i] for i in wanted]
        for batch in self._source.iter_batches(BATCH, columns=list(dict.fromkeys(names))):
            yield batch.select(names)

    def _check_pages(self) -> None:
        """Look at what the row groups say they will unpack to."""
        metadata = self._source.metadata
        sizes = [metadata.row_group(i).total_byte_size for i in range(metadata.num_row_groups)]
        self.limits.check(max(sizes, default=0), self.stored, "a row group")


class Feather(ArrowTable):
    """Arrow's own file format, which Feather is too."""

    format = "arrow"

    def _open(self) -> Any:
        pa = required("pyarrow", "reading Arrow files", "tables")
        return pa.ipc.open_file(pa.memory_map(str(self.path)))

    def _schema(self) -> Any:
        return self._source.schema

    def _rows(self) -> int:
        """Take all batches: the file says nowhere how many rows they have."""
        self._taken: list[Any] = []
        size = 0
        with told_apart(self.format):
            for i in range(self._source.num_record_batches):
                batch = self._source.get_batch(i)
                batch.validate()
                size += batch.nbytes
                if size > self.stored:  # they were compressed, and take memory of their own
                    self.limits.check(size, self.stored, "its columns", "split the file")
                self._taken.append(batch)
        return sum(batch.num_rows for batch in self._taken)

    def _batches(self, wanted: Sequence[int]) -> Iterator[Any]:
        for number, batch in enumerate(self._taken):
            self._taken[number] = None  # not needed any more
            for start in range(0, batch.num_rows, BATCH):
                yield batch.slice(start, BATCH).select(list(wanted))


class JsonLines(ArrowTable):
    """One JSON object per line; keys are columns, and a key that is not there is missing."""

    format = "json"

    def _open(self) -> Any:
        json = required("pyarrow.json", "reading JSON lines", "tables")
        self.limits.check(self.stored, self.stored, "a text")
        return json.read_json(self.path)

    def _schema(self) -> Any:
        return self._source.schema

    def _rows(self) -> int:
        return int(self._source.num_rows)

    def _batches(self, wanted: Sequence[int]) -> Iterator[Any]:
        return iter(self._source.select(list(wanted)).to_batches(BATCH))

    def place(self, row: int) -> str:
        return f"object {row + 1}"


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


def _numbers(column: Any) -> NDArray[Any]:
    """Return a column as floats or integers; gaps become NaN."""
    pa = required("pyarrow", "reading tables", "tables")
    if (
        pa.types.is_decimal(column.type)
        or pa.types.is_boolean(column.type)
        or (column.null_count and pa.types.is_integer(column.type))
    ):
        column = column.cast(pa.float64(), safe=False)
    return as_numpy(column)
