"""The command line in this process, and small files of every kind."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("click")

from support import data_files

from coterie.cli.main import main
from coterie.data import blobs


@dataclass(frozen=True)
class Result:
    """Exit code and output of a command."""

    code: int
    bytes: bytes
    err: str

    @property
    def out(self) -> str:
        return self.bytes.decode()

    @property
    def told(self) -> str:
        """The text of stderr, in one line."""
        return " ".join(self.err.split())

    @property
    def rows(self) -> list[list[str]]:
        """Lines of CSV, without the header."""
        return [line.split(",") for line in self.out.splitlines()[1:]]


Run = Callable[..., Result]


@pytest.fixture
def run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> Run:
    """Run a command in a folder of its own; stdin may be given as bytes."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")

    def call(*arguments: object, stdin: bytes = b"") -> Result:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        code = main([str(argument) for argument in arguments])
        out, err = capsysbinary.readouterr()
        result = Result(code, out, err.decode())
        assert "Traceback" not in result.err
        return result

    return call


@pytest.fixture
def flowers(tmp_path: Path) -> Path:
    """Two groups of twenty rows in a CSV file with names."""
    X, groups = blobs(40, 2, spread=0.4, seed=1)
    lines = [
        f"f{i},{x:.3f},{y:.3f},{g}x" for i, ((x, y), g) in enumerate(zip(X, groups, strict=True))
    ]
    return data_files.written(
        tmp_path / "flowers.csv", "\n".join(["name,height,width,sort", *lines])
    )


@pytest.fixture
def flag(tmp_path: Path) -> Path:
    """Three stripes, white, blue and red."""
    image = pytest.importorskip("PIL.Image")
    stripes = np.repeat(np.array([[[255, 255, 255]], [[0, 0, 160]], [[200, 0, 0]]], np.uint8), 8, 0)
    path = tmp_path / "flag.png"
    image.fromarray(np.repeat(stripes, 32, axis=1)).save(path)
    return path


@pytest.fixture
def sound(tmp_path: Path) -> Path:
    """Half a second low, half a second high."""
    pytest.importorskip("soundfile")
    t = np.arange(4000) / 8000
    tones = [0.5 * np.sin(2 * np.pi * pitch * t) for pitch in (200, 2000)]
    return data_files.written(tmp_path / "tones.wav", data_files.wav(np.concatenate(tones)))


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    """Lines about cats and lines about ships."""
    lines = ["cats purr softly", "ships sail far", "cats purr and sleep", "ships sail and sink"] * 3
    return data_files.written(tmp_path / "lines.txt", "\n".join(lines))


@pytest.fixture
def film(tmp_path: Path) -> Path:
    """Four frames: dark, dark, light, light."""
    frames: Any = np.zeros((4, 32, 32, 3), np.uint8)
    frames[2:] = 220
    return data_files.video(tmp_path / "film.mp4", frames)
