"""Options reach the estimator, the reader or the choice that they are named after."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from support.data_files import written

from cli.conftest import Run
from coterie import load


@pytest.mark.parametrize(
    ("arguments", "parameters"),
    [
        (("kmeans", "-k", 2, "--max-seconds", 60), {"max_seconds": 60}),
        (("kmeans", "-k", 2, "--max-iter", 7), {"max_iter": 7}),
        (("mixture", "-k", 2, "--covariance", "diag"), {"covariance_type": "diag"}),
        (("mixture", "-k", 2, "--max-seconds", 60), {"max_seconds": 60}),
        (("mixture", "-k", 2, "--tol", 0.25, "--accelerate"), {"tol": 0.25, "accelerate": True}),
        (("mixture", "-k", 2, "--floor", 0.5), {"reg_covar": 0.5}),
        (("dbscan", "--eps", 0.5, "--min-samples", 3), {"min_samples": 3}),
    ],
    ids=str,
)
def test_options_of_methods_are_parameters(
    run: Run, flowers: Path, arguments: tuple[Any, ...], parameters: dict[str, Any]
) -> None:
    command, *rest = arguments
    run(command, flowers, "--columns", "height,width", *rest, "--save", "m", "-o", "l.csv")
    found = load("m").estimator.get_params()
    assert {name: found[name] for name in parameters} == parameters


def test_choose_takes_min_samples_and_all_rows(run: Run, flowers: Path) -> None:
    columns = ("--columns", "height,width")
    few = run("choose", flowers, *columns, "--method", "dbscan", "--min-samples", 3, "--json")
    assert json.loads(few.out)["min_samples"] == 3
    exact = run("choose", flowers, *columns, "-k", "2-4", "--exact", "--json")
    assert json.loads(exact.out)["k"] == 2


def test_decimal_and_kind_decide_how_a_text_is_read(run: Run, tmp_path: Path) -> None:
    path = written(tmp_path / "numbers.txt", "a;b\n1,5;2\n3,5;4\n1,6;2\n")
    read = run("info", path, "--kind", "table", "--decimal", ",", "--json")
    assert json.loads(read.out)["rows"] == 3


def test_a_sound_as_samples_some_apart(run: Run, sound: Path) -> None:
    every = run("kmeans", sound, "-k", 2, "--samples", "--frame", 0.1, "--hop", 0.1)
    assert every.told.count("10 frames of 800 columns") == 1
    half = run("kmeans", sound, "-k", 2, "--samples", "--frame", 0.1, "--hop", 0.05)
    assert "19 frames" in half.told


def test_limits_of_memory_and_expansion(run: Run, flag: Path, tmp_path: Path) -> None:
    large = run("kmeans", flag, "-k", 2, "--max-pixels", 100)
    assert (large.code, "max-pixels" in large.told) == (1, True)
    table = written(tmp_path / "zeros.csv.gz", gzip.compress(b"a,b\n" + b"0,0\n" * 5_000_000))
    dense = run("info", table, "--max-expansion", 2)
    assert (dense.code, "--max-expansion" in dense.told) == (1, True)
