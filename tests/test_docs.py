"""The documentation, checked: examples run, shown output is true, links lead somewhere.

Blocks that begin with ```python run from top to bottom, one namespace per page. The block
```output after it is its output; of ```output coterie only lines that begin with that word are
compared, because other packages answer differently on other machines. Not run are

    ```python no-run          for the eye only
    ```python source=PATH     quoted: each line stands in that file, in this order
"""

from __future__ import annotations

import ast
import contextlib
import io
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from sklearn.exceptions import ConvergenceWarning

from coterie.kernels import _native

ROOT = Path(__file__).parents[1]
TUTORIALS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
PAGES = [*TUTORIALS, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", ROOT / "benchmarks/README.md"]
PAGES.append(ROOT / "native/README.md")

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
ELSEWHERE = ("http://", "https://", "mailto:")


@dataclass(frozen=True)
class Fence:
    """A fenced block: the words behind the opening backticks, the text, and its first line."""

    info: tuple[str, ...]
    text: str
    line: int  # of the text, counted from 1

    @property
    def runs(self) -> bool:
        return self.info == ("python",)

    @property
    def source(self) -> str | None:
        paths = [word[len("source=") :] for word in self.info if word.startswith("source=")]
        return paths[0] if paths else None


def fences(page: Path) -> list[Fence]:
    found: list[Fence] = []
    opened, info, text = 0, (), []
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), start=1):
        if line.startswith("```") and not opened:
            opened, info, text = number, tuple(line[3:].split()), []
        elif line.rstrip() == "```":
            found.append(Fence(info, "\n".join(text), opened + 1))
            opened = 0
        elif opened:
            text.append(line)
    assert not opened, f"{page.name}: the block opened in line {opened} is never closed"
    return found


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def prose(page: Path) -> str:
    """The page without its fenced blocks and its `code`."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.S | re.M)
    return re.sub(r"`[^`\n]*`", "`code`", text)


def anchors(page: Path) -> set[str]:
    """The names that headings get: small letters, hyphens for spaces, no punctuation."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.S | re.M)
    headings = re.findall(r"^#+ (.+)$", text, flags=re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.fixture
def somewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A folder for the files of examples; the instruction-set level is restored afterwards."""
    monkeypatch.chdir(tmp_path)
    level = _native.simd_level()
    yield
    _native.use_simd_level(level)


@pytest.mark.usefixtures("somewhere")
@pytest.mark.parametrize("page", TUTORIALS, ids=name_of)
def test_examples_run_and_print_what_is_shown(page: Path) -> None:
    namespace: dict[str, Any] = {"__name__": "__main__"}
    printed: str | None = None
    for fence in fences(page):
        if fence.runs:
            printed = output_of(fence, page, namespace)
        elif fence.info[:1] == ("output",):
            assert printed is not None, f"{page.name}:{fence.line}: output of which block?"
            begin = fence.info[1:]
            assert lines(printed, *begin) == lines(fence.text, *begin), f"{page.name}:{fence.line}"


def lines(text: str, begin: str = "") -> list[str]:
    return [line.rstrip() for line in text.strip().splitlines() if line.startswith(begin)]


def output_of(fence: Fence, page: Path, namespace: dict[str, Any]) -> str:
    # Empty lines in front, so that a traceback names the line of the page.
    code = compile("\n" * (fence.line - 1) + fence.text, str(page), "exec")
    screen = io.StringIO()
    with warnings.catch_warnings(), contextlib.redirect_stdout(screen):
        # Examples show hostile data, so these two warnings may come; no other may.
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", RuntimeWarning)
        exec(code, namespace)
    return screen.getvalue()


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_quoted_code_is_the_code(page: Path) -> None:
    for fence in fences(page):
        if fence.source is None:
            continue
        rest = iter([line.strip() for line in (ROOT / fence.source).read_text().splitlines()])
        for line in filter(None, map(str.strip, fence.text.splitlines())):
            assert line == "..." or line in rest, f"{page.name}: no {line!r} in {fence.source}"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    for target in LINK.findall(prose(page)):
        if target.startswith(ELSEWHERE):
            continue
        path, _, anchor = target.partition("#")
        other = (page.parent / path).resolve() if path else page
        assert other.is_relative_to(ROOT), f"{page.name}: {target} leads out of the repository"
        assert other.exists(), f"{page.name}: {target} does not exist"
        if anchor:
            assert anchor in anchors(other), f"{page.name}: {target} has no such heading"


def test_the_map_names_all_folders_and_nothing_else() -> None:
    page = ROOT / "CONTRIBUTING.md"
    layout = next(fence.text for fence in fences(page) if "src/coterie/" in fence.text)
    named = set(re.findall(r"\b(\w+)/", layout))
    package, native = ROOT / "src/coterie", ROOT / "native"
    there = {path.name for path in package.rglob("*") if (path / "__init__.py").exists()}
    there |= {path.name for path in native.rglob("*") if path.is_dir()}
    # Those within one layer are told by its own first docstring.
    assert not there - named - {"covariance", "pictures"}, "does not name all folders"
    others = {"README", "docs", "src", "coterie", "native", "tests", "support", "benchmarks"}
    assert not named - there - others - {"tools"}, "names folders that are not there"


def test_folders_of_native_say_where_to_begin() -> None:
    page = (ROOT / "native/README.md").read_text(encoding="utf-8")
    told = dict(re.findall(r"^- `(\w+)/`: (.*?)(?=^- |\Z)", page, flags=re.S | re.M))
    folders = {path.name for path in (ROOT / "native").iterdir() if path.is_dir()}
    assert set(told) == folders
    for folder, text in told.items():
        assert "egin" in text, f"{folder} does not say where to begin"
        for name in re.findall(r"`([\w/]+\.[ch]pp)`", text):
            home = ROOT / "native" if name.split("/")[0] in folders else ROOT / "native" / folder
            assert (home / name).exists(), f"{folder}: {name} is not there"


def test_paths_in_pages_exist() -> None:
    roots = (ROOT, ROOT / "src/coterie", ROOT / "native")
    for page in (*TUTORIALS, ROOT / "CONTRIBUTING.md"):
        text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.S | re.M)
        for path in re.findall(r"`(\w+/[\w/]+\.(?:py|cpp|hpp|cmake))`", text):
            there = [root for root in roots if (root / path).exists()]
            assert there or (ROOT / "src" / path).exists(), f"{page.name}: {path} is not there"


def test_packages_say_where_to_begin() -> None:
    """The first docstring of a package names files that are there, and one to begin with."""
    for path in sorted((ROOT / "src/coterie").rglob("__init__.py")):
        docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
        assert docstring, f"{path.parent.name} does not say what lives there"
        begins = "egin" in docstring or path.parent.name == "coterie"
        assert begins, f"{path.parent.name} does not say where to begin"
        for name in re.findall(r"`(?:\w+/)*(\w+\.py)`", docstring):
            assert list(path.parent.parent.rglob(name)), f"{path}: {name} is not there"


def test_constants_in_pages_stand_in_the_files_named_beside_them() -> None:
    """A row of a table that names constants and files of native/ is true of them."""
    wrong = []
    for page in PAGES:
        for line in page.read_text(encoding="utf-8").splitlines():
            files = re.findall(r"`(native/[\w/]+\.[ch]pp)`", line)
            text = "".join((ROOT / file).read_text(encoding="utf-8") for file in files)
            for name in re.findall(r"`(k[A-Z]\w+)`", line) if files else []:
                if not re.search(rf"\b{name}\b", text):
                    wrong.append(f"{page.name}: {name} is not in {' or '.join(files)}")
    assert not wrong, "\n".join(wrong)
