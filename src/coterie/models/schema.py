"""Description of an estimator for a file: its parameters and its fitted attributes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from coterie.models.container import ModelError, damaged
from coterie.models.fields import Kind, Number, Shelf


@dataclass(frozen=True)
class Parameter:
    """A parameter of an estimator: a plain value, or an array of numbers."""

    def store(self, value: Any, name: str, shelf: Shelf) -> Any:
        if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and value.ndim == 0):
            value = value.item()
        if value is None or isinstance(value, bool | int | str):
            return value
        if isinstance(value, float):
            return Number().store(value, name, shelf)
        if isinstance(value, np.ndarray | list | tuple) and np.asarray(value).dtype.kind in "iuf":
            shelf.arrays[name] = np.asarray(value, dtype=np.float64)
            return {"array": name}
        what = name.removeprefix("parameters/").partition("/")[0]
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


@dataclass(frozen=True)
class Schema:
    """One estimator: its name in files, its class, its fitted attributes."""

    name: str
    estimator: Callable[..., Any]
    attributes: Mapping[str, Kind]
    optional: frozenset[str] = frozenset(["feature_names_in_"])  # attributes of some fits only
    passing: frozenset[str] = frozenset(["callback"])  # parameters of a fit, not of a model
    parameters: Mapping[str, Kind] = field(default_factory=dict)  # those that need a special kind
    left_out: Callable[[Any], set[str]] = lambda estimator: set()  # optional attributes to omit
    inconsistency: Callable[[Any], str | None] = lambda estimator: None  # see `consistency`

    def store_parameters(self, estimator: Any, place: str, shelf: Shelf) -> dict[str, Any]:
        return {
            name: self._kind(name).store(value, f"{place}/{name}", shelf)
            for name, value in estimator.get_params(deep=False).items()
            if name not in self.passing
        }

    def load_parameters(self, stored: Any, place: str, shelf: Shelf) -> Any:
        """Return the estimator, not fitted; a later version may know more parameters."""
        known = set(self.estimator().get_params(deep=False)) - self.passing
        if not isinstance(stored, dict) or not set(stored) <= known:
            damaged(f"its parameters are not those of {self.name}")
        values = {
            name: self._kind(name).load(value, f"{place}/{name}", shelf)
            for name, value in stored.items()
        }
        estimator = self.estimator(**values)
        try:
            estimator._validate_params()
        except ValueError as error:
            damaged(f"a parameter is not legal ({error})")
        return estimator

    def _kind(self, name: str) -> Kind:
        return self.parameters.get(name, Parameter())


@dataclass(frozen=True)
class Nested:
    """A parameter that may be an estimator, not fitted: only its parameters are stored."""

    schema: Schema

    def store(self, value: Any, name: str, shelf: Shelf) -> Any:
        if type(value) is not self.schema.estimator:
            return Parameter().store(value, name, shelf)
        return {self.schema.name: self.schema.store_parameters(value, name, shelf)}

    def load(self, stored: Any, name: str, shelf: Shelf) -> Any:
        if isinstance(stored, dict) and set(stored) == {self.schema.name}:
            return self.schema.load_parameters(stored[self.schema.name], name, shelf)
        return Parameter().load(stored, name, shelf)
