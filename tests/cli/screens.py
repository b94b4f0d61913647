"""Streams that pass for terminals."""

from __future__ import annotations

import io
import re


class Screen(io.TextIOWrapper):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True

    @property
    def shown(self) -> str:
        """The text so far, without sequences for the terminal."""
        self.flush()
        raw: bytes = self.buffer.getvalue()  # type: ignore[attr-defined]
        return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", raw.decode())


def screen(encoding: str = "utf-8") -> Screen:
    return Screen(io.BytesIO(), encoding=encoding)
