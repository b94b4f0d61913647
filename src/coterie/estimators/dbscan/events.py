"""Events of a fit, for ``callback``."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class DensityEvent:
    """The end of a step of a fit, for ``callback``."""

    step: str  # "check", "index", "count", "connect", "label" or "trace"
    seconds: float  # since the fit began


def teller(callback: Callable[[DensityEvent], object] | None) -> Callable[[str], None]:
    """A function that tells the callback the name of a step, with the seconds since now."""
    began = time.perf_counter()

    def tell(step: str) -> None:
        if callback is not None:
            callback(DensityEvent(step, time.perf_counter() - began))

    return tell
