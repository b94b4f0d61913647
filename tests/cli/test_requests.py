"""cli/requests.py: every option of every command reaches a typed record, and nothing else does."""

from __future__ import annotations

from dataclasses import MISSING, fields, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("click")

from coterie import read
from coterie.cli import requests
from coterie.cli.app import SUMMARIES
from coterie.cli.methods import METHODS, MethodOptions, Running
from coterie.cli.option_names import OPTIONS
from coterie.cli.option_rules import RULES
from coterie.cli.requests import FitRequest, Keeping, Reading


def options_of(command: str) -> set[str]:
    """Return the names that click hands to a command."""
    return {str(parameter.name) for parameter in parameters_of(command) if parameter.expose_value}


def parameters_of(command: str) -> list[Any]:
    found: list[Any] = import_module(f"coterie.cli.commands.{command}").command.params
    return found


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


def options_of_methods() -> list[tuple[str, str]]:
    """Return each option of a method behind its command."""
    return [(command, field.name) for command in METHODS for field in fields(options_for(command))]


def options_for(command: str) -> type[MethodOptions]:
    return METHODS[command].options


@pytest.mark.parametrize(("command", "option"), options_of_methods())
def test_an_option_of_a_method_reaches_its_estimator(
    command: str, option: str, tmp_path: Path
) -> None:
    np.save(tmp_path / "rows.npy", np.eye(9))
    data, usual = read(tmp_path / "rows.npy"), options_for(command)()
    asked = replace(usual, **{option: another_value(command, option, getattr(usual, option))})
    if asked.size != usual.size:  # the number of clusters, or eps: `estimator` gets it by itself
        return
    before, after = (own.estimator(3, data, Running()).get_params() for own in (usual, asked))
    changed = [name for name in before if after[name] != before[name]]
    assert changed, f"estimator() in cli/methods.py does not pass {option} on"
    for name in changed:
        assert OPTIONS.get(name) == f"--{option.replace('_', '-')}", (
            f"OPTIONS of cli/option_names.py lack {name}, which messages of the library name"
        )


def another_value(command: str, option: str, default: Any) -> Any:
    """Return a legal value of an option that asks for something else than its default."""
    [parameter] = [found for found in parameters_of(command) if found.name == option]
    choices = getattr(parameter.type, "choices", ())
    if choices:
        usual = "euclidean" if option == "metric" else default  # a metric follows the data
        return next(choice for choice in choices if choice != usual)
    return True if default is False else 7


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
