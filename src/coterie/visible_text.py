r"""Texts of files, such as names of columns, in a form in which every character is seen.

Names may hold anything. Control characters are shown as \x1b and the like, so that none of them
steers a terminal or breaks a picture.
"""

from __future__ import annotations

import re

# Control characters but the end of a line, marks of direction, rare ends of lines, and surrogates,
# which stand for bytes in names of files that are not UTF-8.
HIDDEN = re.compile(
    r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)
SHORT = {"\t": r"\t", "\r": r"\r"}


def visible(text: object) -> str:
    """Return a text of which every character shows; ends of lines are left."""
    return HIDDEN.sub(escaped, str(text))


def one_line(text: object) -> str:
    """Return a name in one line."""
    return visible(text).replace("\n", r"\n")


def escaped(found: re.Match[str]) -> str:
    """Return a character as an escape of Python; a surrogate of a byte as that byte."""
    letter = found[0]
    code = ord(letter)
    if 0xDC80 <= code <= 0xDCFF:
        code -= 0xDC00
    if code < 0x100:
        return SHORT.get(letter, f"\\x{code:02x}")
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
