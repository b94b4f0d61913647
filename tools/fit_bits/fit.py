"""A fit with a name, and short hashes of its results."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse

EXACT, LIBRARIES = "exact", "libraries"
DIGITS = 16  # of a SHA-256: enough to tell some thousand answers apart

Found = Mapping[str, Any]  # part, such as "fit" or "predict" -> values


@dataclass(frozen=True)
class Fit:
    """A fit, and the promises about its bits."""

    name: str
    run: Callable[[int], Found]  # threads -> results
    group: str = EXACT  # LIBRARIES: bits also depend on NumPy, LAPACK or libm
    by_level: bool = False  # true if each instruction-set level may have bits of its own


def name_of(*words: str, **options: Any) -> str:
    """The words and the options that differ from None, between slashes."""
    told = [f"{name}={value}" for name, value in options.items() if value is not None]
    return "/".join([*words, *told])


def digest(values: Any) -> str:
    """A short hash of numbers, arrays, texts, and lists of such."""
    sha = hashlib.sha256()
    _feed(sha.update, values)
    return sha.hexdigest()[:DIGITS]


def _feed(write: Callable[[bytes], object], value: Any) -> None:
    """Everything with its type and size, so that different values are never the same bytes."""
    if issparse(value):
        value = [value.shape, value.data, value.indices.astype(np.int64), value.indptr.tolist()]
    if isinstance(value, np.ndarray):
        little = value.astype(value.dtype.newbyteorder("<"), order="C", copy=False)
        write(f"array {little.dtype.str} {little.shape} ".encode())
        write(little.tobytes())
    elif isinstance(value, (bool, np.bool_)):
        write(b"true " if value else b"false ")
    elif isinstance(value, (int, np.integer)):
        write(f"int {int(value)} ".encode())
    elif isinstance(value, (float, np.floating)):
        write(b"float " + struct.pack("<d", value))
    elif isinstance(value, str):
        write(f"text {len(value)} {value} ".encode())
    elif isinstance(value, (list, tuple)):
        write(f"list {len(value)} ".encode())
        for each in value:
            _feed(write, each)
    else:
        raise TypeError(f"{type(value).__name__} has no bits here: expected numbers or arrays.")
