"""Places that a new seeding, covariance family, option, diagnosis or SIMD level still lacks.

Each kind of thing has a list of names, such as `SEEDINGS`, and places that must know each of them.
A name that a place does not know is an error that names both: the places replace a page of
instructions.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, get_args

import pytest

from coterie import GaussianMixture, KMeans
from coterie.algorithms.kmeans.seeding import SEEDINGS
from coterie.algorithms.mixture.covariance import FAMILIES
from coterie.choosing import choose_k
from coterie.estimators.kmeans.initial_means import RUNS
from coterie.kernels import _native, reference
from coterie.kernels.mixture_steps import Kind

ROOT = Path(__file__).parents[1]
Places = Mapping[str, Iterable[str]]  # a place of additions, and the names that it has


def text(*paths: str) -> str:
    return "\n".join((ROOT / path).read_text(encoding="utf-8") for path in paths)


def quoted(path: str) -> set[str]:
    """All short texts in double quotes in a file."""
    return set(re.findall(r'"([^"\n]{1,40})"', text(path).replace(r"\|", "|")))


def first_cells(page: str) -> set[str]:
    """The code in the first cells of a page's tables, without quotes."""
    tables = text(page).replace(r"\|", "|")
    return {cell.strip('"') for cell in re.findall(r"^\| `([^`]+)`", tables, flags=re.M)}


def listed(docstring: str | None, parameter: str) -> set[str]:
    """Values that a docstring lists in braces behind a parameter."""
    found = re.search(rf"\b{parameter} : \{{([^}}]*)\}}", docstring or "")
    assert found, f"no list of values of {parameter}"
    return set(re.findall(r'"([^"]+)"', found[1]))


def lacking(names: Iterable[str], places: Places) -> list[str]:
    """One line for each name that a place does not know."""
    known = {remedy: set(there) for remedy, there in places.items()}
    return [
        f"{name}: {remedy}"
        for name in names
        for remedy, there in known.items()
        if name not in there
    ]


def seeding_places() -> Places:
    twins = [name for name, seeding in SEEDINGS.items() if hasattr(reference, seeding.__name__)]
    return {
        "a function of the same name in kernels/reference/kmeans_seeding.py, and its name in "
        "kernels/reference/__init__.py": twins,
        "its number of runs in RUNS of estimators/kmeans/initial_means.py": RUNS,
        "a word in the docstring of KMeans, behind init": listed(KMeans.__doc__, "init"),
        "a choice of --init in cli/commands/kmeans.py": choices("kmeans", "init"),
        "a line in the table of docs/kmeans.md": first_cells("docs/kmeans.md"),
        "a word in the row of init in README.md": quoted("README.md"),
        "a test in tests/algorithms/kmeans/test_seeding.py": quoted(
            "tests/algorithms/kmeans/test_seeding.py"
        ),
        "a case in KMEANS of tests/engines/test_hostile_engine.py": quoted(
            "tests/engines/test_hostile_engine.py"
        ),
        "a fit in tools/fit_bits/kmeans.py": quoted("tools/fit_bits/kmeans.py"),
    }


def family_places() -> Places:
    golden = re.findall(r'"mixture-(\w+)"', text("tests/models/test_golden.py"))
    pickles = re.findall(r'"mixture-(\w+)"', text("tests/estimators/test_pickles.py"))
    examples = re.findall(r'"mixture-(\w+)"', text("tests/support/model_examples.py"))
    known = [name for name, family in FAMILIES.items() if family.kind in get_args(Kind)]
    defined = {"full", *quoted("src/coterie/kernels/reference/mixture.py")}  # full: no constraint
    return {
        "cases of in_family and allowed in kernels/reference/mixture.py": defined,
        "its kind in Kind of kernels/mixture_steps.py": known,
        "a word in the docstring of GaussianMixture, behind covariance_type": listed(
            GaussianMixture.__doc__, "covariance_type"
        ),
        "a word in the docstring of choose_k, behind covariance_type": listed(
            choose_k.__doc__, "covariance_type"
        ),
        "a choice of --covariance in cli/commands/mixture.py": choices("mixture", "covariance"),
        "a line in the table of docs/mixture.md": first_cells("docs/mixture.md"),
        "a kind in tests/models/test_golden.py, and its golden file": golden,
        "a kind in tests/estimators/test_pickles.py, and its pickle": pickles,
        "a maker in tests/support/model_examples.py": examples,
        "a covariance in some_covariances of tests/algorithms/mixture/test_covariance.py": quoted(
            "tests/algorithms/mixture/test_covariance.py"
        ),
        "a case in MIXTURES of tests/engines/test_hostile_engine.py": quoted(
            "tests/engines/test_hostile_engine.py"
        ),
        "fits in tools/fit_bits/mixture.py": quoted("tools/fit_bits/mixture.py"),
    }


def diagnoses() -> set[str]:
    """Codes of all diagnoses: the first argument of `Diagnosis`, or a variable `code` before."""
    codes = set()
    for path in (ROOT / "src/coterie/choosing/diagnose").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", None) == "Diagnosis":
                codes |= texts_in(node.args[0])
            if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", None) == "code":
                codes |= texts_in(node.value)
    return codes


def texts_in(node: ast.AST) -> set[str]:
    constants = (part.value for part in ast.walk(node) if isinstance(part, ast.Constant))
    return {value for value in constants if isinstance(value, str)}


def diagnosis_places() -> Places:
    return {
        "a line in the table of docs/choosing.md": re.findall(
            r"`([\w-]+)`", text("docs/choosing.md")
        ),
        "a test in tests/choosing/test_diagnose.py": quoted("tests/choosing/test_diagnose.py"),
    }


def levels() -> list[str]:
    """All levels of any machine, lowest first."""
    found = re.findall(r"^ *set\(levels (.*)\)$", text("cmake/levels.cmake"), flags=re.M)
    return max((names.split() for names in found), key=len)


def level_places() -> Places:
    source = text("native/core/level.cpp")
    flags = re.findall(r"^ *set\(flags_(\w+) ", text("cmake/levels.cmake"), flags=re.M)
    return {
        "its compiler flags in cmake/levels.cmake": ["baseline", *flags],
        "a declaration in native/core/level.cpp": re.findall(r"COTERIE_DECLARE\((\w+)\)", source),
        "an offer, behind a test of the machine, in native/core/level.cpp": re.findall(
            r"offer\((\w+)::level\)", source
        ),
        "a word in the first docstring of coterie.kernels": re.findall(
            r"\w+", import_module("coterie.kernels").__doc__ or ""
        ),
        "a word in CONTRIBUTING.md, under Test": re.findall(r"\w+", text("CONTRIBUTING.md")),
    }


def choices(command: str, option: str) -> set[str]:
    for parameter in parameters(command):
        if parameter.name == option:
            return set(parameter.type.choices)
    raise AssertionError(f"coterie {command} has no option {option}")


def parameters(command: str) -> list[Any]:
    pytest.importorskip("click")
    found: list[Any] = import_module(f"coterie.cli.commands.{command}").command.params
    return found


def options() -> dict[str, Any]:
    """Options of all commands by their names; short names only where there is no long one."""
    pytest.importorskip("click")
    found = {}
    for command in import_module("coterie.cli.app").SUMMARIES:
        for parameter in parameters(command):
            if parameter.param_type_name == "option":
                found[max(parameter.opts, key=len)] = parameter
    return found


def option_places() -> Places:
    pages = (path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md"))
    tests = (path.relative_to(ROOT).as_posix() for path in (ROOT / "tests/cli").glob("*.py"))
    return {
        "a help text": [name for name, option in options().items() if option.help],
        "a word in docs/command-line.md, or in the page of its method": words_of(text(*pages)),
        "a test in tests/cli": words_of(text(*tests)),
    }


def words_of(pages: str) -> set[str]:
    """Options that a text names; a short name stands for the long one."""
    found = set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", pages))
    return {name for name, option in options().items() if found & {*option.opts, name}}


PLACES = {
    "seeding": (lambda: SEEDINGS, seeding_places),
    "covariance family": (lambda: FAMILIES, family_places),
    "command-line option": (options, option_places),
    "diagnosis": (diagnoses, diagnosis_places),
    "SIMD level": (levels, level_places),
}


@pytest.mark.parametrize("kind", PLACES)
def test_nothing_is_lacking(kind: str) -> None:
    names, places = PLACES[kind]
    missing = lacking(names(), places())
    assert not missing, f"each {kind} needs\n" + "\n".join(missing)


@pytest.mark.parametrize("kind", PLACES)
def test_a_new_one_would_lack_every_place(kind: str) -> None:
    places = PLACES[kind][1]()
    assert lacking(["new-thing"], places) == [f"new-thing: {remedy}" for remedy in places]


def test_estimators_take_the_names_that_drivers_know() -> None:
    def taken(estimator: Any, parameter: str) -> set[str]:
        return set(estimator._parameter_constraints[parameter][0].options)

    assert taken(KMeans, "init") == set(SEEDINGS)
    assert taken(GaussianMixture, "covariance_type") == {*FAMILIES, "fixed"}


def test_levels_of_this_machine_are_levels_of_the_build() -> None:
    assert set(_native.simd_levels()) <= set(levels())
