"""The base of typed options: a record takes its fields from the options of a command."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Self, get_type_hints


@dataclass(frozen=True)
class Record:
    """Options of a command as fields; a field may be a record itself, made of the same options."""

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Self:
        """Return the record of the options; those that it lacks keep their defaults."""
        parts = cls.parts()
        values = {
            field.name: given[field.name] if field.name in given else parts[field.name].of(given)
            for field in fields(cls)
            if field.name in given or field.name in parts
        }
        return cls(**values)

    @classmethod
    def parts(cls) -> dict[str, type[Record]]:
        """Return the fields that are records."""
        hints = get_type_hints(cls)
        return {
            field.name: hints[field.name]
            for field in fields(cls)
            if isinstance(hints[field.name], type) and issubclass(hints[field.name], Record)
        }

    @classmethod
    def options(cls) -> set[str]:
        """Return the names of all options that the record takes."""
        parts = cls.parts()
        own = {field.name for field in fields(cls)} - set(parts)
        return own.union(*(part.options() for part in parts.values()))
