"""Memory that runs out while a file is read: one clear error, and no waiting without end."""

from __future__ import annotations

import errno
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from support.data_files import table, written

from coterie.data import DataError
from coterie.data.memory_shortage import reading_threads, reports_shortage, shortage
from coterie.data.tables.fill_rows import new_rows

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
feather = pytest.importorskip("pyarrow.feather")

READ = """
import re, resource, sys
from pathlib import Path
from coterie.data import read
for small in sys.argv[1:3]:
    read(small)  # and what it imports
status = Path("/proc/self/status").read_text()
size = 1024 * int(re.search(r"VmSize:\\s+(\\d+)", status)[1])
for extra in (0, 4_000_000):
    resource.setrlimit(resource.RLIMIT_AS, (size + extra, resource.RLIM_INFINITY))
    for path in sys.argv[3:]:
        try:
            print(read(path))
        except Exception as error:
            print(type(error).__name__, error)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="measures memory as Linux does")
def test_too_little_memory_is_said_and_no_thread_waits_for_it(tmp_path: Path) -> None:
    columns, names = table(20_000, 5), ("groups.parquet", "one.parquet", "t.arrow", "t.csv")
    parquet.write_table(columns, tmp_path / names[0], row_group_size=2_000)
    parquet.write_table(columns, tmp_path / names[1])
    feather.write_feather(columns, str(tmp_path / names[2]))
    written(tmp_path / names[3], "a,b\n" + "1.5,2.5\n" * 200_000)
    small = [tmp_path / "small.parquet", tmp_path / "small.arrow"]
    parquet.write_table(table(10), small[0])
    feather.write_feather(table(10), str(small[1]))
    paths = [str(tmp_path / name) for name in names]
    command = [sys.executable, "-c", READ, *map(str, small), *paths]
    run = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stderr[-2000:]
    said = run.stdout.splitlines()
    assert len(said) == 2 * len(paths), said
    for line, path in zip(said, 2 * paths, strict=True):
        assert line.startswith(f"OutOfMemory {path}: expected memory for its rows, got"), line
        assert "; close other programs, or read less" in line


def test_the_need_of_memory_is_said() -> None:
    with pytest.raises(MemoryError, match=r"1,000,000,000,000,000 rows of 10 columns need 80,000"):
        new_rows(10**15, 10, np.dtype(np.float64))
    with pytest.raises(MemoryError, match=r"less than 33,554,432\.0 GB are left"):
        reading_threads(10**9)


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        OSError(errno.ENOMEM, "Cannot allocate memory"),
        RuntimeError("can't start new thread"),
        pa.ArrowMemoryError("malloc of size 80 failed"),
        pa.ArrowInvalid("LZ4 decompress failed: ERROR_allocation_failed"),
        ImportError("libx.so: failed to map segment from shared object"),
    ],
    ids=repr,
)
def test_every_word_for_it_becomes_one_error(error: Exception) -> None:
    @reports_shortage
    def read(path: str) -> None:
        try:
            raise error
        except Exception as found:
            raise DataError("damaged") from found

    with pytest.raises(MemoryError, match=r"^x\.csv: expected memory for its rows, got"):
        read("x.csv")
    with pytest.raises(MemoryError, match=r"^x\.csv: expected memory for its rows, got"):
        reports_shortage(read)("x.csv")  # once


def test_other_errors_stay_as_they_are() -> None:
    for error in (DataError("bad_alloc in line 1"), OSError(errno.ENOENT, "no"), KeyError("x")):
        assert shortage(error) is None
