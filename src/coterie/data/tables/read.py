"""`read_table`: rows of numbers from any file of a table, with columns, gaps and ids treated."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.data.dataset import Dataset, Labels
from coterie.data.errors import DataError, naming
from coterie.data.file_types import (
    check_extension,
    check_supported,
    first_bytes,
    is_json,
    is_json_array,
)
from coterie.data.memory_limits import MAX_EXPANSION, Limits
from coterie.data.memory_shortage import reports_shortage
from coterie.data.options import check_choice, check_path, check_truth
from coterie.data.scaling import KINDS, Kind
from coterie.data.tables.arrow import Feather, Parquet
from coterie.data.tables.columns import choose_columns, position_of, warn_of_unused
from coterie.data.tables.delimited import Delimited
from coterie.data.tables.format import Loaded, TableFormat
from coterie.data.tables.json_array import json_array
from coterie.data.tables.json_lines import JsonLines
from coterie.data.tables.missing import RULES, Gaps, Rule, empty_columns, find_gaps, treat
from coterie.data.tables.npy import ArrayFile

Column = str | int


@dataclass(frozen=True, eq=False)
class TableRows:
    """The rows of a table, identified by their number in the file (from 0) or by a column."""

    name: str
    n: int
    values: NDArray[Any] | None = None  # None: all rows, by their numbers

    def ids(self) -> dict[str, NDArray[Any]]:
        """Return the ids under the name of their column, or row numbers as "row"."""
        return {self.name: np.arange(self.n) if self.values is None else self.values}

    def put_back(self, labels: Labels) -> dict[str, NDArray[Any]]:
        """Return ids and labels side by side."""
        return {**self.ids(), "cluster": labels}


@reports_shortage
def read_table(
    path: str | os.PathLike[str],
    *,
    columns: Column | Sequence[Column] | None = None,
    ids: Column | None = None,
    missing: Rule = "error",
    scaling: Kind | None = None,
    separator: str | None = None,
    decimal: str | None = None,
    header: bool | None = None,
    array: str | None = None,
    max_memory: int | str | None = None,
    max_expansion: float = MAX_EXPANSION,
) -> Dataset:
    """Read a table as rows of numbers.

    Parameters
    ----------
    path : path
        CSV or TSV (also gzipped), Parquet, Arrow or Feather, NPY, NPZ, JSON lines, or a
        JSON array of objects. The content decides, not the name.
    columns : names or positions (from 0), or None
        Columns of X, in this order. None: all columns of numbers. For a file without names (NPY,
        NPZ, or CSV with ``header=False``) they may also be names for all its columns of numbers.
    ids : name or position, or None
        The column that identifies rows; it is kept apart, and may be text.
    missing : {"error", "drop", "keep", "mean", "median"}, default="error"
        Treatment of missing values: refuse the file, leave those rows out, keep NaN (for
        methods that understand it), or fill with the column's mean or median.
    scaling : {"standard", "robust", "min-max", "none"} or None
        A scaling that makes columns comparable. The result keeps it, for new rows.
    separator, decimal, header : str, str, bool, or None
        Separator and decimal sign of a text, and True if its first line has names. None: found,
        or an error that shows the possibilities.
    array : str or None
        The name of an array of an NPZ file.
    max_memory : int or str, default: a quarter of the memory, at most 2 GB
        Bytes that X may take, such as ``"4 GB"``.
    max_expansion : float, default=100
        Bytes of X per byte of the file.

    Returns
    -------
    Dataset
    """
    check_path(path)
    where = Path(path)
    _check_options(missing, scaling, header, array)
    limits = Limits.of(max_memory, max_expansion)
    with naming(where):
        table = _open_table(where, limits, separator, decimal, header, array)
        _refuse_options_of_text(table, separator=separator, decimal=decimal, header=header)
        id_column = None if ids is None else position_of(table, ids)
        chosen, names = choose_columns(table, columns, id_column)
        loaded = table.load(chosen, id_column)
        n_read = len(loaded.X)
        X, kept = _without_gaps(loaded, table, names, missing)
    rows: NDArray[Any] | None = kept
    if loaded.ids is not None:
        rows = loaded.ids if kept is None else loaded.ids[kept]
    origin = TableRows("row" if id_column is None else table.names[id_column], len(X), rows)
    used = {*chosen, id_column}
    unused = [i for i in range(len(table.names)) if i not in used]
    if columns is None:
        warn_of_unused(table, unused, str(where))
    provenance = {
        "source": str(where),
        "format": table.format,
        "bytes": where.stat().st_size,
        "rows": len(X),
        "rows_left_out": n_read - len(X),
        "columns_left_out": {table.names[i]: table.types[i] for i in unused},
        "missing": missing,
        **_about_text(table, names),
    }
    dataset = Dataset(X, names, "table", str(where), origin, provenance)
    return dataset if scaling is None else dataset.scaled(scaling)


def _check_options(missing: Any, scaling: Any, header: Any, array: Any) -> None:
    check_choice("missing", missing, RULES, "'drop' leaves rows with gaps out")
    if scaling is not None:
        check_choice("scaling", scaling, KINDS, "'standard' suits most tables")
    if header is not None:
        check_truth("header", header, "leave it out to find names in the first line")
    if array is not None and not isinstance(array, str):
        raise TypeError(
            f"expected array as the name of one in an NPZ file, got {array!r}; pass a str"
        )


def _refuse_options_of_text(table: TableFormat, **options: Any) -> None:
    """Refuse options of CSV files for other tables, where they would do nothing."""
    given = [name for name, value in options.items() if value is not None]
    if given and not isinstance(table, Delimited):
        raise DataError(
            f"expected {given[0]} for CSV and other delimited texts only, got {table.format}; "
            f"leave {given[0]} out"
        )


def _about_text(table: TableFormat, names: Sequence[str]) -> dict[str, str]:
    """Return the provenance of names that a person gave, and of the dialect of a text."""
    about = {} if set(names) <= set(table.names) else {"names": "given"}
    if isinstance(table, Delimited):
        about |= {"separator": table.dialect.separator, "decimal": table.dialect.decimal}
    return about


def _open_table(
    path: Path,
    limits: Limits,
    separator: str | None,
    decimal: str | None,
    header: bool | None,
    array: str | None,
) -> TableFormat:
    """Open a table by the first bytes of the file."""
    start = first_bytes(path)
    if not start:
        raise DataError("expected a table, got an empty file; check the path")
    check_supported(start)
    if start.startswith(b"PAR1"):
        return Parquet(path, limits)
    if start.startswith(b"ARROW1"):
        return Feather(path, limits)
    if start.startswith((b"\x93NUMPY", b"PK\x03\x04", b"PK\x05\x06")):
        return ArrayFile(path, limits, array=array)
    if start.startswith(b"FEA1"):
        raise DataError(
            "expected Feather of version 2, got version 1; write it again with "
            "pyarrow.feather.write_feather"
        )
    check_extension(path, start)
    if is_json(start):
        return JsonLines(path, limits)
    if is_json_array(start):
        return json_array(path, limits)
    return Delimited(path, limits, separator=separator, decimal=decimal, header=header)


def _without_gaps(
    loaded: Loaded, table: TableFormat, names: Sequence[str], rule: Rule
) -> tuple[NDArray[Any], NDArray[np.intp] | None]:
    X = loaded.X
    if not len(X):
        raise DataError("expected at least one row of data, got none; check the file")
    gaps = Gaps() if loaded.finite else find_gaps(X)
    if gaps.first_infinite is not None:
        row, column = gaps.first_infinite
        raise DataError(
            f"expected finite numbers, got infinity in {table.place(row)}, column "
            f"{names[column]!r}; correct it, or choose other columns"
        )
    if not gaps.missing or rule == "keep":
        return X, None
    if rule == "error":
        raise _missing(gaps, X, table, names)
    hollow = empty_columns(X)
    if hollow:
        raise DataError(
            f"expected some value in every column, got none in {names[hollow[0]]!r}; "
            "choose other columns"
        )
    treated, kept = treat(X, rule)
    if not len(treated):
        raise DataError(
            f"expected some row without missing values, got none of {len(X):,}; "
            "fill them with missing='median', or choose fewer columns"
        )
    return treated, kept


def _missing(gaps: Gaps, X: NDArray[Any], table: TableFormat, names: Sequence[str]) -> DataError:
    assert gaps.first_missing is not None
    row, column = gaps.first_missing
    return DataError(
        f"expected a number in every cell, got {gaps.missing:,} missing in {gaps.rows:,} of "
        f"{len(X):,} rows, the first in {table.place(row)}, column {names[column]!r}; pass "
        "missing='drop' to leave those rows out, missing='median' or 'mean' to fill the gaps, "
        "missing='keep' for a method that understands NaN, or choose other columns"
    )
