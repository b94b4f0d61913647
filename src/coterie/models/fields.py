"""Kinds of values in a model, each with its form in a file and its checks on loading.

A kind turns a value into JSON and named arrays, and back. On the way back it trusts nothing: it
checks types, shapes and ranges against the schema. A letter stands for a size, so that arrays that
belong together fit together: (k, d) means and (k,) counts have the same k.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from coterie.models.container import Arrays, damaged


@dataclass
class Shelf:
    """Arrays being stored or loaded, and the size that each letter stands for."""

    arrays: Arrays = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)


class Kind(Protocol):
    """A sort of value, with its way into a file and back."""

    def store(self, value: Any, name: str, shelf: Shelf) -> Any:
        """Return the JSON of a value; put its arrays on the shelf."""
        ...

    def load(self, stored: Any, name: str, shelf: Shelf) -> Any:
        """Return the value of JSON and arrays, or raise ModelError."""
        ...


@dataclass(frozen=True)
class Array:
    """An array; its letters name its sizes, and its values lie in [low, high]."""

    dtype: str
    shape: tuple[str, ...] | None  # None: any; `consistency` checks it against other values
    low: float = -math.inf
    high: float | str = math.inf  # a letter means: below that size
    finite: bool = True
    narrow: str | None = None  # a second dtype, kept if the array has it

    def store(self, value: Any, name: str, shelf: Shelf) -> Any:
        narrow = self.narrow is not None and np.asarray(value).dtype == np.dtype(self.narrow)
        dtype = self.narrow if narrow else self.dtype
        shelf.arrays[name] = np.ascontiguousarray(value, dtype=dtype)
        return {"array": name}

    def load(self, stored: Any, name: str, shelf: Shelf) -> Any:
        values = shelf.arrays.pop(name, None) if stored == {"array": name} else None
        legal = [np.dtype(dtype) for dtype in (self.dtype, self.narrow) if dtype]
        if values is None or values.dtype not in legal:
            damaged(f"{name} should be an array of {' or '.join(map(str, legal))}")
        if self.shape is not None and (
            values.ndim != len(self.shape)
            or any(
                shelf.sizes.setdefault(letter, side) != side
                for letter, side in zip(self.shape, values.shape, strict=True)
            )
        ):
            damaged(f"{name} has shape {values.shape}, which does not fit the rest")
        if values.size and values.dtype.kind in "fiu":
            self._check_range(values, name, shelf)
        return values

    def _check_range(self, values: Any, name: str, shelf: Shelf) -> None:
        high = shelf.sizes[self.high] - 1 if isinstance(self.high, str) else self.high
        lowest, highest = values.min(), values.max()
        if np.isnan(lowest) or (self.finite and not np.isfinite([lowest, highest]).all()):
            damaged(f"{name} has values that are not finite")
        if lowest < self.low or highest > high:
            damaged(f"{name} has values from {lowest} to {highest}, beyond {self.low} to {high}")


@dataclass(frozen=True)
class Number:
    """A float; infinity and NaN, which JSON lacks, as text."""

    low: float = -math.inf

    def store(self, value: Any, name: str, shelf: Shelf) -> Any:
        number = float(value)
        return number if math.isfinite(number) else repr(number)

    def load(self, stored: Any, name: str, shelf: Shelf) -> float:
        number = float(stored) if stored in ("inf", "-inf", "nan") else stored
        wrong = isinstance(number, bool) or not isinstance(number, int | float)
        if wrong or (self.low > -math.inf and not number >= self.low):  # as NaN is not
            damaged(f"{name} should be a number of {self.low} or more, and is {stored!r}")
        try:
            return float(number)
        except OverflowError:
            damaged(f"{name} should be a float64, and is a number of {len(str(number))} digits")


@dataclass(frozen=True)
class Count:
    """A whole number."""

    low: int | None = 0
    high: int | None = None

    def store(self, value: Any, name: str, shelf: Shelf) -> Any:
        return int(value)

    def load(self, stored: Any, name: str, shelf: Shelf) -> int:
        low, high = (-math.inf if self.low is None else self.low), (self.high or math.inf)
        if type(stored) is not int or not low <= stored <= high:
            damaged(f"{name} should be a whole number from {low} to {high}, and is {stored!r}")
        return stored


@dataclass(frozen=True)
class Plain:
    """A bool or a str, as it is."""

    type: type

    def store(self, value: Any, name: str, shelf: Shelf) -> Any:
        return self.type(value)

    def load(self, stored: Any, name: str, shelf: Shelf) -> Any:
        if type(stored) is not self.type:
            damaged(f"{name} should be of type {self.type.__name__}, and is {stored!r}")
        return stored


@dataclass(frozen=True)
class Names:
    """Names of columns, as many as a letter says."""

    size: str

    def store(self, value: Any, name: str, shelf: Shelf) -> Any:
        return [str(word) for word in value]

    def load(self, stored: Any, name: str, shelf: Shelf) -> Any:
        if not isinstance(stored, list) or not all(isinstance(word, str) for word in stored):
            damaged(f"{name} should be a list of names")
        if shelf.sizes.setdefault(self.size, len(stored)) != len(stored):
            damaged(f"{name} has {len(stored)} names, which does not fit the rest")
        return np.array(stored, dtype=object)


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
