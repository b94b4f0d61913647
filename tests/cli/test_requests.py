"""cli/requests.py: every option of every command reaches a typed record, and nothing else does."""

from __future__ import annotations

from dataclasses import MISSING, fields
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("click")

from coterie.cli import requests
from coterie.cli.app import SUMMARIES
from coterie.cli.methods import METHODS
from coterie.cli.option_rules import RULES
from coterie.cli.requests import FitRequest, Keeping, Reading


def options_of(command: str) -> set[str]:
    """Return the names that click hands to a command."""
    parameters = import_module(f"coterie.cli.commands.{command}").command.params
    return {str(parameter.name) for parameter in parameters if parameter.expose_value}


def taken_by(command: str) -> set[str]:
    """Return the names that the request of a command takes."""
    if command in METHODS:
        return FitRequest.options() - {"method"} | METHODS[command].options.options()
    request: Any = getattr(requests, f"{command.capitalize()}Request")
    return set(request.options())


@pytest.mark.parametrize("command", SUMMARIES)
def test_no_option_of_a_command_is_lost(command: str) -> None:
    lost = options_of(command) - taken_by(command)
    assert not lost, f"no field of the request takes {', '.join(sorted(lost))}"


@pytest.mark.parametrize("command", SUMMARIES)
def test_a_request_asks_for_no_option_that_its_command_lacks(command: str) -> None:
    needed = {
        field.name
        for field in fields(getattr(requests, f"{command.capitalize()}Request", FitRequest))
        if field.default is MISSING and field.default_factory is MISSING
    }
    absent = needed - {"method", "own", "reading", "running", "keeping", "console"}
    absent -= options_of(command)
    assert not absent, f"the command has no option for {', '.join(sorted(absent))}"


def test_every_option_of_reading_has_a_rule() -> None:
    known = set(RULES) - {"words", "rarities", "directions"}  # from models only
    assert {field.name for field in fields(Reading)} - {"kind", "scaling"} == known


def test_a_record_is_made_of_the_options_of_all_its_parts() -> None:
    given = {"source": "x.csv", "clusters": 3, "seed": 7, "missing": "keep", "quiet": True,
             "output": Path("y.csv"), "header": False, "columns": ["a"]}  # fmt: skip
    request = FitRequest.for_method("mixture", given)
    assert request.own == METHODS["mixture"].options(clusters=3)
    assert (request.method, request.source) == ("mixture", "x.csv")
    assert request.running.seed == 7
    assert request.running.gaps
    assert request.console.quiet
    assert request.keeping == Keeping(output=Path("y.csv"))
    assert request.reading.given() == {"columns": ["a"], "missing": "keep", "header": False}


@pytest.mark.parametrize(("name", "film"), [("a.gif", True), ("a.MP4", True), ("a.png", False)])
def test_films_are_known_by_their_endings(name: str, film: bool) -> None:
    assert Keeping(picture=Path(name)).film is film
    assert not Keeping().film
