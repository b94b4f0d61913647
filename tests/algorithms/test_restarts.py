"""The best of several runs, of any method."""

from __future__ import annotations

from typing import Any

import pytest

from coterie.algorithms.restarts import best_of


def test_runs_that_cannot_start_are_skipped() -> None:
    """As mixtures with reg_covar=0 and a flat component at first; the other runs are made."""

    def make(number: int, seed: int) -> Any:
        if number != 1:
            raise ValueError(f"run {number}")
        return type("Run", (), {"reason": None, "error": 3.0})

    rules = type("Rules", (), {"deadline": None, "keep_on_interrupt": False})()
    found = best_of(3, 0, rules, make, lambda run: run.error, lambda run, _: run, ValueError)
    assert found.best.error == 3.0
    assert len(found.records) == 1
    assert found.skipped == ("run 0", "run 2")
    with pytest.raises(ValueError, match="run 0"):
        best_of(1, 0, rules, make, lambda run: run.error, lambda run, _: run, ValueError)
