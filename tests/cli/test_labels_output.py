"""cli/labels_output.py: labels as text, on a terminal, in a pipe, in a file."""

from __future__ import annotations

import sys

import numpy as np
import pytest

pytest.importorskip("click")

from cli.screens import screen
from coterie.cli import labels_output


def test_many_labels_do_not_flood_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = screen()
    monkeypatch.setattr(sys, "stdout", seen)
    few, many = ({"row": np.arange(n), "cluster": np.zeros(n, int)} for n in (3, 300))
    assert labels_output.write_labels(few, None, "csv") is None
    assert seen.shown == "row,cluster\n0,0\n1,0\n2,0\n"
    held = labels_output.write_labels(many, None, "csv")
    assert held is not None
    assert "300 labels are not shown here" in held
    assert "--output" in held
    assert len(seen.shown) < 30
    assert labels_output.write_labels(many, labels_output.Path("-"), "csv") is None  # asked for
    assert len(seen.shown.splitlines()) == 305


def test_ids_of_any_kind_are_written(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    columns = {
        "day": np.array(["2026-01-02", "2026-01-03"], dtype="datetime64[D]"),
        "name": np.array(["a,b", 'c"d'], dtype=object),
        "cluster": np.array([0, -1]),
    }
    labels_output.write_labels(columns, None, "csv")
    assert capsysbinary.readouterr().out == (
        b'day,name,cluster\n2026-01-02,"a,b",0\n2026-01-03,"c""d",-1\n'
    )
    labels_output.write_labels(columns, None, "jsonl")
    assert b'{"day": "2026-01-02", "name": "a,b", "cluster": 0}' in capsysbinary.readouterr().out


def test_many_integers_are_written_the_same_way(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyarrow")
    random = np.random.default_rng(0)
    columns = {"row": np.arange(5000), "cluster": random.integers(-1, 9, 5000)}
    slowly = b"".join(labels_output.WRITERS["csv"](columns))
    monkeypatch.setattr(labels_output, "MANY", 100)
    monkeypatch.setattr(labels_output, "BLOCK", 100)
    assert b"".join(labels_output.WRITERS["csv"](columns)) == slowly
