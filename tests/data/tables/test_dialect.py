"""Separator, decimal sign and header: found, or both dialects shown."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.kmeans_cases import thorough

from coterie.data import DataError, read_table
from coterie.data.tables.dialect import find_dialect
from coterie.data.tables.first_lines import NOTHING


@pytest.mark.parametrize(
    ("text", "separator", "decimal", "names"),
    [
        ("a;b\n1,5;2,5\n", ";", ",", ("a", "b")),  # pandas reads [[5], [5]]
        ("1,5;2,5\n3,5;4,5\n", ";", ",", ("column_0", "column_1")),
        ("x1;1,5;2,5\nx2;3,5;4,5\nx1;3,5;4,5\n", ";", ",", ("column_0", "column_1", "column_2")),
        ("a\tb\n1,5\t2\n", "\t", ",", ("a", "b")),
        ("a|b\n1|2.5\n", "|", ".", ("a", "b")),
        ("a b\n1 2\n", " ", ".", ("a", "b")),
        ("x\n1.5\n", NOTHING, ".", ("x",)),
        ('name,size\n"Smith; J",2\n"Lee; K",3\n', ",", ".", ("name", "size")),
        ("1e3,-.5\n2,NA\n", ",", ".", ("column_0", "column_1")),
        ("\ufeffa,b\r\n1,2\r\n", ",", ".", ("a", "b")),
        ("a,,b\n1,2,3\n", ",", ".", ("a", "column_1", "b")),
        ("52\t98,9\n54,1\t\n", "\t", ",", ("column_0", "column_1")),
    ],
)
def test_separator_decimal_sign_and_names_are_found(
    text: str, separator: str, decimal: str, names: tuple[str, ...]
) -> None:
    dialect = find_dialect(text)
    assert (dialect.separator, dialect.decimal, dialect.names) == (separator, decimal, names)
    assert "nothing" not in dialect.types


@pytest.mark.parametrize(
    ("text", "both"),
    [
        ("a;b\n1.234;1,5\n2.345;2,5\n", ("[1.234, '1,5']", "['1.234', 1.5]")),
        ("a,b;c,d\n1,5;2,5\n", ("[1.0, '5;2', 5.0]", "[1.5, 2.5]")),
    ],
)
def test_two_dialects_are_both_shown(text: str, both: tuple[str, str]) -> None:
    with pytest.raises(DataError, match="expected one way to read this text, got 2") as caught:
        find_dialect(text)
    assert all(reading in str(caught.value) for reading in both)
    assert "pass the separator" in str(caught.value)


def test_one_comma_per_line_is_two_columns_in_csv_and_open_elsewhere() -> None:
    assert find_dialect("1,5\n2,5\n").separator == ","
    with pytest.raises(DataError, match=r"gives \[1\.0, 5\.0\]; decimal=',' gives \[1\.5\]"):
        find_dialect("1,5\n2,5\n", named_csv=False)


def test_a_choice_settles_it() -> None:
    text = "a;b\n1.234;1,5\n"
    assert find_dialect(text, decimal=",").numbers == (1,)
    assert find_dialect(text, decimal=".").numbers == (0,)
    assert find_dialect("a,b;c,d\n1,5;2,5\n", separator=";").numbers == (0, 1)


def test_names_that_are_numbers_are_not_guessed() -> None:
    text = "name,2019,2020\nu,1,2\nv,2,3\n"
    with pytest.raises(
        DataError, match=r"clearly names or clearly data.*header=True.*header=False"
    ):
        find_dialect(text)
    assert find_dialect(text, header=True).names == ("name", "2019", "2020")
    assert not find_dialect(text, header=False).header
    assert not find_dialect("5.1,setosa\n5.2,setosa\n").header  # the word comes again: data


@thorough(300)
@given(
    separator=st.sampled_from([",", ";", "\t", "|"]),
    decimal=st.sampled_from([".", ","]),
    header=st.booleans(),
    rows=st.integers(2, 6),
    columns=st.integers(2, 5),
    seed=st.integers(0, 1000),
)
def test_the_dialect_of_a_written_text_is_found(
    separator: str, decimal: str, header: bool, rows: int, columns: int, seed: int
) -> None:
    if separator == decimal:
        decimal = "."
    values = np.round(np.random.default_rng(seed).normal(size=(rows, columns)), 3) + 0.0005
    lines = [separator.join(f"{x:.4f}".replace(".", decimal) for x in row) for row in values]
    if header:
        lines.insert(0, separator.join(f"name{j}" for j in range(columns)))
    dialect = find_dialect("\n".join(lines))
    assert (dialect.separator, dialect.decimal, dialect.header) == (separator, decimal, header)
    assert dialect.numbers == tuple(range(columns))


def test_a_column_of_numbers_with_a_wrong_cell_stays_one(tmp_path: Path) -> None:
    lines = ["name,x", *(f"n{i},{i}" for i in range(30))]
    lines[20] = "n19,12kg"
    path = tmp_path / "wrong.csv"
    path.write_text("\n".join(lines))
    with pytest.raises(DataError, match=r"expected a number in line 21, column 'x', got '12kg'"):
        read_table(path)


def test_a_column_of_codes_is_none_of_numbers() -> None:
    codes = "\n".join(f"{i},{i}{'a' if i % 5 == 0 else ''}" for i in range(30))
    assert find_dialect(f"x,code\n{codes}").types == ("number", "numbers and '0a'")


def test_a_wrong_cell_does_not_change_the_decimal_sign() -> None:
    halves = "\n".join(f"n{i};{i},5" if i == 7 else f"n{i};{i}" for i in range(30))
    dialect = find_dialect(f"name;x\n{halves}")
    assert (dialect.decimal, dialect.types) == (",", ("text", "number"))
