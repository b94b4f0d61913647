"""Unpacked size of an Arrow file, as its batches declare it, before any is unpacked.

pyarrow takes the memory that a compressed buffer asks for, and tells the amount afterwards. So
this module looks first: the footer places the batches, each batch places its buffers, and each
compressed buffer begins with its length. These records are FlatBuffers: tables whose fields are
found by their number.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

END = b"ARROW1"
DICTIONARY_BATCH, RECORD_BATCH = 2, 3  # kinds of messages
BLOCK = struct.Struct("<qi4xq")  # offset, length of the metadata, length of the body
BUFFER = struct.Struct("<qq")  # offset, length


def unpacked_size(path: Path) -> int:
    """Return the bytes of all compressed buffers once unpacked; 0 if none is compressed."""
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return sum(_batch_size(data, *block) for block in _blocks(data))
    except (struct.error, ValueError, IndexError) as error:
        raise OSError(f"its footer is not sound: {error}") from error


def _blocks(data: Any) -> Iterator[tuple[int, int]]:
    """Yield (offset, length of the metadata) of batches of dictionaries and of records."""
    if data[-len(END) :] != END:
        raise ValueError("no mark at the end")
    end = len(data) - len(END) - 4
    (length,) = struct.unpack_from("<i", data, end)
    footer = _table(data, end - length)
    for number in (2, 3):
        for place in _vector(data, _field(data, footer, number), BLOCK.size):
            offset, metadata, _ = BLOCK.unpack_from(data, place)
            yield offset, metadata


def _batch_size(data: Any, offset: int, metadata: int) -> int:
    (mark,) = struct.unpack_from("<I", data, offset)
    message = _table(data, offset + (8 if mark == 0xFFFFFFFF else 4))
    kind, batch = _field(data, message, 1), _table(data, _field(data, message, 2))
    if kind is not None and data[kind] == DICTIONARY_BATCH:
        batch = _table(data, _field(data, batch, 1))
    elif kind is None or data[kind] != RECORD_BATCH:
        raise ValueError("a batch of another kind")
    if _field(data, batch, 3) is None:  # not compressed: it stays in the mapped file
        return 0
    size = 0
    for place in _vector(data, _field(data, batch, 2), BUFFER.size):
        start, length = BUFFER.unpack_from(data, place)
        if length >= 8:
            (declared,) = struct.unpack_from("<q", data, offset + metadata + start)
            size += length if declared < 0 else declared  # -1: this one is not compressed
    return size


def _table(data: Any, place: int | None) -> int:
    """Return the place of the table that an offset points to."""
    if place is None or place < 0:
        raise ValueError("a table is not there")
    return place + int(struct.unpack_from("<I", data, place)[0])


def _field(data: Any, table: int, number: int) -> int | None:
    """Return the place of a field of a table, or None if it has its default."""
    fields = table - struct.unpack_from("<i", data, table)[0]
    if fields < 0:
        raise ValueError("a table without fields")
    (length,) = struct.unpack_from("<H", data, fields)
    slot = 4 + 2 * number
    if slot >= length:
        return None
    (place,) = struct.unpack_from("<H", data, fields + slot)
    return table + place if place else None


def _vector(data: Any, place: int | None, size: int) -> range:
    """Return the places of the entries of a vector of structures."""
    if place is None:
        return range(0)
    start = _table(data, place)
    (count,) = struct.unpack_from("<I", data, start)
    if start + 4 + count * size > len(data):
        raise ValueError("a list longer than the file")
    return range(start + 4, start + 4 + count * size, size)
