"""Kinds of values that a model is made of: how each is stored, and what it must be to be loaded.

A kind turns a value into JSON and named arrays, and back. On the way back it trusts nothing:
types, shapes and ranges are compared with what the schema says. Sizes have letters, so that arrays
that belong together fit together: (k, d) means and (k,) counts have the same k.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from coterie.models.container import Arrays, ModelError, damaged


@dataclass
class Shelf:
    """Arrays being stored or loaded, and the sizes that letters have been found to mean."""

    arrays: Arrays = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)


class Kind(Protocol):
    """How a value is stored and loaded."""

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
    shape: tuple[str, ...]
    low: float = -math.inf
    high: float | str = math.inf  # a letter means: below that size
    finite: bool = True

    def store(self, value: Any, name: str, shelf: Shelf) -> Any:
        shelf.arrays[name] = np.ascontiguousarray(value, dtype=self.dtype)
        return {"array": name}

    def load(self, stored: Any, name: str, shelf: Shelf) -> Any:
        values = shelf.arrays.pop(name, None) if stored == {"array": name} else None
        if values is None or values.dtype != np.dtype(self.dtype):
            damaged(f"{name} should be an array of {np.dtype(self.dtype)}")
        if values.ndim != len(self.shape) or any(
            shelf.sizes.setdefault(letter, side) != side
            for letter, side in zip(self.shape, values.shape, strict=True)
        ):
            damaged(f"{name} has shape {values.shape}, which does not fit the rest")
        if values.size and values.dtype.kind in "fi":
            self._check_range(values, name, shelf)
        return values

    def _check_range(self, values: Any, name: str, shelf: Shelf) -> None:
        high = shelf.sizes[self.high] - 1 if isinstance(self.high, str) else self.high
        lowest, highest = values.min(), values.max()
        if self.finite and not (np.isfinite(lowest) and np.isfinite(highest)):
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
        if stored in ("inf", "-inf", "nan"):
            return float(stored)
        if isinstance(stored, bool) or not isinstance(stored, int | float) or stored < self.low:
            damaged(f"{name} should be a number of {self.low} or more, and is {stored!r}")
        return float(stored)


@dataclass(frozen=True)
class Count:
    """A whole number."""

    low: int | None = 0

    def store(self, value: Any, name: str, shelf: Shelf) -> Any:
        return int(value)

    def load(self, stored: Any, name: str, shelf: Shelf) -> int:
        if type(stored) is not int or (self.low is not None and stored < self.low):
            damaged(f"{name} should be a whole number, and is {stored!r}")
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
class Records:
    """A tuple of frozen records of one class, field by field."""

    type: type
    fields: Mapping[str, Kind]

    def store(self, value: Any, name: str, shelf: Shelf) -> Any:
        return [
            {
                key: kind.store(getattr(record, key), f"{name}/{i}/{key}", shelf)
                for key, kind in self.fields.items()
            }
            for i, record in enumerate(value)
        ]

    def load(self, stored: Any, name: str, shelf: Shelf) -> Any:
        if not isinstance(stored, list):
            damaged(f"{name} should be a list of records")
        return tuple(self._record(entry, f"{name}/{i}", shelf) for i, entry in enumerate(stored))

    def _record(self, entry: Any, name: str, shelf: Shelf) -> Any:
        if not isinstance(entry, dict) or set(entry) != set(self.fields):
            damaged(f"{name} has other fields than {', '.join(self.fields)}")
        return self.type(
            **{
                key: kind.load(entry[key], f"{name}/{key}", shelf)
                for key, kind in self.fields.items()
            }
        )


@dataclass(frozen=True)
class Parameter:
    """A parameter of an estimator: a plain value, or an array of numbers."""

    def store(self, value: Any, name: str, shelf: Shelf) -> Any:
        if isinstance(value, np.generic):
            value = value.item()
        if value is None or isinstance(value, bool | int | str):
            return value
        if isinstance(value, float):
            return Number().store(value, name, shelf)
        if isinstance(value, np.ndarray | list | tuple) and np.asarray(value).dtype.kind in "iuf":
            shelf.arrays[name] = np.asarray(value, dtype=np.float64)
            return {"array": name}
        what = name.removeprefix("parameters/")
        raise ModelError(
            f"expected a parameter {what} made of numbers and words, got "
            f"{type(value).__name__}, which cannot be stored without pickle; replace it first, for "
            f"example with model.set_params({what}=None) or another plain value"
        )

    def load(self, stored: Any, name: str, shelf: Shelf) -> Any:
        if stored == {"array": name} and name in shelf.arrays:
            return shelf.arrays.pop(name)
        if stored is not None and not isinstance(stored, bool | int | float | str):
            damaged(f"{name} is not a plain value")
        return float(stored) if stored in ("inf", "-inf", "nan") else stored
