"""No text of a file can steer a terminal, and no encoding ends a run."""

from __future__ import annotations

import ast
import io
import json
import sys
import time
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("click")

import coterie.cli
from cli.conftest import Run
from cli.screens import Screen, screen
from coterie import KMeans, Model, save
from coterie.cli import labels_output, terminal
from coterie.cli.screen import put, put_json
from coterie.cli.terminal import Terminal
from coterie.visible_text import visible

STEERING = "a\x1b]0;title\x07\x9b2J\x1b[1;1H\x7f\r\u202eb"
IN_CSV = STEERING.replace("\r", "")  # which ends a line there


def raw(seen: Screen) -> str:
    seen.flush()
    return seen.buffer.getvalue().decode(seen.encoding)  # type: ignore[attr-defined,no-any-return]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain é 漢 😀", "plain é 漢 😀"),
        ("\x1b[31mred", r"\x1b[31mred"),
        ("a\tb\rc\x00\x9b\x7f", r"a\tb\rc\x00\x9b\x7f"),
        ("caf\udce9 \ud800 \u202e", r"caf\xe9 \ud800 \u202e"),
        ("two\nlines", "two\nlines"),
    ],
)
def test_every_character_shows(text: str, shown: str) -> None:
    assert visible(text) == shown
    assert visible(shown) == shown


def test_colours_of_ours_reach_the_terminal_and_those_of_data_do_not() -> None:
    seen = screen()
    put(Terminal(colour=True, blocks=True).strong("x\x1b[1my"), seen)
    assert raw(seen) == "\x1b[1mx\\x1b[1my\x1b[0m\n"


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252", "utf-8"])
def test_no_encoding_ends_a_run(encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = Screen(io.BytesIO(), encoding=encoding)
    put("naïve 漢 \udce9…", seen)
    assert raw(seen).startswith("na")
    value = {"漢 é 😀 \x1b \x9b \udce9": [1.0, float("nan"), (float("inf"),)]}
    monkeypatch.setattr(sys, "stdout", told := Screen(io.BytesIO(), encoding=encoding))
    put_json(value)
    assert json.loads(raw(told)) == {next(iter(value)): [1.0, None, [None]]}
    assert "\x9b" not in raw(told)


def test_nothing_else_writes_to_a_stream() -> None:
    for path in Path(coterie.cli.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
            allowed = path.name == "screen.py" or called not in ("print", "click.echo")
            assert allowed, f"{path.name}:{node.lineno} prints"  # type: ignore[attr-defined]


@pytest.fixture
def steering(tmp_path: Path) -> Path:
    """A table whose names would clear the screen."""
    rows = "".join(f"id\x1b[{i % 9}m,{i % 2 * 9 + i / 50},{i}\n" for i in range(20))
    path = tmp_path / "t\x1b[2J.csv"
    path.write_bytes(f'"n\x1b]0;x\x07","{IN_CSV}","[red]c"\n{rows}'.encode())
    return path


def test_no_command_lets_names_through(run: Run, steering: Path) -> None:
    made = run("kmeans", steering, "-k", 2, "-o", "l.csv", "--save", "m\x1b[0m", "--json", "-v")
    assert made.code == 0
    results = [
        made,
        run("info", steering),
        run("info", steering, "--json"),
        run("info", "m\x1b[0m"),
        run("predict", "m\x1b[0m", steering, "-o", "l.csv"),
        run("cluster", steering, "-o", "l.csv"),
        run("choose", steering),
        run("compare", steering, "-k", 2, "--model", "m\x1b[0m"),
        run("plot", steering, "-o", "p\x1b[0m.png", "--axes", "0"),
        run("plot", steering, "-o", "p\x1b[0m.png", "--axes", "9"),
        run("kmeans", steering, "--columns", "\x1b[1m"),
        run("kmeans", "none\x1b[1m"),
        run("bad\x1b[1m"),
    ]
    assert [result.code for result in results] == [*9 * [0], 2, 1, 2, 2]
    for result in results:
        shown = result.out + result.err
        assert not set(shown) & set("\x1b\x07\x9b\x7f\r\u202e")
    assert r"a\x1b]0;title" in results[1].out
    assert "[red]c" in results[1].out


def test_labels_on_a_terminal_are_shown_and_in_a_pipe_are_as_they_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    columns = {"id": np.array(["\x1b[2J", "caf\udce9"], object), "cluster": np.array([0, 1])}
    monkeypatch.setattr(sys, "stdout", seen := screen())
    labels_output.write_labels(columns, None, "csv")
    assert raw(seen) == "id,cluster\n\\x1b[2J,0\ncaf\\udce9,1\n"
    monkeypatch.setattr(sys, "stdout", pipe := io.TextIOWrapper(io.BytesIO(), encoding="ascii"))
    labels_output.write_labels(columns, None, "csv")
    assert pipe.buffer.getvalue() == b"id,cluster\n\x1b[2J,0\ncaf\\udce9,1\n"  # type: ignore


@pytest.mark.parametrize("form", ["csv", "json", "jsonl", "parquet"])
def test_ids_that_utf8_cannot_hold_are_written(form: str) -> None:
    if form == "parquet":
        pytest.importorskip("pyarrow")
    columns = {"caf\udce9": np.array(["caf\udce9"], object), "cluster": np.array([0])}
    assert b"caf\\udce9" in b"".join(labels_output.WRITERS[form](columns))


def test_progress_shows_names_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("rich")
    seen = screen()
    monkeypatch.setattr(sys, "stderr", seen)
    monkeypatch.setattr(terminal, "PATIENCE", 0.0)
    monkeypatch.setenv("TERM", "xterm")
    with terminal.Console().progress("reading [red]x[/nothing].csv \x1b]0;t\x07") as step:
        time.sleep(0.05)
        step(1, 2, "[bold]half[/]")
        time.sleep(0.3)
    assert "[red]x[/nothing].csv" in seen.shown
    assert "[bold]half[/]" in seen.shown
    assert "\x1b]" not in seen.shown


def test_a_file_name_that_is_not_utf8(run: Run, tmp_path: Path) -> None:
    (tmp_path / "caf\udce9.csv").write_bytes(b"a,b\n1,2\n3,4\n5,9\n6,9\n")
    made = run("kmeans", "caf\udce9.csv", "-k", 2, "--save", "m\udce9", "-o", "l\udce9.csv")
    assert made.code == 0
    assert r"caf\xe9.csv: 4 rows" in made.err
    assert r"caf\xe9.csv" in run("info", "m\udce9").out
    assert json.loads(run("info", "m\udce9", "--json").out)["provenance"]["source"] == (
        "caf\udce9.csv"
    )
    again = run("predict", "m\udce9", "caf\udce9.csv", "-q")
    assert again.rows == [line.split(",") for line in Path("l\udce9.csv").read_text().split()[1:]]


def test_a_model_may_say_anything_of_its_data(run: Run) -> None:
    X = np.arange(12.0).reshape(6, 2)
    model = KMeans(2, random_state=0).fit(X)
    save(Model(model, columns=("a", "b\nb"), provenance={"source": STEERING}), "m")
    told = run("info", "m").out
    assert len(told.splitlines()) == 8
    assert r"\x1b]0;title" in told
