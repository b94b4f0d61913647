"""Numbers written in any format come back bit for bit."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from support.kmeans_cases import thorough

from coterie.data import read_table

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
feather = pytest.importorskip("pyarrow.feather")

Rows = NDArray[np.float64]


def columns(X: Rows) -> Any:
    return pa.table({f"c{j}": X[:, j] for j in range(X.shape[1])})


def text(X: Rows, separator: str) -> bytes:
    names = separator.join(f"c{j}" for j in range(X.shape[1]))
    lines = [separator.join(map(repr, row)) for row in X.tolist()]
    return "\n".join([names, *lines, ""]).encode()


def lines(X: Rows) -> bytes:
    return "\n".join(map(json.dumps, objects(X))).encode()


def objects(X: Rows) -> list[dict[str, float]]:
    return [{f"c{j}": value for j, value in enumerate(row)} for row in X.tolist()]


WRITERS: dict[str, Callable[[Path, Rows], Any]] = {
    "csv": lambda path, X: path.write_bytes(text(X, ",")),
    "tsv": lambda path, X: path.write_bytes(text(X, "\t")),
    "csv.gz": lambda path, X: path.write_bytes(gzip.compress(text(X, ";"))),
    "parquet": lambda path, X: parquet.write_table(columns(X), path, row_group_size=7),
    "arrow": lambda path, X: feather.write_feather(columns(X), str(path), chunksize=7),
    "npy": lambda path, X: np.save(path, X),
    "npz": lambda path, X: np.savez_compressed(path, X),
    "jsonl": lambda path, X: path.write_bytes(lines(X)),
    "json": lambda path, X: path.write_text(json.dumps(objects(X), indent=len(X) % 3 or None)),
}


@pytest.mark.parametrize("suffix", WRITERS)
@thorough(40)
@given(
    X=arrays(
        np.float64,
        st.tuples(st.integers(1, 40), st.integers(2, 5)),
        elements=st.floats(allow_nan=False, allow_infinity=False),
    )
)
def test_numbers_come_back_bit_for_bit(tmp_path_factory: Any, suffix: str, X: Rows) -> None:
    path = tmp_path_factory.getbasetemp() / f"round-trip.{suffix}"
    WRITERS[suffix](path, X)
    data = read_table(path, max_expansion=1e6)
    assert data.X.dtype == np.float64
    assert data.X.shape == X.shape
    # -0.0 is 0.0 where a format has no sign for it; all else is the same to the last bit.
    assert (data.X + 0.0).tobytes() == (X + 0.0).tobytes()
