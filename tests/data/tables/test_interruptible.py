"""Ctrl-C while a table is read: the reading ends, and the next one is right."""

from __future__ import annotations

import io
import os
import select
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from coterie.data.tables.interruptible import read_interruptibly

pa = pytest.importorskip("pyarrow")
csv = pytest.importorskip("pyarrow.csv")
parquet = pytest.importorskip("pyarrow.parquet")

CHILD = """
import sys
import numpy as np
from coterie.data import read_table
right = np.load(sys.argv[1])
for path in sys.argv[2:]:
    read_table(path)
    try:
        print("ready", flush=True)
        while True:
            read_table(path)
    except KeyboardInterrupt:
        assert np.array_equal(read_table(path).X, right)
        print("interrupted", flush=True)
"""


def test_an_interrupted_reading_leaves_nothing_wrong(tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(100_000, 4))
    columns = pa.table({f"c{j}": X[:, j] for j in range(4)})
    csv.write_csv(columns, tmp_path / "t.csv")
    parquet.write_table(columns, tmp_path / "t.parquet")
    np.save(tmp_path / "t.npy", X)
    paths = [str(tmp_path / f"t.{suffix}") for suffix in ("npy", "csv", "parquet")]
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, paths[0], *paths[1:]], stdout=subprocess.PIPE, bufsize=0
    )
    assert child.stdout is not None
    try:
        for wait in (0.05, 0.02):
            assert child.stdout.readline() == b"ready\n"
            time.sleep(wait)
            interrupt(child)
            assert child.stdout.readline() == b"interrupted\n"
        assert child.wait(60) == 0
    finally:
        child.kill()
        child.communicate()


def interrupt(child: subprocess.Popen[bytes]) -> None:
    """Send Ctrl-C until the child answers: Python can lose one during a garbage collection."""
    for _ in range(10):
        child.send_signal(signal.SIGINT)
        if select.select([child.stdout], [], [], 5)[0]:
            return
    pytest.fail("Ctrl-C is not heard")


class Endless(io.RawIOBase):
    def read(self, size: int = -1) -> bytes:
        return b"1,2\n"


def test_ctrl_c_ends_a_text_without_end() -> None:
    blocks = []

    def read(file: io.RawIOBase) -> None:
        assert threading.current_thread() is not threading.main_thread()
        while block := file.read(4):
            blocks.append(block)
            if len(blocks) == 1000:
                time.sleep(0.1)  # until the main thread waits
                os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        read_interruptibly(read, Endless())  # type: ignore[arg-type]
    assert len(blocks) >= 1000
    assert not [t for t in threading.enumerate() if t.name.startswith("coterie-read")]


def test_results_and_errors_of_the_other_thread_come_back() -> None:
    assert read_interruptibly(lambda file: file.read(2), io.BytesIO(b"abc")) == b"ab"
    with pytest.raises(pa.ArrowInvalid, match="Expected 1 columns, got 2"):
        read_interruptibly(csv.read_csv, io.BytesIO(b"a\n1,2\n"))
