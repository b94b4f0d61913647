"""Remedies as data, which Python and the command line write in their own words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from string import Formatter
from typing import Any

Spelling = Callable[[str, Any], str]  # of a parameter and its value, which is NAME_ONLY for none
NAME_ONLY = object()


@dataclass(frozen=True)
class Remedy:
    """One way to mend a fault.

    Braces in the text stand for parameters: ``{n_init}`` with the value, ``{n_init:name}`` without.
    """

    text: str
    parameters: Mapping[str, Any] = field(default_factory=dict)  # for set_params
    code: str = ""  # of a remedy that is no parameter, such as "scale"

    @property
    def names(self) -> set[str]:
        """The parameters that the text names."""
        return {name for _, name, _, _ in Formatter().parse(self.text) if name}

    def words(self, spell: Spelling) -> str:
        """Return the text with every parameter spelled."""
        places = {name: _Place(name, self.parameters, spell) for name in self.names}
        return self.text.format_map(places)


@dataclass(frozen=True)
class _Place:
    """A parameter in a text."""

    name: str
    values: Mapping[str, Any]
    spell: Spelling

    def __format__(self, form: str) -> str:
        return self.spell(self.name, NAME_ONLY if form == "name" else self.values[self.name])


def in_python(name: str, value: Any) -> str:
    """Spell a parameter as in a call."""
    return name if value is NAME_ONLY else f"{name}={value!r}"


def alternatives(words: Sequence[str]) -> str:
    """Join ways to mend a fault: "a", "a, or b", "a, b, or c"."""
    *first, last = words
    return f"{', '.join(first)}, or {last}" if first else last
