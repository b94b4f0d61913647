"""remedies.py: remedies are data, written in Python's words or in others."""

from __future__ import annotations

from typing import Any

import pytest

from coterie.choosing.diagnose import Diagnosis
from coterie.remedies import NAME_ONLY, Remedy, alternatives, in_python

RUNS = Remedy("other starts with {n_init}", {"n_init": 10})
FLOOR = Remedy("a larger {reg_covar:name} such as 0.01")
DIAGONAL = Remedy("use {covariance_type}", {"covariance_type": "diag"})


def test_parameters_are_spelled_as_in_a_call() -> None:
    assert RUNS.words(in_python) == "other starts with n_init=10"
    assert FLOOR.words(in_python) == "a larger reg_covar such as 0.01"
    assert DIAGONAL.words(in_python) == "use covariance_type='diag'"


def test_parameters_can_be_spelled_otherwise() -> None:
    def shouted(name: str, value: Any) -> str:
        return name.upper() if value is NAME_ONLY else f"{name.upper()} {value}"

    assert RUNS.words(shouted) == "other starts with N_INIT 10"
    assert FLOOR.words(shouted) == "a larger REG_COVAR such as 0.01"
    assert FLOOR.names == {"reg_covar"}


@pytest.mark.parametrize(
    ("words", "joined"),
    [(["a"], "a"), (["a", "b"], "a, or b"), (["a", "b", "c"], "a, b, or c")],
)
def test_alternatives_are_one_phrase(words: list[str], joined: str) -> None:
    assert alternatives(words) == joined


def test_a_diagnosis_tells_its_remedies_and_sets_the_first_parameters() -> None:
    found = Diagnosis("thin", "it is thin", (FLOOR, RUNS, DIAGONAL))
    assert found.change == (
        "a larger reg_covar such as 0.01, other starts with n_init=10, or use "
        "covariance_type='diag'"
    )
    assert found.parameters == {"n_init": 10}
    assert str(found) == f"it is thin: {found.change}"
    assert Diagnosis("thin", "it is thin", (FLOOR,)).parameters == {}
