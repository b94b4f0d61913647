"""Lines above a table, uneven lines, counted names and row numbers: found, or said."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.data_files import written

from coterie.data import DataError, DataWarning, read, read_table
from coterie.data.tables.dialect import find_dialect

pytest.importorskip("pyarrow")


@pytest.mark.parametrize(
    ("text", "columns", "X"),
    [
        ("a,b\r1,2\r3,4\r", ("a", "b"), [[1, 2], [3, 4]]),
        ("10,20\r30,40\r", ("column_0", "column_1"), [[10, 20], [30, 40]]),
        ("sep=;\na;b\n1,5;2\n3;4\n", ("a", "b"), [[1.5, 2], [3, 4]]),
        ('"sep=,"\r\na,b\r\n1,2\r\n3,4\r\n', ("a", "b"), [[1, 2], [3, 4]]),
        ("# measured 2020\n# in cm\n\na,b\n1,2\n3,4\n", ("a", "b"), [[1, 2], [3, 4]]),
        ('# "an open quote\na,b\n1,2\n3,4\n', ("a", "b"), [[1, 2], [3, 4]]),
        ("# a b\n1 2\n3 4\n", ("a", "b"), [[1, 2], [3, 4]]),
        ("#,x\n1,2\n2,4\n", ("#", "x"), [[1, 2], [2, 4]]),
        ("\n\na,b\n\n1,2\n3,4\n", ("a", "b"), [[1, 2], [3, 4]]),
        ("1,5 2,5\n3,5 4,5\n", ("column_0", "column_1"), [[1.5, 2.5], [3.5, 4.5]]),
    ],
)
def test_lines_above_and_line_ends_of_every_kind(
    tmp_path: Path, text: str, columns: tuple[str, ...], X: Any
) -> None:
    data = read_table(written(tmp_path / "t.csv", text))
    assert data.columns == columns
    np.testing.assert_array_equal(data.X, X)


@pytest.mark.parametrize(
    "text",
    ["10,20\n30,40\n50\n", "Report\n10,20\n30,40\n", "x\n1,5\n2,5\n", "10,20\n30\n40\n50\n"],
)
def test_a_comma_that_could_be_a_decimal_sign_is_never_taken_for_one(text: str) -> None:
    with pytest.raises(DataError, match=r"decimal=',' gives .*separator=',' gives .*not in line"):
        find_dialect(text)
    assert len(find_dialect(text, decimal=",").types) == 1


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("5,29;1,2\n2,94;6,72\n5,6;2,93\n;0,31;1,23\n0,4;4,3\n", "expected 2 cells .* 3 in line 4"),
        ("Report\na,b\n10,20\n30,40\n", r"expected 2 cells .* 1 in line 1: 'Report'; .*with '#'"),
        ("\nReport\n\na,b\n10,20\n30,40\n", r"1 in line 2: 'Report'"),
        ("a,b,c\n1,2\n3,4\n", r"got 3 in line 1: 'a,b,c'"),
        ("# c\na,b\n10,20\n30,40,5\n", r"got 3 in line 4"),
        ("a,b\r10,20\r30,40,5\r", r"got 3 in line 3"),
        ("a,b\r10,20\r30,\r", r"1 missing in 1 of 2 rows, the first in line 3"),
        ("# c\na,b\n10,20\n30,x\n" + "1,2\n" * 30, r"number in line 4, column 'b', got 'x'"),
        ('"1,5";"2"\n"2,5";"3"\n"3,5"\n', r"expected 2 cells in every line, got 1 in line 3"),
        ("#ff0000,1\n#00ff00,2\nred,3\n", r"clearly names or clearly data"),
        ("a,b\n1,2\n3,4\x1f\n" + "5,6\n" * 30, r"number in line 3, column 'b', got '4\\x1f'"),
        ("a,b\n1,   NA\n2,3\n4,5\n", r"line 2, column 'b', got '   NA'; remove the blanks"),
    ],
)
def test_uneven_lines_are_named(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(DataError, match=says):
        read_table(written(tmp_path / "t.csv", text))


def test_signs_of_missing_values_may_have_blanks_around_them(tmp_path: Path) -> None:
    path = written(tmp_path / "t.csv", "a, b, c\n1, NA, 3\n4, , 6\n7, nan , 9\n")
    data = read_table(path, columns=["a", "c"], missing="keep")
    np.testing.assert_array_equal(data.X, [[1, 3], [4, 6], [7, 9]])
    path = written(tmp_path / "u.csv", "a, b\n1, 2\n3, \n4, NA\n")
    X = read_table(path, missing="keep").X
    np.testing.assert_array_equal(X, [[1, 2], [3, np.nan], [4, np.nan]])


def test_numbers_of_thousands_of_digits_are_compared_as_texts() -> None:
    assert find_dialect(f",a\n{'9' * 5000},1\n").types == ("row number", "number")


def test_a_title_stays_an_error_where_the_separator_is_given() -> None:
    with pytest.raises(DataError, match=r"got 1 in line 1: 'Report'"):
        find_dialect("Report\n10,20\n30,40\n", separator=",")


@pytest.mark.parametrize(
    ("text", "names", "numbers"),
    [
        ("0,1,2\n5.1,3.5,1\n4.9,3.0,2\n", ("0", "1", "2"), (0, 1, 2)),
        (",0,1\n0,5,3\n1,4,2\n", ("column_0", "0", "1"), (1, 2)),
        ('"","a","b"\n"1",5,"u"\n"2",4,"u"\n', ("column_0", "a", "b"), (1,)),
        (",a\n17,5\n3,5\n12,4\n", ("column_0", "a"), (1,)),
        (",a\n17,5\n17,5\n12,4\n", ("column_0", "a"), (0, 1)),
        ("0,1\n0,1\n1,0\n", ("column_0", "column_1"), (0, 1)),
    ],
)
def test_counted_names_and_row_numbers(
    text: str, names: tuple[str, ...], numbers: tuple[int, ...]
) -> None:
    dialect = find_dialect(text)
    assert (dialect.names, dialect.numbers) == (names, numbers)


def test_whole_numbers_below_counted_names_are_not_guessed() -> None:
    with pytest.raises(DataError, match="clearly names or clearly data"):
        find_dialect("0,1,2\n3,4,5\n6,7,8\n")
    assert not find_dialect("0,1,2\n3,4,5\n", header=False).header
    assert find_dialect("0,1,2\n3,4,5\n", header=True).names == ("0", "1", "2")


def test_row_numbers_are_a_column_if_asked_for(tmp_path: Path) -> None:
    path = written(tmp_path / "t.csv", '"","a"\n"1",5\n"2",4\n')
    assert read_table(path).columns == ("a",)
    assert read_table(path).provenance["columns_left_out"] == {"column_0": "row number"}
    data = read_table(path, columns=["column_0", "a"], ids="column_0")
    np.testing.assert_array_equal(data.X, [[1, 5], [2, 4]])


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["-", "1", "-", "2"], "numbers and '-'"),
        (["1,234,567", "2,345,678"], "numbers and '1,234,567'"),
        (["12.3 %", "$1,200"], "numbers and '12.3 %'"),
        (["-nan(ind)", "-nan(ind)"], "numbers and '-nan(ind)'"),
        (["nan", "NA"], "no value"),
    ],
)
def test_a_column_that_is_nearly_of_numbers_is_not_left_out_silently(
    tmp_path: Path, cells: list[str], kind: str
) -> None:
    rows = "".join(f'1,"{cell}"\n' for cell in cells)
    path = written(tmp_path / "t.csv", f"a,b\n{rows}")
    with pytest.warns(DataWarning) as caught:
        assert read(path).columns == ("a",)
    assert f"'b' ({kind})" in str(caught[0].message)
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_table(path, columns="a")  # a person has chosen


@pytest.mark.parametrize("cells", [["u", "v", "w"], ["2020-01-01"] * 3, ["a1", "b2", "3"]])
def test_names_and_dates_are_left_out_without_a_warning(tmp_path: Path, cells: list[str]) -> None:
    rows = "".join(f"1,{cell}\n" for cell in cells)
    data = read_table(written(tmp_path / "t.csv", f"a,b\n{rows}"))
    assert data.provenance["columns_left_out"] == {"b": "text"}


@pytest.mark.parametrize("before", [5, 30_000])
def test_an_open_quote_that_takes_in_rows_is_an_error_with_its_line(
    tmp_path: Path, before: int
) -> None:
    text = "a,b\n" + "1,q\n" * before + '3,"x\n' + "1,q\n" * 9 + '4,y"\n' + "1,q\n" * 9
    with pytest.raises(DataError, match=rf"opened in line {before + 2} takes in rows up to line"):
        read_table(written(tmp_path / "t.csv", text), columns="a")


def test_texts_over_several_lines_stay_texts(tmp_path: Path) -> None:
    path = written(tmp_path / "t.csv", 'a,b\n1,"x,\nsee page 3, or 4\ny"\n2,"z"\n')
    np.testing.assert_array_equal(read_table(path).X, [[1], [2]])
