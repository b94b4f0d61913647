"""Checks of the options of readers; every message names the option and gives a remedy."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np


def check_path(path: Any) -> None:
    """Raise if a path is none, for example because it is an array."""
    if not isinstance(path, str | os.PathLike):
        raise TypeError(
            f"expected a path as str or os.PathLike, got {_shown(path)}; "
            "pass arrays and frames to fit() as they are"
        )


def check_choice(name: str, value: Any, choices: Sequence[str], remedy: str) -> None:
    """Raise if an option is none of a few words."""
    if not (isinstance(value, str) and value in choices):
        raise ValueError(
            f"expected {name} out of {', '.join(map(repr, choices))}, got {_shown(value)}; {remedy}"
        )


def check_truth(name: str, value: Any, remedy: str) -> None:
    """Raise if an option is neither True nor False."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"expected {name} True or False, got {_shown(value)}; {remedy}")


def check_whole(name: str, value: Any, least: int, remedy: str) -> None:
    """Raise if an option is no whole number of at least `least`."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, Integral):
        raise TypeError(f"expected {name} as a whole number, got {_shown(value)}; {remedy}")
    if int(value) < least:
        raise ValueError(f"expected {name} of at least {least}, got {value}; {remedy}")


def check_number(name: str, value: Any, least: float, remedy: str) -> None:
    """Raise if an option is no finite number of at least `least`."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        raise TypeError(f"expected {name} as a number, got {_shown(value)}; {remedy}")
    if not (math.isfinite(value) and float(value) >= least):
        raise ValueError(f"expected {name} of at least {least:g}, got {value}; {remedy}")


def _shown(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= 60 and "\n" not in shown else f"a {type(value).__name__}"
