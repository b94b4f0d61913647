"""Docstrings and header comments open with their subject, never with a question word.

`Labels of the rows` says what a function gives; `What a row is labelled` makes the reader wait for
it. Openings that are still to be mended stand in prose_exceptions.txt, a list that only shrinks.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXCEPTIONS = ROOT / "tests" / "prose_exceptions.txt"
PYTHON = ("src/coterie", "tests", "benchmarks", "tools")
QUESTION = re.compile(r"(what|who|whoever|which|where|whether|how)\b", re.IGNORECASE)
HEADER = re.compile(r"(?://|/\*)\s*(?P<file>[\w./-]+\.(?:hpp|cpp|h)):\s+(?P<text>.*)")


def docstrings(source: str) -> Iterator[tuple[str, str]]:
    """Names and docstrings of a module, of its classes and functions; "" is the module."""

    def within(node: ast.AST, name: str) -> Iterator[tuple[str, str]]:
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            text = ast.get_docstring(node)
            if text:
                yield name, text
        for child in ast.iter_child_nodes(node):
            own = getattr(child, "name", None) if hasattr(child, "body") else None
            yield from within(child, f"{name}.{own}".lstrip(".") if own else name)

    yield from within(ast.parse(source), "")


def header(source: str) -> str:
    """The purpose with which a C++ file opens, without the name of the file."""
    first = source.lstrip().partition("\n")[0]
    found = HEADER.match(first)
    return found["text"] if found else first.lstrip("/* ")


def opens_with_a_question(text: str) -> bool:
    return QUESTION.match(text.lstrip("\"'`*( \n")) is not None


def offenders() -> set[str]:
    """path:name of each docstring, and path of each C++ file, that opens with a question word."""
    found = set()
    for folder in PYTHON:
        for path in sorted((ROOT / folder).rglob("*.py")):
            place = path.relative_to(ROOT).as_posix()
            for name, text in docstrings(path.read_text(encoding="utf-8")):
                if opens_with_a_question(text):
                    found.add(f"{place}:{name}")
    for suffix in ("*.hpp", "*.cpp"):
        for path in sorted((ROOT / "native").rglob(suffix)):
            if opens_with_a_question(header(path.read_text(encoding="utf-8"))):
                found.add(f"{path.relative_to(ROOT).as_posix()}:")
    return found


def test_openings_name_their_subject() -> None:
    excepted = set(EXCEPTIONS.read_text(encoding="utf-8").split())
    found = offenders()
    new = sorted(found - excepted)
    assert not new, "expected an opening that names its subject: " + ", ".join(new)
    mended = sorted(excepted - found)
    assert not mended, f"take these lines out of {EXCEPTIONS.name}: " + ", ".join(mended)


@pytest.mark.parametrize(
    ("text", "questions"),
    [
        ("What a row is.", True),
        ("Whether a row has a label.", True),
        ("\n    how far rows are apart", True),
        ("`What` a row is.", True),
        ("Whole weights.", False),
        ("However many rows there are.", False),
        ("The rows which are nearby.", False),
    ],
)
def test_openings_are_told_apart(text: str, questions: bool) -> None:
    assert opens_with_a_question(text) is questions


def test_docstrings_are_found_wherever_they_stand() -> None:
    source = (
        '"""M."""\nclass A:\n    "a"\n    async def f(self):\n        def g():\n            "g"\n'
    )
    source += "if True:\n    def h():\n        'h'\n"
    assert list(docstrings(source)) == [("", "M."), ("A", "a"), ("A.f.g", "g"), ("h", "h")]


@pytest.mark.parametrize(
    ("source", "purpose"),
    [
        ("// core/level.cpp: which level is in use.\n#include <a>", "which level is in use."),
        ("// What a level offers.\n", "What a level offers."),
        ("#pragma once\n", "#pragma once"),
    ],
)
def test_headers_are_read_without_the_name_of_the_file(source: str, purpose: str) -> None:
    assert header(source) == purpose
