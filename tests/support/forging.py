"""Files whose checksums are right and whose content is not."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from coterie import save
from coterie.models.container import pack

Change = Callable[[dict[str, Any], dict[str, Any]], Any]
NUMBERS = (np.nan, np.inf, -np.inf, -1.0, 0.0, 1e308, 5e-324, -1e308)
INTEGERS = (-1, 0, 1, 59, 60, 2**31 - 1, -(2**31))
WORDS = (None, True, -1, 0, 1, 3, 2.5, 2**70, 1e308, "nan", "inf", "-inf", "", "full", [], {})


def forged(model: Any, path: Path, change: Change) -> Path:
    """Write a model after a change of its header and arrays, with checksums of the new values."""
    from coterie.models import save_load

    kept: dict[str, Any] = {}
    original = save_load.pack
    save_load.pack = lambda header, arrays: kept.update(h=header, a=arrays) or ()  # type: ignore
    try:
        save(model, path)
    finally:
        save_load.pack = original
    header = json.loads(json.dumps(kept["h"]))
    arrays = {name: values.copy() for name, values in kept["a"].items()}
    change(header, arrays)
    path.write_bytes(b"".join(bytes(part) for part in pack(header, arrays)))
    return path


def random_change(random: np.random.Generator) -> Change:
    """Return a change of one array, or of one value of the header."""

    def change(header: dict[str, Any], arrays: dict[str, Any]) -> None:
        if random.random() < 0.75:
            names = [name for name, values in sorted(arrays.items()) if values.size]
            _change_values(arrays[names[random.integers(len(names))]].reshape(-1), random)
            return
        places = list(_leaves(header))
        inside, key = places[random.integers(len(places))]
        inside[key] = WORDS[random.integers(len(WORDS))]

    return change


def _change_values(values: Any, random: np.random.Generator) -> None:
    at, other = random.integers(values.size, size=2)
    way = random.integers(4)
    if way == 0 and values.dtype.kind == "f":
        values[at] = NUMBERS[random.integers(len(NUMBERS))]
    elif way == 0 and values.dtype.kind == "i":
        values[at] = INTEGERS[random.integers(len(INTEGERS))]
    elif way == 1 and values.dtype.kind != "b":
        values.view(np.uint8)[random.integers(values.nbytes)] ^= 1 << int(random.integers(8))
    elif way == 2:
        values[:] = values[at]
    else:
        values[at] = values[other]


def _leaves(inside: Any) -> Iterator[tuple[Any, Any]]:
    """Yield (dict or list, key) of each value that is no dict and no list."""
    for key in inside if isinstance(inside, dict) else range(len(inside)):
        if isinstance(inside[key], dict | list) and inside[key]:
            yield from _leaves(inside[key])
        else:
            yield inside, key
