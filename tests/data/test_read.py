"""`read`: the content of a file decides, then its name; each kind has its options."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path

import numpy as np
import pytest
from support.data_files import video, wav, written

from coterie.data import DataError, read, sample_picture_path
from coterie.data.read import kind_of


def test_every_kind_is_known_by_its_content(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.eye(3))
    np.savez(tmp_path / "b.npz", np.eye(3))
    shutil.copy(sample_picture_path(), tmp_path / "c.txt")  # the name lies
    written(tmp_path / "d.csv", wav(np.zeros(10)))
    written(tmp_path / "e", "a,b\n1,2\n")
    written(tmp_path / "f.txt", "some words\n")
    written(tmp_path / "g.jsonl", '{"a": 1}\n')
    written(tmp_path / "h.csv", "BM,x\n1,2\n")
    found = [kind_of(path) for path in sorted(tmp_path.iterdir())]
    assert found == [*["table"] * 2, "picture", "sound", "table", "text", "table", "table"]
    assert kind_of(tmp_path) == "text"
    assert kind_of(video(tmp_path / "v.avi", np.zeros((2, 16, 16, 3), np.uint8))) == "video"


def test_a_picture_as_patches_and_pixels() -> None:
    pytest.importorskip("PIL")
    data = read(sample_picture_path(), size=32)
    assert (data.kind, len(data), data.columns) == ("picture", 150, ("red", "green", "blue"))
    assert data.put_back(np.zeros(150, dtype=int)).shape == (320, 480)
    assert list(data.table(np.zeros(150, dtype=int))) == ["top", "left", "cluster"]
    data = read(sample_picture_path(), features="pixels", position=0.5)
    assert data.X.shape == (320 * 480, 5)
    assert data.provenance["position"] == 0.5
    with pytest.raises(ValueError, match="expected features out of 'patches', 'pixels'"):
        read(sample_picture_path(), features="edges")


def test_the_kind_can_be_given(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    path = written(tmp_path / "t.txt", "one,two\n1,2\n3,4\n")
    assert read(path).kind == "text"
    assert read(path, "table").X.tolist() == [[1, 2], [3, 4]]
    with pytest.raises(ValueError, match="expected kind out of 'table', 'picture'"):
        read(path, "tables")


def test_options_of_another_kind_are_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "t.csv", "x,y\n1,2\n")
    with pytest.raises(TypeError, match=r"options of a table: columns, ids.*got 'size'"):
        read(path, size=8)


def test_unknown_binary_files(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"starts with b'\\x7fELF.*pass kind"):
        read(written(tmp_path / "program", b"\x7fELF\0\0\0\0"))
    with pytest.raises(DataError, match=r"expected data, got a model.*coterie predict m\.coterie"):
        read(written(tmp_path / "m.coterie", b"COTERIE\x01\0\0"))
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("start", "says"),
    [
        (b"%PDF-1.7\n", r"got a PDF document; save its table as CSV"),
        (b"PK\x03\x04" + b"\0" * 26 + b"[Content_Types].xml", r"Excel .*; save the sheet as CSV"),
        (b"\x80\x04\x95", r"got a pickle, which could run code; write Parquet"),
        (b"ID3\x04\0", r"got an MP3; convert it"),
        (b"SQLite format 3\0", r"got an SQLite database"),
    ],
)
def test_common_kinds_of_files_that_are_not_read(tmp_path: Path, start: bytes, says: str) -> None:
    path = written(tmp_path / "thing", start + b"\0" * 300)
    for kind in (None, "table"):
        with pytest.raises(DataError, match=rf"thing: expected a table, picture.*{says}"):
            read(path, kind)


def test_empty_files_and_other_archives(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"a\.png: expected a PNG picture, got an empty file"):
        read(written(tmp_path / "a.png", b""))
    with zipfile.ZipFile(tmp_path / "rows.zip", "w") as archive:
        archive.writestr("rows.csv", "1,2\n")
    with pytest.raises(DataError, match=r"got a ZIP file with rows\.csv; unpack it"):
        read(tmp_path / "rows.zip")


def test_extensions_of_another_format(tmp_path: Path) -> None:
    path = written(tmp_path / "t.parquet", "a,b\n1,2\n3,4\n")
    with pytest.raises(DataError, match=r"t\.parquet: expected Parquet, as the name ends in"):
        read(path)
    with pytest.raises(DataError, match=r"does not begin with PAR1: it begins with b'a,b"):
        read(path, "table")  # nor by insisting
    np.save(tmp_path / "a.npy", np.eye(3))
    (tmp_path / "a.npy").rename(tmp_path / "a.parquet")
    assert read(tmp_path / "a.parquet").provenance["format"] == "npy"  # the content decides


def test_labels_that_do_not_fit(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.eye(3))
    data = read(tmp_path / "a.npy")
    with pytest.raises(ValueError, match=r"shape \(3,\), got shape \(2,\)"):
        data.put_back([0, 1])
    with pytest.raises(ValueError, match="number the clusters from 0"):
        data.table([0, 1, -2])
    assert repr(data).startswith("Dataset(table ")
