"""What is said on stderr: sentences that fit the terminal, and progress of long work."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from textwrap import wrap
from threading import Timer
from typing import Any

from coterie.cli.screen import put
from coterie.cli.terminal import Terminal
from coterie.visible_text import one_line, visible

PATIENCE = 0.6  # seconds of silence before progress is shown


@dataclass(frozen=True)
class Voice:
    """How much to say, and what the terminal can show."""

    quiet: bool = False
    verbose: int = 0

    @property
    def terminal(self) -> Terminal:
        return Terminal.of(sys.stderr)

    @property
    def width(self) -> int:
        return max(40, min(100, shutil.get_terminal_size().columns))

    def say(self, text: str = "") -> None:
        """A line, or several, as they are; labels matter more than a stderr that is full."""
        if not self.quiet:
            with suppress(OSError):
                put(text, sys.stderr)

    def tell(self, head: str, text: str, indent: int = 11) -> None:
        """A word at the left, and sentences beside it, wrapped."""
        lines = wrap(
            visible(text), self.width - indent - 2, break_long_words=False, break_on_hyphens=False
        ) or [""]
        mark = self.terminal.faint(head.ljust(indent))
        self.say(f"  {mark}{lines[0]}")
        for line in lines[1:]:
            self.say(f"  {'':{indent}}{line}")

    @contextmanager
    def progress(self, doing: str) -> Iterator[Callable[..., None]]:
        """Work that may take long: yields ``step(done, total, detail)``.

        Shown on a terminal only, after a moment, with the time left where the total is known; gone
        when the work is done. After Ctrl-C the error knows what was being done.
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
    """A bar of rich that appears only if the work takes longer than a moment."""

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
        from rich.console import Console
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
            console=Console(stderr=True),
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
