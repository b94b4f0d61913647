"""Makers of files that are cut off, that lie, or that want to fill the memory.

A file lies if its header declares other contents, or if its name or its first bytes belong to
another format. A bomb is small, or takes little room on the disk, and asks for far more memory.
"""

from __future__ import annotations

import io
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from support.data_files import video, wav

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
feather = pytest.importorskip("pyarrow.feather")
soundfile = pytest.importorskip("soundfile")
pytest.importorskip("av")
PIL = pytest.importorskip("PIL.Image")

ZEROS = np.zeros(20_000_000)  # 160 MB
ROWS = np.random.default_rng(0).normal(size=(500, 3))
GIGA = 2**30
Content = bytes | Callable[[Path], Any]  # or a function that makes the file at a path


@dataclass(frozen=True)
class Case:
    """A file: its name, its content, words of the error, and options of the reading."""

    name: str
    content: Callable[[], Content]
    says: str
    options: dict[str, Any] = field(default_factory=dict)


def half(content: bytes) -> bytes:
    return content[: len(content) // 2]


def sparse(head: bytes, size: int, tail: bytes = b"") -> Callable[[Path], Any]:
    """A file that begins with `head`, and is zeros without room on the disk for the rest."""

    def make(path: Path) -> None:
        with path.open("wb") as file:
            file.write(head)
            file.truncate(size)
            file.seek(size)
            file.write(tail)

    return make


def texts(*contents: Content) -> Callable[[Path], Any]:
    """A folder of texts."""

    def make(path: Path) -> None:
        path.mkdir()
        for number, content in enumerate(contents):
            place = path / f"{number}.txt"
            place.write_bytes(content) if isinstance(content, bytes) else content(place)

    return make


def parquet_bytes(columns: Any, **options: Any) -> bytes:
    sink = pa.BufferOutputStream()
    parquet.write_table(columns, sink, **options)
    return bytes(sink.getvalue())


def feather_bytes(columns: Any, **options: Any) -> bytes:
    sink = pa.BufferOutputStream()
    feather.write_feather(columns, sink, **options)
    return bytes(sink.getvalue())


def grafted(small: bytes, large: bytes) -> bytes:
    """The data of a small file with the footer of a large one; both formats end alike."""
    magic = 4 if small.startswith(b"PAR1") else 6
    length = struct.unpack("<i", large[-4 - magic : -magic])[0]
    return small[: len(small) // 2] + large[-(length + 4 + magic) :]


def npy(shape: tuple[int, ...], content: bytes) -> bytes:
    head = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}}}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + content


def npz(content: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as folder:
        folder.writestr("x.npy", content)
    return stream.getvalue()


def png(width: int, height: int, rows: int) -> bytes:
    def chunk(kind: bytes, body: bytes) -> bytes:
        whole = kind + body
        return struct.pack(">I", len(body)) + whole + struct.pack(">I", zlib.crc32(whole))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = zlib.compress(bytes((3 * width + 1) * rows), 1)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", body) + chunk(b"IEND", b"")


def jpeg(side: int) -> bytes:
    stream = io.BytesIO()
    PIL.fromarray(np.zeros((side, side, 3), np.uint8)).save(stream, "JPEG")
    return stream.getvalue()


def jpeg_declaring(width: int, height: int) -> bytes:
    content = bytearray(jpeg(16))
    place = content.index(b"\xff\xc0") + 5
    content[place : place + 4] = struct.pack(">HH", height, width)
    return bytes(content)


def wav_with(place: int, form: str, value: int) -> bytes:
    """A WAV file with one number of its header changed."""
    content = bytearray(wav(np.zeros(500)))
    struct.pack_into(form, content, place, value)
    return bytes(content)


def flac(samples: Any) -> bytes:
    stream = io.BytesIO()
    soundfile.write(stream, samples, 8000, format="FLAC")
    return stream.getvalue()


def flac_declaring(samples: int) -> bytes:
    content = bytearray(flac(ROWS[:, 0] / 9))
    known = int.from_bytes(content[18:26], "big")  # the last 36 bits are the number of samples
    content[18:26] = (known >> 36 << 36 | samples).to_bytes(8, "big")
    return bytes(content)


def mp4(pictures: int, side: int) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        frames = np.zeros((pictures, side, side, 3), np.uint8)
        return video(Path(folder) / "made.mp4", frames).read_bytes()


def mp4_declaring(samples: int) -> bytes:
    content = bytearray(mp4(8, 64))
    struct.pack_into(">I", content, content.index(b"stsz") + 12, samples)
    return bytes(content)


def mp4_of_two() -> bytes:
    """The pictures of a small video under the description of a large one."""
    small, large = mp4(8, 64), mp4(8, 1024)
    return small[: small.index(b"moov") - 4] + large[large.index(b"moov") - 4 :]
