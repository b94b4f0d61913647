"""cli/terminal.py: colour, blocks, and progress of long work, only where they are wanted."""

from __future__ import annotations

import io
import sys
import time

import pytest

from cli.screens import screen
from coterie.cli import terminal
from coterie.cli.screen import OWN
from coterie.cli.terminal import Console, Terminal

RED = (1.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("environment", "colour"),
    [({}, True), ({"NO_COLOR": "1"}, False), ({"NO_COLOR": ""}, True), ({"TERM": "dumb"}, False)],
)
def test_the_environment_decides_about_colour(environment: dict[str, str], colour: bool) -> None:
    assert Terminal.of(screen(), environment).colour is colour


def test_a_pipe_gets_no_colour() -> None:
    assert not Terminal.of(io.TextIOWrapper(io.BytesIO(), encoding="utf-8"), {}).colour


def test_an_old_encoding_gets_plain_characters() -> None:
    plain = Terminal.of(screen("latin-1"), {})
    assert not plain.blocks
    assert Terminal(colour=False, blocks=False).bar(0.5, 4, RED) == "##  "
    assert plain.curve([3.0, 1.0]) == ""


def test_bars_are_padded_to_the_same_width_and_coloured_inside() -> None:
    assert Terminal(colour=False, blocks=True).bar(0.5, 4, RED) == "██  "
    red = Terminal(colour=True, blocks=True).bar(0.0, 3, RED)
    assert red == f"{OWN}38;2;255;0;0m█{OWN}0m  "


def test_the_curve_spans_from_the_highest_to_the_lowest_block() -> None:
    terminal = Terminal(colour=False, blocks=True)
    assert terminal.curve([8.0, 4.5, 1.0]) == "█▅▁"
    assert terminal.curve([2.0, 2.0]) == ""  # nothing to show
    assert terminal.curve([1.0]) == terminal.curve([]) == ""


def test_a_long_curve_is_thinned_but_keeps_its_ends() -> None:
    curve = Terminal(colour=False, blocks=True).curve([9.0, *[1.0] * 998, 0.0], width=10)
    assert curve == "█" + "▂" * 8 + "▁"


def test_progress_of_long_work(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("rich")
    seen = screen()
    monkeypatch.setattr(sys, "stderr", seen)
    monkeypatch.setattr(terminal, "PATIENCE", 0.0)
    monkeypatch.setenv("TERM", "xterm")
    with Console().progress("fitting kmeans") as step:
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
    monkeypatch.setattr(terminal, "PATIENCE", 0.0)
    with Console(quiet=quiet).progress("fitting") as step:
        step(1, 2, "half")
        time.sleep(0.02)
    assert capsys.readouterr().err == ""
