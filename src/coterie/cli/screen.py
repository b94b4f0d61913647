r"""The way to stdout and stderr for all words: no text of a file can steer a terminal or end a run.

Control characters are shown as \x1b and the like, and so are letters that an old encoding lacks.
Only `Terminal` makes sequences that reach a terminal; they begin with a mark that no file can know.
"""

from __future__ import annotations

import json
import math
import os
import re
import sys
from collections.abc import Callable
from typing import Any, TextIO

from coterie.visible_text import HIDDEN, escaped, visible

OWN = f"\x1b{os.urandom(8).hex()}["  # begins a sequence of ours, and becomes ESC [


def put(text: object = "", stream: TextIO | None = None) -> None:
    """Write a line, or several, to stdout or another stream."""
    stream = sys.stdout if stream is None else stream
    shown = "\x1b[".join(visible(part) for part in str(text).split(OWN))
    print(_encodable(shown, stream, escaped), file=stream)


def put_json(value: Any) -> None:
    """Write a value to stdout as JSON; numbers that are not finite, which JSON lacks, as null."""
    text = json.dumps(_finite(value), indent=2, ensure_ascii=False, allow_nan=False, default=_plain)
    shown = HIDDEN.sub(_escaped_in_json, text)
    print(_encodable(shown, sys.stdout, _escaped_in_json))


def _escaped_in_json(found: re.Match[str]) -> str:
    units = found[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i : i + 2].hex()}" for i in range(0, len(units), 2))


def _encodable(text: str, stream: TextIO, escape: Callable[[re.Match[str]], str]) -> str:
    """Return the text with letters escaped that the encoding of the stream lacks."""
    encoding = getattr(stream, "encoding", None) or "ascii"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return re.sub(r"[^\x00-\x7f]", escape, text.replace("…", "..."))
    return text


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(entry) for key, entry in value.items()}
    return [_finite(entry) for entry in value] if isinstance(value, list | tuple) else value


def _plain(value: Any) -> Any:
    return _finite(value.tolist()) if hasattr(value, "tolist") else str(value)
