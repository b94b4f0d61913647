"""What a terminal shows: progress with the time left, labels held back; and options in messages."""

from __future__ import annotations

import io
import re
import sys
import time

import numpy as np
import pytest

pytest.importorskip("click")

from coterie.cli import console, labels_output
from coterie.cli.console import Voice
from coterie.cli.option_names import as_options


class Screen(io.TextIOWrapper):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True

    @property
    def shown(self) -> str:
        self.flush()
        raw: bytes = self.buffer.getvalue()  # type: ignore[attr-defined]
        return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", raw.decode())


def screen() -> Screen:
    return Screen(io.BytesIO(), encoding="utf-8")


def test_progress_of_long_work(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("rich")
    seen = screen()
    monkeypatch.setattr(sys, "stderr", seen)
    monkeypatch.setattr(console, "PATIENCE", 0.0)
    monkeypatch.setenv("TERM", "xterm")
    with Voice().progress("fitting kmeans") as step:
        for done in range(1, 5):
            step(done, 8, f"iteration {done}")
            time.sleep(0.1)
    assert "fitting kmeans" in seen.shown
    assert "left" in seen.shown
    assert "iteration 4" in seen.shown


@pytest.mark.parametrize("quiet", [True, False])
def test_no_progress_where_nobody_looks(
    quiet: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(console, "PATIENCE", 0.0)
    with Voice(quiet=quiet).progress("fitting") as step:
        step(1, 2, "half")
        time.sleep(0.02)
    assert capsys.readouterr().err == ""


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


@pytest.mark.parametrize(
    ("library", "command_line"),
    [
        ("pass missing='drop' to leave", "pass --missing drop to leave"),
        ("pass max_memory='8 GB' to allow it", "pass --max-memory '8 GB' to allow it"),
        ("set n_clusters=3, or empty_clusters='relocate'", "set -k 3"),
        ("with max_iter=1000, accelerate=True", "with --max-iter 1000, --accelerate"),
        ("every=0.5, larger patches", "--every 0.5, larger patches"),
        ("separator=';' gives [1, 2]", "--separator ';' gives [1, 2]"),
        ("scale them, for example with StandardScaler", "add --scaling standard"),
        ("nothing to change", "nothing to change"),
    ],
)  # fmt: skip
def test_messages_name_options(library: str, command_line: str) -> None:
    assert as_options(library) == command_line


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
