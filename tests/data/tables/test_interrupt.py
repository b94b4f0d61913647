"""Ctrl-C while a table is read: the reading ends, and the next one is right."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

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
        [sys.executable, "-c", CHILD, paths[0], *paths[1:]], stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    with child, child.stdout as said:
        for wait in (0.05, 0.02):
            assert said.readline() == "ready\n"
            time.sleep(wait)
            child.send_signal(signal.SIGINT)
            assert said.readline() == "interrupted\n"
        assert child.wait() == 0
