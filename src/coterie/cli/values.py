"""Types of option values, whose errors give expected, actual and remedy."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

INFINITE = float("inf")

if TYPE_CHECKING:
    Value = click.ParamType[Any]
else:  # not a generic class in every version of click
    Value = click.ParamType


class Count(Value):
    """A whole number of 1 or more."""

    name = "n"

    def convert(self, value: Any, param: Any, ctx: Any) -> int:
        if isinstance(value, str) and not (value.isdecimal() and int(value) >= 1):
            self.fail(f"expected a whole number of 1 or more, got {value!r}", param, ctx)
        return int(value)


class Seed(Value):
    """A whole number from 0 to 2**32 - 1."""

    name = "seed"

    def convert(self, value: Any, param: Any, ctx: Any) -> int:
        if isinstance(value, str) and not (value.isdecimal() and int(value) < 2**32):
            self.fail(f"expected a whole number from 0 to {2**32 - 1}, got {value!r}", param, ctx)
        return int(value)


class Number(Value):
    """A number above a bound, or at it."""

    name = "x"

    def __init__(self, least: float = 0.0, *, above: bool = False) -> None:
        self.least, self.above = least, above

    def convert(self, value: Any, param: Any, ctx: Any) -> float:
        try:
            number = float(value)
        except ValueError:
            number = float("nan")
        if not (self.least < number if self.above else self.least <= number) or number == INFINITE:
            bound = f"above {self.least:g}" if self.above else f"of {self.least:g} or more"
            self.fail(f"expected a number {bound}, got {value!r}", param, ctx)
        return number


class Columns(Value):
    """Names or positions, separated by commas."""

    name = "columns"

    def convert(self, value: Any, param: Any, ctx: Any) -> list[str | int]:
        if isinstance(value, list):
            return value
        names = [part.strip() for part in value.split(",")]
        if not all(names):
            self.fail(f"expected names or positions as a,b,c, got {value!r}", param, ctx)
        return [int(name) if name.isdecimal() else name for name in names]


class Output(Value):
    """A file to write, in a folder that exists, with an ending that is known."""

    name = "file"

    def __init__(self, *endings: str, dash: bool = False) -> None:
        self.endings, self.dash = endings, dash

    def convert(self, value: Any, param: Any, ctx: Any) -> Path:
        path = Path(value)
        if self.dash and str(value) == "-":
            return path
        if self.endings and path.suffix.lower() not in self.endings:
            endings = ", ".join(self.endings)
            self.fail(f"expected a name ending in {endings}, got {value!r}", param, ctx)
        if path.is_dir():
            self.fail(f"expected a file to write, got the folder {str(value)!r}", param, ctx)
        if not path.parent.is_dir():
            folder = str(path.parent)
            self.fail(
                f"expected an existing folder, found none at {folder!r}; create it first",
                param, ctx,
            )  # fmt: skip
        return path
