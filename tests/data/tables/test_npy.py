"""NPY and NPZ: read straight into place, without pickle, at their declared length."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.data_files import written

from coterie.data import DataError, read_table


def npy(values: Any) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, values, allow_pickle=True)
    return buffer.getvalue()


def declaring(shape: tuple[int, ...], body: bytes = b"") -> bytes:
    buffer = io.BytesIO()
    head = {"descr": "<f8", "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(buffer, head)
    return buffer.getvalue() + body


@pytest.mark.parametrize("dtype", ["<f8", ">f8", "<f4", "<f2", "<i4", ">u2", "|b1"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_every_type_and_order(tmp_path: Path, dtype: str, order: Any) -> None:
    values = np.array(np.arange(12).reshape(4, 3) % 5, dtype=dtype, order=order)
    data = read_table(written(tmp_path / "x.npy", npy(values)))
    np.testing.assert_array_equal(data.X, values)
    assert data.X.flags.c_contiguous
    assert data.X.dtype == (np.float32 if dtype in ("<f4", "<f2") else np.float64)


def test_names_for_a_file_without(tmp_path: Path) -> None:
    values = np.arange(12.0).reshape(4, 3)
    path = written(tmp_path / "x.npy", npy(values))
    data = read_table(path, columns=["a", "b", "c"])
    assert data.columns == ("a", "b", "c")
    assert data.provenance["names"] == "given"
    np.testing.assert_array_equal(data.X, values)
    assert "names" not in read_table(path, columns=["column_2"]).provenance
    with pytest.raises(DataError, match="expected 2 columns of numbers, to be named 'a', 'b', got"):
        read_table(path, columns=["a", "b"])
    with pytest.raises(DataError, match="expected different columns, got 'a' more than once"):
        read_table(path, columns=["a", "a", "b"])
    with pytest.raises(DataError, match="expected a column 'a', found none"):
        read_table(path, columns=["a", "column_1", "b"])
    text = written(tmp_path / "x.csv", "u,1,2\nv,3,4\n")
    data = read_table(text, columns=["a", "b"], ids=0, header=False)
    assert data.columns == ("a", "b")
    assert data.ids["column_0"].tolist() == ["u", "v"]
    with pytest.raises(DataError, match="expected a column 'a', found none"):
        read_table(written(tmp_path / "y.csv", "1,2\n3,4\n"), columns=["a", "b"])


def test_columns_by_position_and_one_dimension(tmp_path: Path) -> None:
    path = written(tmp_path / "x.npy", npy(np.arange(6.0).reshape(2, 3)))
    np.testing.assert_array_equal(read_table(path, columns=[2, 0]).X, [[2, 0], [5, 3]])
    data = read_table(path, ids=0)
    assert (data.columns, data.ids["column_0"].tolist()) == (("column_1", "column_2"), [0, 3])
    assert read_table(written(tmp_path / "y.npy", npy(np.arange(3.0)))).X.shape == (3, 1)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (npy(np.array([[{}]], dtype=object)), r"numbers of at most 64 bits, got dtype object.*run"),
        (npy(np.array([["a"]])), r"got dtype <U1"),
        (npy(np.array([[1j]])), r"got dtype complex128"),
        (npy(np.zeros((2, 2, 2))), r"shape \(rows, columns\), got shape \(2, 2, 2\); reshape"),
        (npy(np.zeros((0, 2))), r"got shape \(0, 2\)"),
        (
            declaring((10**12, 2)),
            r"expected 16,000,000,000,000 bytes .* got 0; the file is damaged",
        ),
        (declaring((True, 2), bytes(16)), r"whole numbers of rows and columns, .*\(True, 2\)"),
        (declaring((-1, 2), bytes(16)), r"whole numbers of rows and columns, .*\(-1, 2\)"),
        (declaring((2, 2), bytes(24)), r"expected 32 bytes .* got 24"),
        (declaring((2, 2), bytes(40)), r"expected 32 bytes .* got 40"),
        (b"\x93NUMPY\x01\x00\x10\x00nonsense", r"header cannot be read"),
        (b"\x93NUMPY\x09\x00", r"NPY file of version 1 or 2"),
    ],
)
def test_files_that_lie_or_could_run_code(tmp_path: Path, content: bytes, says: str) -> None:
    with pytest.raises(DataError, match=says):
        read_table(written(tmp_path / "x.npy", content))


def test_npz_takes_the_only_table_or_the_named_array(tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    np.savez_compressed(path, rows=np.eye(3), y=np.arange(3))
    np.testing.assert_array_equal(read_table(path).X, np.eye(3))
    np.savez(path, one=np.eye(2), two=np.eye(3))
    with pytest.raises(DataError, match=r"one array of numbers.*got 2 such among one, two; name"):
        read_table(path)
    assert read_table(path, array="two").X.shape == (3, 3)
    with pytest.raises(DataError, match=r"expected an array 'three', got 0"):
        read_table(path, array="three")


def test_an_npz_bomb_and_damaged_members(tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    np.savez_compressed(path, x=np.zeros((4_000_000, 1)))
    with pytest.raises(DataError, match=r"at most 100 bytes in memory per byte"):
        read_table(path)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as folder:
        folder.writestr("x.npy", declaring((100, 2), bytes(160)))
    with pytest.raises(DataError, match=r"complete NPZ file.*160 bytes of 1,600"):
        read_table(path)
    np.savez(path, x=np.eye(20))
    content = bytearray(path.read_bytes())
    content[1000] ^= 1  # inside the numbers: the checksum of the archive finds it
    with pytest.raises(DataError, match=r"complete NPZ file.*CRC"):
        read_table(written(path, bytes(content)))
    with pytest.raises(DataError, match=r"complete NPZ file"):
        read_table(written(path, bytes(content[:200])))


@pytest.mark.parametrize("dtype", ["<i8", "<f4", "<f8", ">f8", "|b1"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_long_arrays_are_converted_in_pieces(tmp_path: Path, dtype: str, order: Any) -> None:
    values = np.random.default_rng(0).integers(0, 9, size=(300_000, 3)).astype(dtype, order=order)
    path = written(tmp_path / "x.npy", npy(values))
    X = read_table(path).X
    np.testing.assert_array_equal(X, values.astype(np.float64))
    assert X.flags.c_contiguous
    np.testing.assert_array_equal(read_table(path, columns=[2, 0]).X, X[:, [2, 0]])


def test_names_that_no_file_can_hold_are_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "x.npy", npy(np.eye(2)))
    with pytest.raises(DataError, match=r"UTF-8 can hold, got 'b\\ud800' with half of a surrogate"):
        read_table(path, columns=["a", "b\ud800"])
