"""Errors and warnings about data, and about optional packages that are not installed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any


class DataError(ValueError):
    """Data that cannot be used; the message gives expectation, finding and remedy."""


class DataWarning(UserWarning):
    """Data that are used in part; the message gives the columns left out, reason and remedy."""


@contextmanager
def naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Put the path of a file before the message of an error about its data."""
    try:
        yield
    except DataError as error:
        raise DataError(f"{os.fspath(path)}: {error}") from error.__cause__


def required(module: str, purpose: str, extra: str) -> Any:
    """Import an optional package, or name the extra that brings it."""
    try:
        return import_module(module)
    except ImportError as error:
        package = PACKAGES.get(module.split(".")[0], module)
        raise ImportError(
            f"{purpose} needs {package}, which is not installed; "
            f'run: pip install "coterie[{extra}]"'
        ) from error


PACKAGES = {"PIL": "Pillow", "av": "PyAV"}  # packages that people know by another name
