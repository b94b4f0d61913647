"""cli/option_names.py: messages and remedies of the library with options for parameters."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest

pytest.importorskip("click")

from coterie import choosing
from coterie.choosing.diagnose import Diagnosis
from coterie.cli.app import SUMMARIES
from coterie.cli.option_names import OPTIONS, REMEDIES, as_options, change_as_options
from coterie.remedies import Remedy


@pytest.mark.parametrize(
    ("library", "command_line"),
    [
        ("pass missing='drop' to leave", "pass --missing drop to leave"),
        ("pass max_memory='8 GB' to allow it", "pass --max-memory '8 GB' to allow it"),
        ("with max_iter=1000, accelerate=True", "with --max-iter 1000, --accelerate"),
        ("every=0.5, larger patches", "--every 0.5, larger patches"),
        ("separator=';' gives [1, 2]", "--separator ';' gives [1, 2]"),
        ("max_seconds reached after 1 run", "--max-seconds reached after 1 run"),
        ("or a larger reg_covar", "or a larger --floor"),
        ("nothing to change", "nothing to change"),
    ],
)  # fmt: skip
def test_messages_name_options(library: str, command_line: str) -> None:
    assert as_options(library) == command_line


@pytest.mark.parametrize(
    ("remedies", "change"),
    [
        ([Remedy("set {n_clusters}", {"n_clusters": 3})], "set -k 3"),
        ([Remedy("a larger {reg_covar:name} such as 1")], "a larger --floor such as 1"),
        ([Remedy("again with {accelerate}", {"accelerate": True})], "again with --accelerate"),
        ([Remedy("scale them somehow", code="scale")], "add --scaling standard"),
        (
            [
                Remedy("fit again with {max_iter}", {"max_iter": 9}),
                Remedy("go on with {warm_start}", {"warm_start": True}),  # no option
            ],
            "fit again with --max-iter 9",
        ),
    ],
)
def test_remedies_name_options_and_those_without_are_left_out(
    remedies: list[Remedy], change: str
) -> None:
    assert change_as_options(Diagnosis("code", "sentence", tuple(remedies))) == change


def test_every_option_that_is_named_exists() -> None:
    commands = [import_module(f"coterie.cli.commands.{name}").command for name in SUMMARIES]
    there = {option for command in commands for parameter in command.params
             for option in parameter.opts}  # fmt: skip
    assert set(OPTIONS.values()) <= there


def test_every_code_of_a_remedy_has_its_words() -> None:
    folder = Path(str(choosing.__file__)).parent / "diagnose"
    sources = "".join(path.read_text(encoding="utf-8") for path in folder.glob("*.py"))
    assert set(re.findall(r'code="([\w-]+)"', sources)) == set(REMEDIES)
