"""Kinds of values with parts: records, sequences, mappings, and rows, dense or sparse."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from scipy import sparse

from coterie.models.container import damaged
from coterie.models.fields import Array, Kind, Shelf


@dataclass(frozen=True)
class Record:
    """A frozen record, field by field; fields that are not named keep their defaults."""

    type: Callable[..., Any]
    fields: Mapping[str, Kind]

    def store(self, value: Any, name: str, shelf: Shelf) -> Any:
        return {
            key: kind.store(getattr(value, key), f"{name}/{key}", shelf)
            for key, kind in self.fields.items()
        }

    def load(self, stored: Any, name: str, shelf: Shelf) -> Any:
        if not isinstance(stored, dict) or set(stored) != set(self.fields):
            damaged(f"{name} has other fields than {', '.join(self.fields)}")
        return self.type(
            **{
                key: kind.load(stored[key], f"{name}/{key}", shelf)
                for key, kind in self.fields.items()
            }
        )


@dataclass(frozen=True)
class Sequence:
    """A tuple or a list, all of one kind."""

    kind: Kind
    type: Callable[..., Any] = tuple

    def store(self, value: Any, name: str, shelf: Shelf) -> Any:
        return [self.kind.store(entry, f"{name}/{i}", shelf) for i, entry in enumerate(value)]

    def load(self, stored: Any, name: str, shelf: Shelf) -> Any:
        if not isinstance(stored, list):
            damaged(f"{name} should be a list")
        return self.type(
            self.kind.load(entry, f"{name}/{i}", shelf) for i, entry in enumerate(stored)
        )


@dataclass(frozen=True)
class Table:
    """A dict from words to values of one kind, or None."""

    kind: Kind

    def store(self, value: Any, name: str, shelf: Shelf) -> Any:
        if value is None:
            return None
        return {
            str(key): self.kind.store(entry, f"{name}/{key}", shelf) for key, entry in value.items()
        }

    def load(self, stored: Any, name: str, shelf: Shelf) -> Any:
        if stored is None:
            return None
        if not isinstance(stored, dict):
            damaged(f"{name} should be an object")
        return {key: self.kind.load(entry, f"{name}/{key}", shelf) for key, entry in stored.items()}


@dataclass(frozen=True)
class Rows:
    """Rows of float64 or float32, in an array or in a CSR array; two letters name their sizes."""

    shape: tuple[str, str]

    def store(self, value: Any, name: str, shelf: Shelf) -> Any:
        if not sparse.issparse(value):
            return self._values(self.shape).store(value, name, shelf)
        parts = {"data": value.data, "indices": value.indices, "indptr": value.indptr}
        kinds = self._parts(name)
        stored = {key: kinds[key].store(parts[key], f"{name}/{key}", shelf) for key in parts}
        return {**stored, "columns": value.shape[1]}

    def load(self, stored: Any, name: str, shelf: Shelf) -> Any:
        kinds = self._parts(name)
        if not isinstance(stored, dict) or set(stored) != {*kinds, "columns"}:
            return self._values(self.shape).load(stored, name, shelf)
        parts = {key: kind.load(stored[key], f"{name}/{key}", shelf) for key, kind in kinds.items()}
        ends, columns = parts["indptr"], stored["columns"]
        sound = (
            type(columns) is int
            and len(ends) > 0
            and ends[0] == 0
            and ends[-1] == len(parts["data"])
            and (ends[1:] >= ends[:-1]).all()
            and parts["indices"].max(initial=0) < columns
        )
        if not sound:
            damaged(f"{name} are not sound rows of a CSR array")
        shape = (len(ends) - 1, columns)
        for letter, side in zip(self.shape, shape, strict=True):
            if shelf.sizes.setdefault(letter, side) != side:
                damaged(f"{name} has shape {shape}, which does not fit the rest")
        return sparse.csr_array((parts["data"], parts["indices"], ends), shape=shape)

    def _values(self, shape: tuple[str, ...]) -> Array:
        return Array("f8", shape, narrow="f4")

    def _parts(self, name: str) -> dict[str, Array]:
        entries = (f"{name}: entries",)
        places = Array("i8", entries, low=0, narrow="i4")
        return {
            "data": self._values(entries),
            "indices": places,
            "indptr": Array("i8", (f"{name}: ends",), low=0, narrow="i4"),
        }
