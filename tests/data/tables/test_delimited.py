"""CSV and TSV: every number as it was written, every error with its line and column."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.data_files import written
from support.kmeans_cases import thorough

from coterie.data import DataError, read_table

pytest.importorskip("pyarrow")


@thorough(150)
@given(
    rows=st.lists(
        st.tuples(st.floats(allow_nan=False, allow_infinity=False), st.integers(-(2**53), 2**53)),
        min_size=1,
        max_size=8,
    ),
    separator=st.sampled_from([",", ";", "\t"]),
    ending=st.sampled_from(["\n", "\r\n"]),
    zipped=st.booleans(),
)
def test_numbers_come_back_bit_for_bit(
    tmp_path_factory: Any, rows: Any, separator: str, ending: str, zipped: bool
) -> None:
    text = ending.join(["x" + separator + "y", *(f"{a!r}{separator}{b}" for a, b in rows)]).encode()
    path = tmp_path_factory.mktemp("csv") / "t.csv"
    data = read_table(written(path, gzip.compress(text) if zipped else text))
    np.testing.assert_array_equal(data.X, np.array(rows, dtype=np.float64))
    assert data.columns == ("x", "y")
    assert data.X.flags.c_contiguous


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a,b,c\n1,2,3\n4,5\n", r"expected 3 cells in every line, got 2 in line 3: column 'c' is"),
        ("a,b\n1,2\n3,4,oops\n", r"got 3 in line 3: the cell after column 'b' is 'oops'"),
        ('a,b\n1,"x\n2,3\n', r"every quote to be closed, but the one opened in line 2 is not"),
        ('a,b\n1,"x\n2,3\n3,"y"\n', r"quote to be closed, but the one opened in line 2"),
        ("a,b\n1,2\n1\0,3\n", r"NUL character in line 3; .*export it again"),
        ("a,b\n1,1e999\n", r"number in line 2, column 'b', got '1e999', beyond 1\.8e308"),
        ("a,b\n1,-inf\n", r"number in line 2, column 'b', got '-inf'"),
        ("", r"expected a table, got an empty file"),
        ("\n\n", r"expected at least one line with numbers, got an empty file"),
        ("a,b\n", r"expected rows of numbers below the first line, 'a,b', got none"),
        ("a,b\nx,y\n", r"expected at least one column of numbers"),
        ("a,a\n1,2\n", r"expected different columns, got 'a' more than once"),
        (b"\xff\xfea\0,\0", r"expected text in UTF-8, got UTF-16"),
    ],
)
def test_broken_texts_name_line_column_and_remedy(tmp_path: Path, text: Any, says: str) -> None:
    with pytest.raises(DataError, match=says) as caught:
        read_table(written(tmp_path / "broken.csv", text))
    assert "broken.csv: expected" in str(caught.value)
    assert ";" in str(caught.value) or "empty" in str(caught.value)


@pytest.mark.parametrize(
    ("last", "says"),
    [
        ("3,zzz\n", r"number in line 40002, column 'b', got 'zzz'; correct it"),
        ("3\n", r"got 1 in line 40002"),
        ("3,\0\n", r"NUL character in line 40002"),
        ('3,"4\n', r"opened in line 40002"),
        ("3,1e400\n", r"line 40002, column 'b', got '1e400'"),
    ],
)
def test_errors_far_below_the_first_lines(tmp_path: Path, last: str, says: str) -> None:
    path = written(tmp_path / "long.csv", "a,b\n" + "1,2\n" * 40_000 + last)
    with pytest.raises(DataError, match=says):
        read_table(path)


def test_a_word_in_a_column_of_numbers_is_never_a_reason_to_drop_the_column(tmp_path: Path) -> None:
    path = written(tmp_path / "t.csv", "a,b\n" + "1,2\n" * 20_000 + "1,n.d.\n")
    with pytest.raises(DataError, match=r"line 20002, column 'b', got 'n\.d\.'.*leave the cell"):
        read_table(path)
    assert read_table(path, columns="a").X.shape == (20_001, 1)


def test_cells_over_several_lines_are_understood(tmp_path: Path) -> None:
    path = written(tmp_path / "t.csv", 'a,b,c\n1,"x\ny",3\n2,"z",4\n')
    np.testing.assert_array_equal(read_table(path).X, [[1, 3], [2, 4]])


def test_quoted_numbers_spaces_and_signs(tmp_path: Path) -> None:
    path = written(
        tmp_path / "t.csv", 'a,"b ""q"""\n "1" ,+2\n"3", .5\n1.,-0\n'.replace(' "1" ', "1")
    )
    data = read_table(path)
    np.testing.assert_array_equal(data.X, [[1, 2], [3, 0.5], [1, 0]])
    assert data.columns == ("a", 'b "q"')


@pytest.mark.parametrize("cut", [5, 12, 18])
def test_a_gzip_file_that_is_cut_off(tmp_path: Path, cut: int) -> None:
    whole = gzip.compress(b"a,b\n1,2\n")
    with pytest.raises(DataError, match="expected a complete gzip file"):
        read_table(written(tmp_path / "t.csv.gz", whole[:cut]))


def test_a_gzip_bomb_is_refused_while_it_is_small(tmp_path: Path) -> None:
    bomb = written(tmp_path / "bomb.csv.gz", gzip.compress(b"1,2\n" * 10_000_000))
    with pytest.raises(DataError, match=r"at most 100 bytes in memory .* max_expansion=\d+"):
        read_table(bomb)
    with pytest.raises(DataError, match=r"at most 20\.0 MB of memory.*max_memory='\d+ MB'"):
        read_table(bomb, max_memory="20 MB", max_expansion=1e6)


def test_options_that_make_no_sense(tmp_path: Path) -> None:
    path = written(tmp_path / "t.csv", "a,b\n1,2\n")
    for options, says in (
        ({"separator": ",,"}, "separator of one character"),
        ({"decimal": "'"}, "expected decimal"),
        ({"decimal": ",", "separator": ","}, "other than the decimal sign"),
        ({"missing": "ignore"}, "expected missing out of"),
        ({"scaling": "log"}, "expected scaling out of"),
        ({"max_memory": "much"}, "expected a number of bytes"),
    ):
        with pytest.raises(ValueError, match=says):
            read_table(path, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("d", [9_000, 60_000])
def test_tables_with_more_columns_than_a_short_look_shows(tmp_path: Path, d: int) -> None:
    X = np.random.default_rng(0).normal(size=(4, d)).round(6)
    lines = [
        ",".join(f"gene{j}" for j in range(d)),
        *(",".join(map(repr, row)) for row in X.tolist()),
    ]
    data = read_table(written(tmp_path / "wide.csv", "\n".join(lines) + "\n"))
    np.testing.assert_array_equal(data.X, X)
    assert data.columns[-1] == f"gene{d - 1}"


def test_ids_of_older_programs_are_text(tmp_path: Path) -> None:
    path = written(tmp_path / "t.csv", "name,x\nM\u00fcller,1\n,2\nLi,3\n".encode("cp1252"))
    assert read_table(path, ids="name").ids["name"].tolist() == ["M\u00fcller", "", "Li"]
