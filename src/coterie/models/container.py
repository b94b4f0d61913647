r"""The file format: a header in JSON, then raw arrays, each with its SHA-256.

    8 bytes      "COTERIE" and the version of the container
    8 bytes      length of the header, little-endian
    32 bytes     SHA-256 of all before it and of the header
    header       JSON in UTF-8: {"arrays": [{name, dtype, shape, sha256}, ...], ...};
                 letters that UTF-8 cannot hold (of names of files that are none) as \udc80
    arrays       little-endian, C order, one after the other, to the end of the file

Every byte is covered by a checksum or compared with its only legal value. Reading parses JSON and
copies bytes; it never imports, evaluates or unpickles anything.
"""

from __future__ import annotations

import hashlib
import json
import math
import struct
from collections.abc import Iterator, Mapping
from typing import IO, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

MAGIC = b"COTERIE\x01"
PREFIX = struct.Struct("<8sQ32s")
MAX_HEADER = 64 * 2**20
MAX_PARSED = 512 * 2**20  # bytes that the values of a header may take in memory
BYTES_OF = {b"{": 400, b"[": 128, b",": 64}  # at most, of each value that begins or ends with it
CHUNK = 1 << 22
DTYPES = ("<f8", "<f4", "<i8", "<i4", "|b1", "|u1")

Arrays = dict[str, NDArray[Any]]


class ModelError(ValueError):
    """A model that cannot be saved or a file that cannot be loaded; the message says why."""


class Damaged(ModelError):
    """A file that differs from the file that was written."""

    def __init__(self, why: str) -> None:
        super().__init__(
            f"expected the file as it was saved, but {why}; restore it from a copy, or fit again"
        )
        self.why = why


def pack(
    header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
) -> Iterator[bytes | memoryview]:
    """Yield the bytes of a file, in small pieces, so that Ctrl-C is answered soon."""
    stored = {name: _little_endian(values) for name, values in arrays.items()}
    table = [
        {
            "name": name,
            "dtype": values.dtype.str,
            "shape": list(values.shape),
            "sha256": _checksum(values),
        }
        for name, values in stored.items()
    ]
    text = json.dumps({**header, "arrays": table}, allow_nan=False, ensure_ascii=False)
    encoded = text.encode(errors="backslashreplace")  # which is how JSON escapes them, too
    if len(encoded) > MAX_HEADER or _parsed_bytes(encoded) > MAX_PARSED:
        raise ModelError(
            f"expected names and records of at most {MAX_HEADER:,} bytes, and {MAX_PARSED:,} in "
            f"memory, got {len(encoded):,} and {_parsed_bytes(encoded):,}; leave out provenance, "
            "or fit with fewer runs"
        )
    yield MAGIC + struct.pack("<Q", len(encoded)) + _header_sum(encoded)
    yield encoded
    for values in stored.values():
        yield from _pieces(values)


def read_header(file: IO[bytes], size: int) -> dict[str, Any]:
    """Return the header of a file of `size` bytes, checked against its checksum."""
    prefix = file.read(PREFIX.size)
    if not prefix.startswith(MAGIC[:7]) or len(prefix) < PREFIX.size:
        found = f"a file that starts with {prefix[:12]!r}" if prefix else "an empty file"
        raise ModelError(f"expected a model saved by coterie.save, got {found}; check the path")
    if prefix[:8] != MAGIC:
        raise ModelError(
            f"expected a container of version 1, got version {prefix[7]}; "
            "it is damaged, or needs a newer Coterie: pip install --upgrade coterie"
        )
    _, length, checksum = PREFIX.unpack(prefix)
    if length > min(MAX_HEADER, size - PREFIX.size):
        damaged(f"its header claims {length:,} bytes of {size:,}")
    text = file.read(length)
    if _header_sum(text) != checksum:
        damaged("its header does not match its checksum")
    if _parsed_bytes(text) > MAX_PARSED:
        damaged(f"its header of {length:,} bytes would take {_parsed_bytes(text):,} in memory")
    try:
        header = json.loads(text, parse_constant=_no_constant, object_pairs_hook=_no_duplicates)
    except (ValueError, RecursionError) as error:
        damaged(f"its header is not sound JSON: {error}")
    if not isinstance(header, dict):
        damaged("its header is not an object")
    return header


def read_arrays(file: IO[bytes], header: Mapping[str, Any], size: int) -> Arrays:
    """Return the arrays behind a header that was just read; they fill the file exactly."""
    layout = [_layout(entry) for entry in _listed(header)]
    declared = file.tell() + sum(n_bytes for _, _, _, _, n_bytes in layout)
    if declared != size:
        damaged(f"it should have {declared:,} bytes, and has {size:,}")
    arrays: Arrays = {}
    for name, dtype, shape, checksum, n_bytes in layout:
        values = np.empty(shape, dtype=dtype)
        view, read, found = values.reshape(-1).view(np.uint8).data, 0, hashlib.sha256()
        while read < n_bytes:
            got = file.readinto(view[read : read + CHUNK])  # type: ignore[attr-defined]
            if not got:
                damaged(f"it ends inside the array {name!r}")
            found.update(view[read : read + got])
            read += got
        if found.hexdigest() != checksum:
            damaged(f"the array {name!r} does not match its checksum")
        if name in arrays:
            damaged(f"the array {name!r} is there twice")
        arrays[name] = values.astype(dtype.newbyteorder("="), copy=False)
    return arrays


def damaged(why: str) -> NoReturn:
    """Raise the error of a file that differs from the file that was written."""
    raise Damaged(why)


def _header_sum(header: bytes) -> bytes:
    return hashlib.sha256(MAGIC + struct.pack("<Q", len(header)) + header).digest()


def _parsed_bytes(text: bytes) -> int:
    """Return a bound of the memory that parsed JSON takes: small files may hold many values."""
    return sum(size * text.count(mark) for mark, size in BYTES_OF.items())


def _little_endian(values: NDArray[Any]) -> NDArray[Any]:
    return np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("<"))


def _pieces(values: NDArray[Any]) -> Iterator[memoryview]:
    """Yield the bytes of a contiguous array, so many at a time that Ctrl-C need not wait."""
    view = values.reshape(-1).view(np.uint8).data
    for start in range(0, len(view), CHUNK):
        yield view[start : start + CHUNK]


def _checksum(values: NDArray[Any]) -> str:
    found = hashlib.sha256()
    for piece in _pieces(values):
        found.update(piece)
    return found.hexdigest()


def _listed(header: Mapping[str, Any]) -> list[Any]:
    listed = header.get("arrays")
    if not isinstance(listed, list):
        damaged("its header lists no arrays")
    return listed


def _layout(entry: Any) -> tuple[str, np.dtype[Any], tuple[int, ...], str, int]:
    """Return name, dtype, shape, checksum and bytes of an array, if they are sound."""
    keys = ("name", "dtype", "shape", "sha256")
    if not isinstance(entry, dict) or set(entry) != set(keys):
        damaged("an array has no sound description")
    name, dtype, shape, checksum = (entry[key] for key in keys)
    sound = (
        isinstance(name, str)
        and isinstance(checksum, str)
        and dtype in DTYPES
        and isinstance(shape, list)
        and len(shape) <= 3
        and all(type(side) is int and 0 <= side < 2**48 for side in shape)
    )
    if not sound:
        damaged(f"the description of an array is not sound: {str(entry)[:200]}")
    return (
        name,
        np.dtype(dtype),
        tuple(shape),
        checksum,
        np.dtype(dtype).itemsize * math.prod(shape),
    )


def _no_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is not JSON")


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key is there twice")
    return found
