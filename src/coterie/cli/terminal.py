"""Words and bars for a terminal: colour only where it is wanted, blocks only where they print.

What comes from here is for `screen.put`, which makes sequences of what begins with its mark.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TextIO

from coterie.cli.screen import OWN

LEVELS = "▁▂▃▄▅▆▇█"


@dataclass(frozen=True)
class Terminal:
    """What a stream can show."""

    colour: bool
    blocks: bool

    @classmethod
    def of(cls, stream: TextIO, environment: Mapping[str, str] = os.environ) -> Terminal:
        """Look at a stream: colour needs a terminal and no NO_COLOR, blocks an encoding."""
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
        """Return the text in a weaker tone, for what is read last."""
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
