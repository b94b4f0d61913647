"""Results on disk: one JSON that later runs add to, and a Markdown page drawn from it."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from benchmarks import machine
from benchmarks.options import Options

Row = dict[str, Any]
FORMAT = 1  # raise it when rows change their fields: rows of another format are not kept


class Results:
    """The rows of one benchmark, saved after each so that an interruption loses nothing.

    Rows of an earlier run stay if machine and versions are the same, and are replaced by rows
    with the same key. Ratios never mix runs: a row holds all contenders, measured together.
    """

    def __init__(
        self,
        options: Options,
        name: str,
        key: Sequence[str],
        packages: Sequence[str] = machine.PACKAGES,
    ) -> None:
        self.stem = options.stem(name)
        self.name = name
        self.key = tuple(key)
        self.machine = machine.describe()
        self.versions = machine.versions(packages)
        self.rows: list[Row] = self._earlier()

    def add(self, row: Row) -> None:
        """Put a row in the place of its predecessor, or at the end, and save."""
        row = {**row, **machine.moment()}
        identity = self._identity(row)
        places = [i for i, old in enumerate(self.rows) if self._identity(old) == identity]
        if places:
            self.rows[places[0]] = row
        else:
            self.rows.append(row)
        self._save()

    def take(self, rows: Iterable[Row], told: Callable[[Row], str]) -> bool:
        """Add and summarize rows as they are measured; True if none has faults."""
        passed = True
        for row in rows:
            self.add(row)
            passed &= not row.get("faults")
            progress(told(row))
        return passed

    def publish(
        self,
        title: str,
        page: Callable[[list[Row]], str],
        draw: Callable[[list[Row], Path], None],
    ) -> None:
        """Write the page and the picture of all rows, and show the page."""
        whole = f"# {title}\n\n{self._provenance()}\n\n{page(self.rows)}\n"
        self.stem.parent.mkdir(parents=True, exist_ok=True)
        self._with(".md").write_text(whole)
        try:
            draw(self.rows, self._with(".png"))
        except ModuleNotFoundError as error:
            progress(f"no picture: {error}")
        print(whole)

    def _provenance(self) -> str:
        about = self.machine
        caches = ", ".join(f"{level} {size}" for level, size in about["caches"].items())
        installed = {p: v for p, v in self.versions.items() if v != "not installed"}
        missing = [p for p, v in self.versions.items() if v == "not installed"]
        dates = sorted(str(row["date"]) for row in self.rows)
        commits = sorted({str(row["commit"] or "none") for row in self.rows})
        commands = sorted({str(row["command"]) for row in self.rows})
        busiest = max((row["load"][0] for row in self.rows), default=0.0)
        lines = [
            f"- machine: {about['cpu']}, {about['cores']} cores, {' '.join(about['flags'])}; "
            f"{caches}; {about['memory_gb']} GB; {about['system']}",
            f"- versions: Python {about['python']}, "
            + ", ".join(f"{package} {version}" for package, version in installed.items())
            + (f"; not installed: {', '.join(missing)}" if missing else ""),
            f"- measured: {dates[0]} to {dates[-1]}" if dates else "- measured: nothing yet",
            f"- commit: {', '.join(commits)}; highest load average at a row's end: {busiest}",
            *(f"- command: `{command}`" for command in commands),
        ]
        return "\n".join(lines)

    def _identity(self, row: Row) -> tuple[Any, ...]:
        return tuple(row[field] for field in self.key)

    def _earlier(self) -> list[Row]:
        path = self._with(".json")
        if not path.exists():
            return []
        stored = json.loads(path.read_text())
        same = {"format": FORMAT, "machine": self.machine, "versions": self.versions}
        if any(stored.get(field) != value for field, value in same.items()):
            progress(f"{path.name}: another format, machine or versions; starting anew")
            return []
        rows: list[Row] = stored["rows"]
        return rows

    def _save(self) -> None:
        content = {
            "benchmark": self.name,
            "format": FORMAT,
            "machine": self.machine,
            "versions": self.versions,
            "rows": self.rows,
        }
        path = self._with(".json")
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(".partial")
        partial.write_text(json.dumps(content, indent=1) + "\n")
        partial.replace(path)

    def _with(self, suffix: str) -> Path:
        return self.stem.with_name(self.stem.name + suffix)


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table: figures to the right, the first column and any answer to the left."""
    rule = [":--" if i == 0 or name == "answer" else "--:" for i, name in enumerate(header)]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (header, rule, *rows))


def cell(entry: Row | None, show: Callable[[Row], str]) -> str:
    """The record of a contender, if it took part and did not fail."""
    if entry is None:
        return "-"
    return "failed" if "failure" in entry else show(entry)


def seconds_by_size(row: Row) -> str:
    """One line per row, while the run goes on."""
    return " ".join([f"{row['n']:,} x {row['d']}: {row['seconds']}", *row["faults"]])


def in_threads(count: int) -> str:
    return "1 thread" if count == 1 else f"{count} threads"


def figures(value: float | None) -> str:
    """Three significant figures, without exponents where people do not expect them."""
    if value is None:
        return "-"
    if value == 0 or 1e-3 <= abs(value) < 1e4:
        digits = 3 if value == 0 else max(0, 2 - int(f"{abs(value):e}".partition("e")[2]))
        return f"{value:.{digits}f}"
    return f"{value:.2e}"


def progress(message: str) -> None:
    """Tell the progress on stderr: stdout is for results."""
    print(message, file=sys.stderr, flush=True)
