"""The terminal: its colours and bars, sentences on stderr that fit it, and progress of long work.

Sequences begin with the mark of `screen.put`, which no text of a file can know.
"""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from textwrap import wrap
from threading import Timer
from typing import Any, Self, TextIO

from coterie.cli.records import Record
from coterie.cli.screen import OWN, put
from coterie.visible_text import one_line, visible

LEVELS = "▁▂▃▄▅▆▇█"
PATIENCE = 0.6  # seconds of silence before progress is shown


@dataclass(frozen=True)
class Terminal:
    """Abilities of a stream: colour only where it is wanted, blocks only where they print."""

    colour: bool
    blocks: bool

    @classmethod
    def of(cls, stream: TextIO, environment: Mapping[str, str] = os.environ) -> Terminal:
        """Return the abilities of a stream: colour needs a terminal and no NO_COLOR."""
        wanted = not environment.get("NO_COLOR") and environment.get("TERM") != "dumb"
        try:
            LEVELS.encode(getattr(stream, "encoding", None) or "ascii")
        except UnicodeEncodeError:
            return cls(stream.isatty() and wanted, blocks=False)
        return cls(stream.isatty() and wanted, blocks=True)

    def bar(self, share: float, width: int, colour: Sequence[float]) -> str:
        """Return a bar filled to a share in [0, 1], padded to the width, in a colour (3,)."""
        filled = max(1, round(share * width))
        mark = "█" if self.blocks else "#"
        return self.painted(mark * filled, colour) + " " * (width - filled)

    def painted(self, text: str, colour: Sequence[float]) -> str:
        """Return the text in a 24-bit colour, red, green, blue in [0, 1]."""
        if not self.colour:
            return text
        red, green, blue = (round(255 * min(max(c, 0.0), 1.0)) for c in colour)
        return f"{OWN}38;2;{red};{green};{blue}m{text}{OWN}0m"

    def strong(self, text: str) -> str:
        """Return the text in bold."""
        return f"{OWN}1m{text}{OWN}0m" if self.colour else text

    def faint(self, text: str) -> str:
        """Return the text in a weaker tone, for words of less weight."""
        return f"{OWN}2m{text}{OWN}0m" if self.colour else text

    def curve(self, values: Sequence[float], width: int = 40) -> str:
        """Return a line of blocks as high as the values, or nothing where blocks do not print.

        A longer series is thinned out evenly; its first and last values stay.
        """
        last, steps = len(values) - 1, min(len(values), width)
        heights = [values[last * step // max(steps - 1, 1)] for step in range(steps)]
        low, high = min(heights, default=0.0), max(heights, default=0.0)
        if not self.blocks or high <= low:
            return ""
        top = len(LEVELS) - 1
        return "".join(LEVELS[round(top * (value - low) / (high - low))] for value in heights)


@dataclass(frozen=True)
class Console(Record):
    """Words on stderr: `quiet` and `verbose` say how many."""

    quiet: bool = False
    verbose: int = 0

    def log_iterations(self) -> Self:
        """Write the log of every iteration too, with --verbose."""
        if self.verbose:
            import logging

            logging.basicConfig(format="  %(message)s")
            logging.getLogger("coterie").setLevel(logging.INFO)
        return self

    @property
    def terminal(self) -> Terminal:
        return Terminal.of(sys.stderr)

    @property
    def width(self) -> int:
        return max(40, min(100, shutil.get_terminal_size().columns))

    def say(self, text: str = "") -> None:
        """Write a line, or several; an error of stderr does not keep labels from being written."""
        if not self.quiet:
            with suppress(OSError):
                put(text, sys.stderr)

    def tell(self, head: str, text: str, indent: int = 11) -> None:
        """Write a word at the left, and sentences beside it, wrapped."""
        lines = wrap(
            visible(text), self.width - indent - 2, break_long_words=False, break_on_hyphens=False
        ) or [""]
        mark = self.terminal.faint(head.ljust(indent))
        self.say(f"  {mark}{lines[0]}")
        for line in lines[1:]:
            self.say(f"  {'':{indent}}{line}")

    @contextmanager
    def progress(self, doing: str) -> Iterator[Callable[..., None]]:
        """Show progress of work that may take long: yields ``step(done, total, detail)``.

        A bar appears on a terminal only, after a moment, with the time left where the total is
        known, and goes when the work is done. After Ctrl-C the error names the work.
        """
        shown = not self.quiet and sys.stderr.isatty()
        bar = _Bar(doing) if shown else None
        try:
            yield (lambda done=0, total=0, detail="": None) if bar is None else bar.step
        except KeyboardInterrupt as interrupt:
            interrupt.args = (doing,)
            raise
        finally:
            if bar is not None:
                bar.close()


class _Bar:
    """A bar that appears only if the work takes longer than a moment, drawn by rich."""

    def __init__(self, doing: str) -> None:
        self.doing = one_line(doing)
        self.state: tuple[int, int | None, str] = (0, None, "")
        self.shown: Any = None
        self.began = time.perf_counter()
        self.timer = Timer(PATIENCE, self._show)
        self.timer.daemon = True
        self.timer.start()

    def step(self, done: int = 0, total: int = 0, detail: str = "") -> None:
        self.state = (done, total or None, detail)
        if self.shown is not None:
            bar, task = self.shown
            left = "left" if total else ""
            bar.update(task, completed=done, total=total or None, detail=detail, left=left)

    def _show(self) -> None:
        from rich.console import Console as RichConsole
        from rich.progress import (
            BarColumn,
            Progress,
            SpinnerColumn,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )

        bar = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=24),
            TimeElapsedColumn(),
            TextColumn("[dim]{task.fields[left]}"),
            TimeRemainingColumn(compact=True),
            TextColumn("{task.fields[detail]}", style="dim", markup=False),
            console=RichConsole(stderr=True),
            transient=True,
        )
        done, total, detail = self.state
        left = "left" if total else ""
        task = bar.add_task(self.doing, completed=done, total=total, detail=detail, left=left)
        bar.start()
        self.shown = (bar, task)

    def close(self) -> None:
        self.timer.cancel()
        self.timer.join()
        if self.shown is not None:
            self.shown[0].stop()
