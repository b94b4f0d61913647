"""NumPy's own files, NPY and NPZ: read without pickle, and only at their declared length."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from coterie.data.errors import DataError
from coterie.data.memory_limits import Limits
from coterie.data.tables.format import NUMBER, Loaded

CHUNK = 1 << 22  # bytes read at once, so that Ctrl-C is heard
MAX_HEADER = 10_000  # bytes; NumPy parses it as Python's source
NAME_BYTES = 200  # of the name and the number of a column


class ArrayFile:
    """An array, (n, d) or (n,), from a .npy file, or from inside a .npz file."""

    named = False

    def __init__(self, path: Path, limits: Limits, *, array: str | None = None) -> None:
        self.path, self.limits, self.member = path, limits, None
        self.stored = path.stat().st_size
        with path.open("rb") as file:
            self.format = "npz" if file.read(2) == b"PK" else "npy"
        if self.format == "npz":
            self.member = self._choose(array)
        with self._open() as file:
            shape, _, _ = _header(file)
        d = shape[1] if len(shape) == 2 else 1
        limits.check(d * NAME_BYTES, self.stored, f"{d:,} columns", "transpose it with X.T")
        self.names = tuple(f"column_{i}" for i in range(d))
        self.types = (NUMBER,) * len(self.names)

    def _open(self) -> IO[bytes]:
        if self.member is None:
            return self.path.open("rb")
        return zipfile.ZipFile(self.path).open(self.member)

    def _choose(self, array: str | None) -> str:
        """Return the member with the wanted array, or with the only array of rows."""
        try:
            with zipfile.ZipFile(self.path) as folder:
                names = folder.namelist()
                members = [name for name in names if name.endswith(".npy")]
                if array is not None:
                    members = [name for name in members if name == f"{array}.npy"]
                usable = [name for name in members if len(members) == 1 or _usable(folder, name)]
                known = [name.removesuffix(".npy") for name in names]
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
            raise _broken("NPZ", error) from error
        if len(usable) == 1:
            return usable[0]
        if not any(f"{name}.npy" in names for name in known):
            raise DataError(
                f"expected an NPZ file, got a ZIP file with {', '.join(names[:4]) or 'nothing'}; "
                "unpack it, and give the file that is meant"
            )
        wanted = "one array of numbers (n, d)" if array is None else f"an array {array!r}"
        raise DataError(
            f"expected {wanted}, got {len(usable)} such among {', '.join(known) or 'no arrays'}; "
            "name the one that is meant with array='...'"
        )

    def load(self, chosen: Sequence[int], ids: int | None) -> Loaded:
        try:
            with self._open() as file:
                values = self._read(file)
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
            raise _broken(self.format.upper(), error) from error
        rows = values if values.ndim == 2 else values[:, None]
        kept = None if ids is None else rows[:, ids].copy()
        dtype = np.float32 if rows.dtype.name in ("float16", "float32") else np.float64
        return Loaded(_columns(rows, list(chosen), np.dtype(dtype)), kept)

    def _read(self, file: IO[bytes]) -> NDArray[Any]:
        """Read the values straight into the array that is returned."""
        shape, fortran, dtype = _header(file)
        needed = int(np.prod([dtype.itemsize, *shape], dtype=object))
        if self.member is None and needed != self.stored - file.tell():
            raise DataError(
                f"expected {needed:,} bytes for the declared shape {shape} of {dtype}, got "
                f"{self.stored - file.tell():,}; the file is damaged or cut off: save it again"
            )
        self.limits.check(needed, self.stored, f"an array of shape {shape}", "save fewer rows")
        values = np.empty(shape, dtype=dtype, order="F" if fortran else "C")
        view = values.reshape(-1, order="A").view(np.uint8).data
        read = 0
        while read < needed:
            got = file.readinto(view[read : read + CHUNK])  # type: ignore[attr-defined]
            if not got:
                raise EOFError(f"{read:,} bytes of {needed:,}")
            read += got
        if file.read(1):
            raise DataError(
                f"expected {needed:,} bytes for the declared shape {shape} of {dtype}, got more; "
                "the file is damaged: save it again"
            )
        return values

    def place(self, row: int) -> str:
        return f"row {row}"


def _columns(rows: NDArray[Any], chosen: list[int], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return the chosen columns, C-ordered; copies are made in pieces so that Ctrl-C is heard."""
    every = chosen == list(range(rows.shape[1]))
    if every and rows.dtype == dtype and rows.flags.c_contiguous:
        return rows
    X = np.empty((len(rows), len(chosen)), dtype=dtype)
    step = max(1, CHUNK // (8 * max(rows.shape[1], 1)))
    for start in range(0, len(rows), step):
        block = rows[start : start + step]
        X[start : start + step] = block if every else block[:, chosen]
    return X


def _usable(folder: zipfile.ZipFile, name: str) -> bool:
    with folder.open(name) as file:
        try:
            return len(_header(file)[0]) == 2
        except DataError:
            return False


def _header(file: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Return shape, order and dtype, if they are those of a table of numbers."""
    try:
        shape, fortran, dtype = _parsed_header(file)
    except (zipfile.BadZipFile, zlib.error) as error:
        raise _broken("NPZ", error) from error
    except Exception as error:  # NumPy parses it as Python's source, which fails in many ways
        raise DataError(
            f"expected an NPY file of version 1 or 2, but its header cannot be read ({error}); "
            "save it again with numpy.save"
        ) from error
    if dtype.hasobject or dtype.kind not in "biuf" or dtype.itemsize > 8:
        raise DataError(
            f"expected numbers of at most 64 bits, got dtype {dtype}, which is not read "
            "(objects would be unpickled, and could run code); save X.astype(float)"
        )
    _check_shape(shape)
    return shape, fortran, dtype


def _parsed_header(file: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    version = npy.read_magic(file)
    read, size = {
        (1, 0): (npy.read_array_header_1_0, 2),
        (2, 0): (npy.read_array_header_2_0, 4),
    }[version]
    declared = file.read(size)
    length = int.from_bytes(declared, "little")
    if length > MAX_HEADER:  # NumPy would read it all, then refuse
        raise ValueError(f"it claims {length:,} bytes")
    return read(io.BytesIO(declared + file.read(length)))


def _check_shape(shape: tuple[int, ...]) -> None:
    if not all(type(size) is int and size >= 0 for size in shape):  # NumPy takes True for 1
        raise DataError(
            f"expected whole numbers of rows and columns, got the shape {shape}; "
            "the file is damaged: save it again with numpy.save"
        )
    if len(shape) not in (1, 2) or 0 in shape:
        raise DataError(
            f"expected an array of shape (rows, columns), got shape {shape}; "
            "reshape it first, for example with X.reshape(len(X), -1)"
        )


def _broken(name: str, error: Exception) -> DataError:
    return DataError(
        f"expected a complete {name} file, but it cannot be read ({error}); "
        "the file is damaged or cut off: save it again"
    )
