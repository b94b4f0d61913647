"""Checks of the arguments of all functions that choose, before any work is done."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import validate_parameter_constraints

from coterie.estimators import DBSCAN
from coterie.estimators.validation import N_JOBS

LARGEST_SEED = 2**32 - 1  # of NumPy's RandomState


def whole(value: Any, name: str, remedy: str, *, least: int = 1, most: int | None = None) -> int:
    """Check a whole number; an error ends in the remedy."""
    numbers = f"{least} or more"
    try:
        if isinstance(value, bool | np.bool_):
            raise TypeError
        number = operator.index(value)
    except TypeError:
        raise TypeError(
            f"expected {name} to be a whole number of {numbers}, got {_told(value)}; {remedy}"
        ) from None
    if most is not None and number > most:
        numbers = f"{most:,} or fewer"
    if number < least or (most is not None and number > most):
        raise ValueError(f"expected {name} of {numbers}, got {value}; {remedy}")
    return number


def sample_size(value: Any) -> int | None:
    """Check the number of rows that stand for all; None: all rows are used."""
    if value is None:
        return None
    words = "None takes all rows, and the default is right for most data"
    return whole(value, "sample_size", words)


def seed(random_state: Any) -> None:
    """Refuse a value that is no seed. Nothing is drawn."""
    try:
        check_random_state(random_state)
    except (ValueError, TypeError):
        raise ValueError(
            f"expected random_state to be a whole number from 0 to {LARGEST_SEED}, a "
            f"numpy.random.RandomState or None, got {_told(random_state)}; the same number gives "
            "the same answer"
        ) from None


def callback(value: Any, called_with: str) -> None:
    """Check a callback. called_with : its arguments, for the message."""
    if value is None or (callable(value) and not isinstance(value, type)):
        return
    raise TypeError(
        f"expected callback to be a function or None, got {_told(value)}; it is called as "
        f"callback({called_with}) after each candidate"
    )


def threads(n_jobs: Any, caller: str) -> None:
    """Check a number of threads as the estimators do."""
    validate_parameter_constraints({"n_jobs": N_JOBS}, {"n_jobs": n_jobs}, caller)


def metric(value: Any, caller: str) -> None:
    """Check a metric as DBSCAN does."""
    if isinstance(value, type):  # a class can be called, and gives no distance
        raise TypeError(
            f"expected metric to be a name or a function of two rows, got the class "
            f"{value.__name__}; 'euclidean' is the default"
        )
    allowed = {"metric": DBSCAN._parameter_constraints["metric"]}
    validate_parameter_constraints(allowed, {"metric": value}, caller)


def one_of(value: Any, name: str, allowed: Iterable[str]) -> None:
    """Check a name against those allowed, of which the first is the default."""
    names = tuple(allowed)
    if not (isinstance(value, str) and value in names):
        raise ValueError(
            f"expected {name} to be one of {', '.join(names)}, got {_told(value)}; "
            f"{names[0]!r} is the default"
        )


def model(value: Any, caller: str) -> None:
    """Refuse anything but an estimator, fitted or not."""
    if isinstance(value, type) or not hasattr(value, "fit"):
        got = f"the class {value.__name__}" if isinstance(value, type) else _told(value)
        raise TypeError(
            f"expected {caller} to get a model, such as KMeans(3).fit(X) or a loaded model, "
            f"got {got}"
        )


def _told(value: Any) -> str:
    """Return a value as a message can show it: in full if it is short."""
    shown = repr(value)
    return shown if len(shown) <= 60 else f"a {type(value).__name__}"
