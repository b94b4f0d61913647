"""Files of every format that are cut off, that lie, or that want to fill the memory.

Each is one clear error. All are read by one process that may not take more than a budget, and the
most memory that each reading took is measured.
"""

from __future__ import annotations

import gzip
import json
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from support import hostile_files as h
from support.data_files import table, wav
from support.hostile_files import GIGA, ROWS, ZEROS, Case, half

BUDGET = 150  # MB that one refused reading may take, far below the demand of the files
CSV = b"a,b\n" + b"1.5,2.5\n" * 200
TSV = CSV.replace(b",", b"\t")
JSON = b'{"a": 1}\n' * 100
SMALL_MEMORY = {"max_memory": "50 MB"}
TABLE, TEXT = {"kind": "table"}, {"kind": "text"}

# Of each format: a file that is cut off, files that lie, and bombs.
FILES: dict[str, dict[str, tuple[Case, ...]]] = {
    "CSV": {
        "cut off": (Case("cut.csv", lambda: CSV + b"1.5", "line 202"),),
        "lying": (
            Case("names.csv", lambda: b"a,b,c\n" + b"1,2\n" * 50, "line 1"),
            Case("picture.csv", lambda: h.png(64, 64, 64), "got a picture", TABLE),
            Case("mark.csv", lambda: b"\xef\xbb\xbfn\xe4me,b\n1,2\n", "the byte 0xe4 in line 1"),
            Case("utf16.csv", lambda: CSV.decode().encode("utf-16"), "got UTF-16"),
            Case("unmarked.csv", lambda: CSV.decode().encode("utf-16-le"), "starts with b'a\\x00"),
        ),
        "bomb": (
            Case("wide.csv", lambda: b"1," * 10_000_000 + b"1\n", "lines of at most 4.2 MB"),
            Case("names.csv", lambda: b"a," * 10_000_000 + b"a\n1,2\n", "longer one in line 1"),
            Case("field.csv", lambda: h.sparse(CSV + b"1.5,", GIGA, b"\n"), "NUL character"),
            Case("endless.csv", lambda: b"1" * 100_000_000, "longer one in line 1"),
            Case("last.csv", lambda: CSV + CSV[4:] * 500 + b"1" * 50_000_000, "line 100202"),
            Case("later.csv", lambda: CSV[4:] * 500 + b"1," * 9_000_000, "line 100001"),
            Case("quote.csv", lambda: b'a,b\n1,"' + b"x\n" * 20_000_000, "from line 2 on"),
            Case("digits.csv", lambda: b"a,b\n1,2\n1," + b"9" * 10**6 + b"\n", "longer one"),
        ),
    },
    "TSV": {
        "cut off": (Case("cut.tsv", lambda: TSV + b"1.5", "line 202"),),
        "lying": (
            Case("names.tsv", lambda: b"a\tb\tc\n" + b"1\t2\n" * 50, "line 1"),
            Case("sound.tsv", lambda: wav(np.zeros(500)), "got a sound", TABLE),
        ),
        "bomb": (Case("wide.tsv", lambda: b"1\t" * 10_000_000 + b"1\n", "lines of at most"),),
    },
    "CSV.gz": {
        "cut off": (Case("cut.csv.gz", lambda: half(gzip.compress(CSV)), "complete gzip file"),),
        "lying": (
            Case("size.csv.gz", lambda: gzip.compress(CSV)[:-4] + b"\xff" * 4, "gzip"),
            Case("picture.csv.gz", lambda: gzip.compress(h.png(64, 64, 64)), "got a picture"),
        ),
        "bomb": (
            Case("bomb.csv.gz", lambda: gzip.compress(b"0,0\n" * 50_000_000, 1), "max_"),
            Case("line.csv.gz", lambda: gzip.compress(b"0" * 15_000_000, 1), "longer one"),
        ),
    },
    "Parquet": {
        "cut off": (Case("cut.parquet", lambda: half(h.parquet_bytes(table(500))), "complete"),),
        "lying": (
            Case("text.parquet", lambda: CSV, "does not begin with PAR1"),
            Case(
                "graft.parquet",
                lambda: h.grafted(h.parquet_bytes(table(500)), h.parquet_bytes(table(90_000))),
                "complete parquet file",
            ),
        ),
        "bomb": (
            Case("x.parquet", lambda: h.parquet_bytes(h.pa.table({"x": ZEROS})), "max_expansion"),
        ),
    },
    "Arrow": {
        "cut off": (Case("cut.arrow", lambda: half(h.feather_bytes(table(500))), "complete"),),
        "lying": (
            Case("text.feather", lambda: CSV, "does not begin with ARROW1"),
            Case(
                "graft.arrow",
                lambda: h.grafted(h.feather_bytes(table(500)), h.feather_bytes(table(90_000))),
                "complete arrow file",
            ),
        ),
        "bomb": (
            Case(
                "x.arrow",
                lambda: h.feather_bytes(h.pa.table({"x": ZEROS}), compression="zstd"),
                "max_expansion",
            ),
            Case(  # one batch, which pyarrow unpacks whole
                "batch.arrow",
                lambda: h.feather_bytes(
                    h.pa.table({"x": ZEROS}), compression="zstd", chunksize=len(ZEROS)
                ),
                "max_expansion",
            ),
        ),
    },
    "NPY": {
        "cut off": (
            Case("cut.npy", lambda: h.npy((500, 3), half(ROWS.tobytes())), "the declared shape"),
        ),
        "lying": (
            Case("rows.npy", lambda: h.npy((10**12, 3), ROWS.tobytes()), "the declared shape"),
            Case("text.npy", lambda: CSV, "does not begin with \\x93NUMPY"),
        ),
        "bomb": (
            Case("rows.npy", lambda: h.sparse(h.npy((5 * 10**8,), b""), 128 + 4 * 10**9), "4.0 GB"),
            Case("wide.npy", lambda: h.sparse(h.npy((1, 10**8), b""), 128 + 8 * 10**8), "columns"),
            Case(
                "header.npy",
                lambda: h.sparse(b"\x93NUMPY\x02\x00" + struct.pack("<I", GIGA), GIGA + 12),
                "claims 1,073,741,824 bytes",
            ),
        ),
    },
    "NPZ": {
        "cut off": (
            Case("cut.npz", lambda: half(h.npz(h.npy((500, 3), ROWS.tobytes()))), "complete NPZ"),
        ),
        "lying": (
            Case("rows.npz", lambda: h.npz(h.npy((501, 3), ROWS.tobytes())), "NPZ"),
            Case("text.npz", lambda: CSV, "does not begin with PK"),
        ),
        "bomb": (
            Case("x.npz", lambda: h.npz(h.npy((20_000_000,), ZEROS.tobytes())), "max_"),
            Case("head.npz", lambda: h.npz(b"\x93NUMPY\x02\x00\0\0\0\x09" + ZEROS.data), "claims"),
        ),
    },
    "JSON lines": {
        "cut off": (
            Case("cut.jsonl", lambda: JSON + b'{"a"', "complete json file"),
            Case("cut.json", lambda: b'[{"a": 1}, {"a"', "object 2 cannot be read"),
            Case("end.json", lambda: b'[{"a": 1}', "after object 1, got 'the end of the file'"),
        ),
        "lying": (
            Case("table.json", lambda: CSV, "does not begin with {"),
            Case("mixed.json", lambda: b'[{"a": 1}, 2]', "as row 2, got '2]'"),
            Case("more.json", lambda: b'[{"a": 1}] [', "nothing after the array, got '['"),
            Case("latin.json", lambda: b'[{"a": "\xe4"}]', "got the byte 0xe4 at 8"),
            Case("array.json", lambda: b"[[1, 2], [3, 4]]", "got an array of something else"),
            Case("types.json", lambda: JSON + b'{"a": "b"}\n', "a string in object 101"),
        ),
        "bomb": (
            Case("deep.json", lambda: b'[{"a": ' + b"[" * 10**5 + b"]" * 10**5, "object 1 cannot"),
            Case("deep.jsonl", lambda: b'{"a": ' + b"[" * 10**5 + b"]" * 10**5 + b"}", "64 lists"),
            Case("open.jsonl", lambda: JSON + b'{"a": ' * 10**5, "line 101"),
            Case("long.jsonl", lambda: JSON + b'{"a": ' * 10**6, "longer one in line 101"),
            Case("digits.jsonl", lambda: b'{"a": ' + b"1" * 10**6 + b"}\n", "got infinity"),
            Case(
                "keys.jsonl",
                lambda: b"{" + b",".join(b'"k%d": 1' % i for i in range(10**6)) + b"}\n",
                "longer one in line 1",
            ),
            Case(
                "new-keys.jsonl",
                lambda: b"".join(b'{"k%d": 1}\n' % i for i in range(10**4)),
                "10,000 rows with 10,000 different keys",
            ),
        ),
    },
    "PNG": {
        "cut off": (Case("cut.png", lambda: half(h.png(64, 64, 64)), "complete picture"),),
        "lying": (
            Case("size.png", lambda: h.png(60_000, 60_000, 1), "pixels"),
            Case("text.png", lambda: CSV, "does not begin with \\x89PNG"),
        ),
        "bomb": (Case("black.png", lambda: h.png(7_900, 7_900, 7_900), "max_expansion"),),
    },
    "JPEG": {
        "cut off": (Case("cut.jpg", lambda: h.jpeg(16)[:-300], "expected"),),
        "lying": (
            Case("size.jpg", lambda: h.jpeg_declaring(60_000, 60_000), "pixels"),
            Case("text.jpg", lambda: CSV, "does not begin with \\xff\\xd8"),
        ),
        "bomb": (Case("black.jpg", lambda: h.jpeg(7_900), "max_expansion"),),
    },
    "WAV": {
        "cut off": (Case("cut.wav", lambda: half(wav(np.zeros(20_000))), "cut off"),),
        "lying": (
            Case("empty.wav", lambda: h.wav_with(40, "<I", 2**32 - 2)[:44], "expected"),
            Case("channels.wav", lambda: h.wav_with(22, "<H", 65_535), "Too many channels"),
            Case("rate.wav", lambda: h.wav_with(24, "<I", 0), "cannot be decoded"),
            Case("text.wav", lambda: CSV, "does not begin with RIFF....WAVE"),
        ),
        "bomb": (
            Case("long.wav", lambda: h.sparse(h.wav_with(40, "<I", 2**32 - 40)[:44], 2**32),
                 "which need 17.2 GB"),
        ),
    },
    "FLAC": {
        "cut off": (Case("cut.flac", lambda: half(h.flac(ROWS[:, 0] / 9)), "expected"),),
        "lying": (
            Case("more.flac", lambda: h.flac_declaring(10**6), "complete WAV, FLAC or OGG"),
            Case("most.flac", lambda: h.flac_declaring(2**36 - 1), "which need 549.8 GB"),
            Case("piped.flac", lambda: h.flac_declaring(0), "says how long it is"),
            Case("text.flac", lambda: CSV, "does not begin with fLaC"),
        ),
        "bomb": (Case("silence.flac", lambda: h.flac(ZEROS), "max_"),),
    },
    "MP4": {
        "cut off": (Case("cut.mp4", lambda: half(h.mp4(8, 64)), "expected"),),
        "lying": (
            Case("count.mp4", lambda: h.mp4_declaring(2**31 - 1), "complete video"),
            Case("size.mp4", h.mp4_of_two, "got a damaged one"),
            Case("text.mp4", lambda: CSV, "does not begin with ....ftyp"),
        ),
        "bomb": (
            Case("x.mp4", lambda: h.mp4(4, 2000), "max_memory", SMALL_MEMORY),
            Case("pixels.mp4", lambda: h.mp4(4, 1000), "max_memory",
                 {"features": "pixels", "every": 0.0, **SMALL_MEMORY}),
        ),
    },
    "text": {
        "cut off": (Case("cut.txt", lambda: "cats\ndögs".encode()[:-3], "0xc3 in line 2"),),
        "lying": (
            Case("zeros.txt", lambda: b"cats\n" * 100 + bytes(100), "NUL character in line 101"),
            Case("picture.txt", lambda: h.png(64, 64, 64), "got a picture", TEXT),
            Case("utf16.txt", lambda: "cats\ndogs".encode("utf-16"), "got UTF-16"),
            Case("mark.txt", lambda: b"\xef\xbb\xbfcats\nd\xf6gs", "0xf6 in line 2"),
        ),
        "bomb": (
            Case("zeros.txt", lambda: h.sparse(b"cats\n" * 100, GIGA), "which need 4.3 GB"),
            Case("fewer.txt", lambda: h.sparse(b"cats\n" * 100, 4 * 10**8), "NUL character"),
            Case("word.txt", lambda: b"x" * 100_000_000, "which need 400.0 MB", SMALL_MEMORY),
        ),
    },
    "folder of texts": {
        "cut off": (
            Case("cut", lambda: h.texts(b"cats", "dögs".encode()[:2]), "line 1 in 1.txt"),
        ),
        "lying": (
            Case("picture", lambda: h.texts(b"cats", h.png(64, 64, 64)), "a picture in 1.txt"),
            Case("zeros", lambda: h.texts(b"cats", bytes(100)), "line 1 in 1.txt"),
            Case("nothing", lambda: h.texts(), "expected text files"),
        ),
        "bomb": (
            Case("large", lambda: h.texts(b"cats", h.sparse(b"", GIGA)), "which need 4.3 GB"),
            Case("fewer", lambda: h.texts(b"cats", h.sparse(b"d", 4 * 10**8)), "NUL character"),
        ),
    },
}  # fmt: skip

CASES = {
    f"{form}/{way}/{number}-{case.name}": case
    for form, ways in FILES.items()
    for way, cases in ways.items()
    for number, case in enumerate(cases)
}

READ = """
import json, re, resource, sys
from pathlib import Path
import coterie
from coterie.data import DataError
import pyarrow.parquet, pyarrow.feather, pyarrow.json, pyarrow.csv, soundfile, av, PIL.Image
import sklearn.feature_extraction.text
def of(field):
    return int(re.search(field + r":\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1]) / 1e3
jobs = json.loads(sys.argv[1])
limit = int((of("VmSize") + 8000) * 1e6)  # allocators reserve much that they do not use
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
for name, path, options in jobs:
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    before = of("VmRSS")
    try:
        said = f"read {coterie.read(path, **options)}"
    except DataError as error:
        said = str(error)
    except BaseException as error:
        said = f"{type(error).__name__}: {error}"
    print(json.dumps([name, said, of("VmHWM") - before]), flush=True)
"""


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[str, float]]:
    """Errors of all files, and the megabytes that each reading took."""
    jobs = []
    for name, case in CASES.items():
        path = tmp_path_factory.mktemp("hostile") / case.name
        content = case.content()
        path.write_bytes(content) if isinstance(content, bytes) else content(path)
        jobs.append([name, str(path), case.options])
    run = subprocess.run(
        [sys.executable, "-c", READ, json.dumps(jobs)], capture_output=True, text=True
    )
    answers = [json.loads(line) for line in run.stdout.splitlines()]
    assert run.returncode == 0, f"after {answers[-1:]}: {run.stderr[-2000:]}"
    return {name: (said, megabytes) for name, said, megabytes in answers}


def test_no_format_is_left_out() -> None:
    assert all(set(ways) == {"cut off", "lying", "bomb"} for ways in FILES.values())


@pytest.mark.skipif(
    not Path("/proc/self/clear_refs").exists(), reason="measures memory as Linux does"
)
@pytest.mark.parametrize("name", CASES)
def test_one_clear_error_within_the_budget(told: dict[str, tuple[str, float]], name: str) -> None:
    said, megabytes = told[name]
    assert f"/{CASES[name].name}: expected" in said, said
    assert CASES[name].says in said, said
    assert "; " in said, f"no remedy: {said}"
    assert megabytes < BUDGET, f"{megabytes:.0f} MB for: {said}"
