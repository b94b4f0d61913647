"""Columns, gaps, ids and scaling, in every format."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.data_files import written

from coterie.data import DataError, read_table
from coterie.data.tables.delimited import Delimited

pytest.importorskip("pyarrow")

TEXT = "id,x,y,ok\nu,1,10,true\nv,,30,false\nw,5,,true\nz,3,20,true\n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return written(tmp_path / "t.csv", TEXT)


def test_gaps_give_one_error_with_count_place_and_remedies(path: Path) -> None:
    with pytest.raises(DataError) as caught:
        read_table(path)
    assert str(caught.value) == (
        f"{path}: expected a number in every cell, got 2 missing in 2 of 4 rows, the first in "
        "line 3, column 'x'; pass missing='drop' to leave those rows out, missing='median' or "
        "'mean' to fill the gaps, missing='keep' for a method that understands NaN, or choose "
        "other columns"
    )


@pytest.mark.parametrize(
    ("rule", "X", "ids"),
    [
        ("drop", [[1, 10], [3, 20]], ["u", "z"]),
        ("mean", [[1, 10], [3, 30], [5, 20], [3, 20]], ["u", "v", "w", "z"]),
        ("median", [[1, 10], [3, 30], [5, 20], [3, 20]], ["u", "v", "w", "z"]),
        ("keep", [[1, 10], [np.nan, 30], [5, np.nan], [3, 20]], ["u", "v", "w", "z"]),
    ],
)
def test_every_rule_for_gaps(path: Path, rule: Any, X: Any, ids: list[str]) -> None:
    data = read_table(path, missing=rule, ids="id")
    np.testing.assert_array_equal(data.X, X)
    assert data.ids["id"].tolist() == ids
    assert data.provenance["rows_left_out"] == 4 - len(X)


def test_rows_keep_their_numbers_when_others_are_dropped(path: Path) -> None:
    data = read_table(path, missing="drop")
    assert data.ids["row"].tolist() == [0, 3]
    assert data.table([1, 0])["cluster"].tolist() == [1, 0]
    assert {k: v.tolist() for k, v in data.put_back([1, 0]).items()} == {
        "row": [0, 3],
        "cluster": [1, 0],
    }


def test_columns_by_name_and_position_in_the_order_asked_for(path: Path) -> None:
    data = read_table(path, columns=["y", 3], missing="drop")
    assert data.columns == ("y", "ok")
    np.testing.assert_array_equal(data.X, [[10, 1], [30, 0], [20, 1]])


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        ("z", r"expected a column 'z', found none; there are 'id' \(text\), 'x' \(number\)"),
        ([9], r"expected a column from 0 to 3, got 9"),
        (["x", 1], r"expected different columns, got 'x' more than once"),
        ("id", r"expected numbers in column 'id', got text; choose other columns"),
    ],
)
def test_columns_that_are_not_there(path: Path, columns: Any, says: str) -> None:
    with pytest.raises(DataError, match=says):
        read_table(path, columns=columns)


def test_no_row_or_no_value_left(tmp_path: Path) -> None:
    path = written(tmp_path / "t.csv", "x,y\n1,\n,2\n")
    with pytest.raises(DataError, match=r"some row without missing values, got none of 2"):
        read_table(path, missing="drop")
    np.save(tmp_path / "t.npy", np.array([[1.0, np.nan], [2.0, np.nan]]))
    with pytest.raises(DataError, match=r"some value in every column, got none in 'column_1'"):
        read_table(tmp_path / "t.npy", missing="mean")
    np.save(tmp_path / "t.npy", np.array([[1.0, 2.0], [2.0, np.inf]]))
    with pytest.raises(
        DataError, match=r"finite numbers, got infinity in row 1, column 'column_1'"
    ):
        read_table(tmp_path / "t.npy")


def test_scaling_is_done_and_remembered(path: Path) -> None:
    data = read_table(path, missing="drop", scaling="standard")
    np.testing.assert_allclose(data.X, [[-1, -1], [1, 1]])
    assert data.scaling is not None
    np.testing.assert_allclose(data.scaling.undo(data.X), [[1, 10], [3, 20]])
    with pytest.raises(ValueError, match="not scaled yet, got scaling 'standard'"):
        data.scaled("robust")
    assert repr(data).endswith("2 rows of 2 columns, scaling standard)")


def test_a_file_that_is_not_there() -> None:
    with pytest.raises(FileNotFoundError):
        read_table("nowhere.csv")


def test_without_pyarrow_the_extra_is_named(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r'needs pyarrow.*pip install "coterie\[tables\]"'):
        read_table(path)
    np.save(path.with_suffix(".npy"), np.eye(2))
    assert len(read_table(path.with_suffix(".npy"))) == 2  # NumPy's files need nothing else


class CountedName(str):
    """A name that counts its comparisons with others."""

    compared = 0
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        CountedName.compared += 1
        return str.__eq__(self, other)


@pytest.mark.parametrize("by_name", [False, True])
def test_names_are_not_all_compared_with_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by_name: bool
) -> None:
    d = 2_000
    names = [f"c{i}" for i in range(d)]
    path = written(tmp_path / "wide.csv", f"{','.join(names)}\n{','.join('1' * d)}\n")
    monkeypatch.setattr(CountedName, "compared", 0)
    real = Delimited.__init__

    def counted(self: Delimited, *args: Any, **options: Any) -> None:
        real(self, *args, **options)
        self.names = tuple(map(CountedName, self.names))

    monkeypatch.setattr(Delimited, "__init__", counted)
    assert read_table(path, columns=names if by_name else None).X.shape == (1, d)
    assert CountedName.compared < 10 * d


@pytest.mark.parametrize("option", [{"separator": ";"}, {"decimal": ","}, {"header": True}])
@pytest.mark.parametrize("form", ["npy", "json"])
def test_options_of_csv_are_refused_for_other_tables(tmp_path, form, option):
    path = tmp_path / f"x.{form}"
    if form == "npy":
        np.save(path, np.eye(2))
    else:
        path.write_text('{"a": 1}\n{"a": 2}\n')
    name = next(iter(option))
    with pytest.raises(DataError, match=f"expected {name} for CSV .* got {form}; leave {name} out"):
        read_table(path, **option)
