"""Files that are cut off, that lie, or that want to fill the memory: one clear error each.

All are read by one process that may not take more than a budget, and the most memory that each
reading took is measured.
"""

from __future__ import annotations

import gzip
import json
import struct
import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from data.files import table, video, wav, written

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
feather = pytest.importorskip("pyarrow.feather")
soundfile = pytest.importorskip("soundfile")
PIL = pytest.importorskip("PIL.Image")

BUDGET = 150  # MB that one refused reading may take for a while, far below what the files ask for
ZEROS = np.zeros(20_000_000)  # 160 MB
ROWS = np.random.default_rng(0).normal(size=(500, 3))


def half(content: bytes) -> bytes:
    return content[: len(content) // 2]


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


def npy_bytes(shape: tuple[int, ...], content: bytes) -> bytes:
    head = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}}}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + content


def npz(path: Path, content: bytes) -> Path:
    import zipfile

    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as folder:
        folder.writestr("x.npy", content)
    return path


def png_bytes(width: int, height: int, rows: int) -> bytes:
    def chunk(kind: bytes, body: bytes) -> bytes:
        whole = kind + body
        return struct.pack(">I", len(body)) + whole + struct.pack(">I", zlib.crc32(whole))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = zlib.compress(bytes((3 * width + 1) * rows))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", body) + chunk(b"IEND", b"")


def jpeg_with_size(folder: Path, width: int, height: int) -> bytes:
    PIL.fromarray(np.zeros((16, 16, 3), np.uint8)).save(folder / "small.jpg")
    content = bytearray((folder / "small.jpg").read_bytes())
    place = content.index(b"\xff\xc0") + 5
    content[place : place + 4] = struct.pack(">HH", height, width)
    return bytes(content)


def flac(path: Path, samples: Any) -> bytes:
    soundfile.write(path, samples, 8000, format="FLAC")
    return path.read_bytes()


CSV = "a,b\n" + "1.5,2.5\n" * 200

# name of the file: how to make it in a folder, and what the error says
MAKERS: dict[str, tuple[Callable[[Path], bytes | Path], str]] = {
    "cut.csv": (lambda f: (CSV + "1.5").encode(), "line 202"),
    "lying.csv": (lambda f: b"a,b,c\n" + b"1,2\n" * 50, "line 1"),
    "cut.tsv": (lambda f: (CSV.replace(",", "\t") + "1.5").encode(), "line 202"),
    "cut.csv.gz": (lambda f: half(gzip.compress(CSV.encode())), "complete gzip file"),
    "lying.csv.gz": (lambda f: gzip.compress(CSV.encode())[:-4] + b"\xff" * 4, "gzip"),
    "bomb.csv.gz": (lambda f: gzip.compress(b"0,0\n" * 50_000_000, 1), "max_"),
    "cut.parquet": (lambda f: half(parquet_bytes(table(500))), "complete parquet file"),
    "lying.parquet": (
        lambda f: grafted(parquet_bytes(table(500)), parquet_bytes(table(90_000))),
        "complete parquet file",
    ),
    "bomb.parquet": (lambda f: parquet_bytes(pa.table({"x": ZEROS})), "max_expansion"),
    "cut.arrow": (lambda f: half(feather_bytes(table(500))), "complete arrow file"),
    "lying.arrow": (
        lambda f: grafted(feather_bytes(table(500)), feather_bytes(table(90_000))),
        "complete arrow file",
    ),
    "bomb.arrow": (
        lambda f: feather_bytes(pa.table({"x": ZEROS}), compression="zstd"),
        "max_expansion",
    ),
    "batch.arrow": (  # all in one batch, which pyarrow unpacks whole
        lambda f: feather_bytes(pa.table({"x": ZEROS}), compression="zstd", chunksize=len(ZEROS)),
        "max_expansion",
    ),
    "cut.npy": (lambda f: npy_bytes((500, 3), half(ROWS.tobytes())), "the declared shape"),
    "lying.npy": (lambda f: npy_bytes((2**40, 3), ROWS.tobytes()), "the declared shape"),
    "cut.npz": (lambda f: half(npz(f / "x", npy_bytes((500, 3), ROWS.tobytes())).read_bytes()),
                "complete NPZ file"),
    "lying.npz": (lambda f: npz(f / "lying.npz", npy_bytes((501, 3), ROWS.tobytes())), "NPZ"),
    "bomb.npz": (lambda f: npz(f / "bomb.npz", npy_bytes((20_000_000,), ZEROS.tobytes())), "max_"),
    "cut.jsonl": (lambda f: b'{"a": 1}\n' * 100 + b'{"a"', "complete json file"),
    "deep.jsonl": (lambda f: b'{"a": ' + b"[" * 200_000, "expected"),
    "cut.png": (lambda f: half(png_bytes(64, 64, 64)), "expected"),
    "lying.png": (lambda f: png_bytes(60_000, 60_000, 1), "pixels"),
    "bomb.png": (lambda f: png_bytes(7_900, 7_900, 7_900), "expected"),
    "lying.jpg": (lambda f: jpeg_with_size(f, 60_000, 60_000), "pixels"),
    "cut.jpg": (lambda f: jpeg_with_size(f, 16, 16)[:-300], "expected"),
    "cut.wav": (lambda f: half(wav(np.zeros(20_000))), "expected"),
    "lying.wav": (lambda f: wav(np.zeros(500))[:40] + struct.pack("<I", 2**32 - 2), "expected"),
    "cut.flac": (lambda f: half(flac(f / "x.flac", ROWS[:, 0] / 9)), "expected"),
    "bomb.flac": (lambda f: flac(f / "x.flac", ZEROS), "max_"),
    "cut.mp4": (lambda f: half(video(f / "x.mp4", np.zeros((8, 64, 64, 3), np.uint8)).read_bytes()),
                "expected"),
    "bomb.mp4": (lambda f: video(f / "x.mp4", np.zeros((4, 2000, 2000, 3), np.uint8)).read_bytes(),
                 "max_memory"),
    "cut.txt": (lambda f: "cats\ndögs".encode()[:-3], "UTF-8"),
}  # fmt: skip

OPTIONS = {"bomb.mp4": {"features": "pixels", "max_memory": "50 MB"}}

READ = """
import json, re, resource, sys
from pathlib import Path
import coterie
from coterie.data import DataError, PictureError
import pyarrow.parquet, pyarrow.feather, pyarrow.json, pyarrow.csv, soundfile, av, PIL.Image
def of(field):
    return int(re.search(field + r":\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1]) / 1e3
jobs = json.loads(sys.argv[1])
limit = int((of("VmSize") + 8000) * 1e6)  # allocators reserve much that they do not use
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
told = {}
for path, options in jobs:
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    before = of("VmRSS")
    try:
        coterie.read(path, **options)
        said = "read"
    except (DataError, PictureError) as error:
        said = str(error)
    except BaseException as error:
        said = f"{type(error).__name__}: {error}"
    told[Path(path).name] = (said, of("VmHWM") - before)
print(json.dumps(told))
"""


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[str, float]]:
    folder = tmp_path_factory.mktemp("hostile")
    jobs = []
    for name, (make, _) in MAKERS.items():
        content = make(folder)
        path = content if isinstance(content, Path) else written(folder / name, content)
        jobs.append([str(path), OPTIONS.get(name, {})])
    run = subprocess.run(
        [sys.executable, "-c", READ, json.dumps(jobs)], capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr[-2000:]
    return dict(json.loads(run.stdout))


@pytest.mark.skipif(
    not Path("/proc/self/clear_refs").exists(), reason="measures memory as Linux does"
)
@pytest.mark.parametrize("name", MAKERS)
def test_one_clear_error_within_the_budget(told: dict[str, tuple[str, float]], name: str) -> None:
    said, megabytes = told[name]
    assert name in said, said
    assert "expected" in said
    assert MAKERS[name][1] in said, said
    assert megabytes < BUDGET, f"{megabytes:.0f} MB for: {said}"
