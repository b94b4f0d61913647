"""Makers of small files of every kind, for tests."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest


def written(path: Path, content: bytes | str) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def table(rows: int = 100, columns: int = 3, seed: int = 0, **others: Any) -> Any:
    """An Arrow table of float columns a, b, c, ... and further columns."""
    pa = pytest.importorskip("pyarrow")
    X = np.random.default_rng(seed).normal(size=(rows, columns))
    named = {chr(ord("a") + j): X[:, j] for j in range(columns)}
    return pa.table({**named, **others})


def wav(samples: Any, rate: int = 8000) -> bytes:
    """A mono 16-bit WAV file."""
    data = np.round(np.clip(samples, -1, 1) * 32767).astype("<i2").tobytes()
    head = struct.pack("<4sI4s", b"RIFF", 36 + len(data), b"WAVE")
    form = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, 1, rate, 2 * rate, 2, 16)
    return head + form + struct.pack("<4sI", b"data", len(data)) + data


def video(path: Path, pictures: Any, rate: int = 4) -> Path:
    """A video of pictures (n, height, width, 3) uint8, each shown for 1 / rate seconds."""
    av = pytest.importorskip("av")
    with av.open(str(path), "w") as container:
        stream = container.add_stream("mpeg4", rate=rate)
        stream.height, stream.width = pictures.shape[1:3]
        stream.pix_fmt, stream.bit_rate = "yuv420p", 8_000_000
        for picture in pictures:
            container.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        container.mux(stream.encode())
    return path
