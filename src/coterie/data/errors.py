"""What goes wrong with data: one kind of error, and packages that are not there."""

from __future__ import annotations

from importlib import import_module
from typing import Any


class DataError(ValueError):
    """Data that cannot be used; the message says what was expected, what is there, what to do."""


class DataWarning(UserWarning):
    """Data that are used in part; the message says what is left out, why, and what to do."""


def required(module: str, purpose: str, extra: str) -> Any:
    """Import an optional package, or say which extra brings it."""
    try:
        return import_module(module)
    except ImportError as error:
        package = PACKAGES.get(module.split(".")[0], module)
        raise ImportError(
            f"{purpose} needs {package}, which is not installed; "
            f'run: pip install "coterie[{extra}]"'
        ) from error


PACKAGES = {"PIL": "Pillow", "av": "PyAV"}  # where people know another name
