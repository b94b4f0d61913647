"""The architecture, checked: layers import only downwards, optional stays optional, stubs match."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

import coterie

PACKAGE = Path(coterie.__file__).parent

# A layer may import itself and the layers named here.
ALLOWED = {
    "arrays": set(),
    "colours": set(),
    "interruptible": set(),
    "files": set(),
    "formatting": set(),
    "remedies": set(),
    "visible_text": set(),
    "kernels": set(),
    "engines": {"kernels"},
    "algorithms": {"engines", "kernels", "interruptible"},
    "estimators": {"algorithms", "engines", "kernels"},
    "data": {"colours", "kernels"},
    "choosing": {"formatting", "remedies", "estimators", "algorithms", "interruptible"},
    "models": {"files", "data", "estimators", "algorithms", "kernels"},
    "plots": {
        "formatting",
        "choosing",
        "data",
        "colours",
        "visible_text",
        "algorithms",
        "estimators",
    },
    "cli": {
        "models",
        "plots",
        "choosing",
        "data",
        "colours",
        "files",
        "formatting",
        "remedies",
        "visible_text",
        "estimators",
        "algorithms",
    },
}


def imported_modules(path: Path) -> list[str]:
    modules = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            modules += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative imports hide the layer they come from"
            if node.module == "coterie":
                modules += [f"coterie.{alias.name}" for alias in node.names]
            elif node.module:
                modules.append(node.module)
    return modules


def layer_of(module: str) -> str | None:
    parts = module.split(".")
    return parts[1] if parts[0] == "coterie" and len(parts) > 1 and parts[1] in ALLOWED else None


@pytest.mark.parametrize("layer", sorted(ALLOWED))
def test_layers_import_only_downwards(layer: str) -> None:
    files = sorted((PACKAGE / layer).rglob("*.py")) or [PACKAGE / f"{layer}.py"]
    for path in files:
        reached = {found for module in imported_modules(path) if (found := layer_of(module))}
        upwards = reached - ALLOWED[layer] - {layer, "arrays"}  # types of arrays are for all
        assert not upwards, f"{path.relative_to(PACKAGE)} reaches up into {sorted(upwards)}"


def test_every_folder_is_a_known_layer() -> None:
    folders = {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists()}
    assert folders <= set(ALLOWED), "a new layer needs a line in ALLOWED"


def loaded_by(script: str) -> set[str]:
    """The packages that are imported after a script has run in a new process."""
    script = (
        "import sys; sys.modules['pandas'] = None\n"  # it would import pyarrow by itself
        f"{script}; print(' '.join(sorted({{m.split('.')[0] for m in sys.modules}})))"
    )
    run = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=120
    )
    return set(run.stdout.split())


def test_a_plain_import_imports_nothing_else() -> None:
    heavy = {"numpy", "scipy", "sklearn", "logging", "importlib_metadata", "joblib"}
    assert not loaded_by("import coterie; dir(coterie); coterie.__all__") & heavy


def test_every_public_name_needs_only_the_core() -> None:
    loaded = loaded_by("from coterie import *; import coterie.plots")
    assert {"numpy", "scipy", "sklearn"} <= loaded
    for optional in ("matplotlib", "PIL", "dask", "pyarrow", "soundfile", "av"):
        assert optional not in loaded, f"import coterie must not import {optional}"


def test_public_names_are_where_they_are_said_to_be() -> None:
    assert set(coterie.__all__) == {*coterie._HOME_OF, "__version__"}
    assert set(coterie.__all__) <= set(dir(coterie))
    for name, home in coterie._HOME_OF.items():
        assert getattr(coterie, name) is getattr(importlib.import_module(home), name)
        assert name in importlib.import_module(home).__all__
    for layer in ("choosing", "data", "estimators", "models", "plots"):
        assert getattr(coterie, layer) is importlib.import_module(f"coterie.{layer}")
    with pytest.raises(AttributeError, match="module 'coterie' has no attribute 'nothing'"):
        coterie.nothing  # noqa: B018


def declared_names(path: Path) -> dict[str, list[list[str]]]:
    """Functions and methods of a stub with the names of their arguments, overloads in order."""
    names: dict[str, list[list[str]]] = {}

    def visit(body: list[ast.stmt], prefix: str) -> None:
        for node in body:
            if isinstance(node, ast.ClassDef):
                visit(node.body, f"{node.name}.")
            elif isinstance(node, ast.FunctionDef):
                arguments = [a.arg for a in node.args.posonlyargs + node.args.args]
                names.setdefault(prefix + node.name, []).append(arguments)

    visit(ast.parse(path.read_text()).body, "")
    return names


def test_native_stub_matches_the_module(tmp_path: Path) -> None:
    if importlib.util.find_spec("nanobind") is None:
        pytest.skip("nanobind is a build tool and not installed here")
    fresh = tmp_path / "_native.pyi"
    generate = f"-m nanobind.stubgen -q -m coterie.kernels._native -o {fresh}"
    subprocess.run([sys.executable, *generate.split()], check=True, timeout=120)
    stub = PACKAGE / "kernels" / "_native.pyi"
    assert declared_names(stub) == declared_names(fresh), "run `make stubs`"
