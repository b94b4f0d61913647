"""The runs of a fit: their common seed, and warnings if some of them were not made."""

from __future__ import annotations

import warnings
from typing import Any

from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from coterie.algorithms.restarts import Restarts
from coterie.algorithms.stop import StopReason

TO_THE_CALLER = 5  # frames from a warning about a fit to the line that called `fit`


def base_seed(random_state: Any) -> int:
    """Seed of a fit, from which the seeds of its runs follow."""
    return int(check_random_state(random_state).randint(2**31 - 1))


def warn_of_missing_runs(found: Restarts[Any, Any], max_seconds: float | None) -> None:
    """Warn of a fit that could not make all its runs, or not the last to its end."""
    converged = "had" if found.best.converged else "had not"
    if found.cut_short is StopReason.MAX_SECONDS:
        warnings.warn(
            f"max_seconds={max_seconds:g} reached after {len(found.records)} of {found.planned} "
            f"runs, the last of them {found.records[-1].n_iter} iterations long; the best so far "
            f"is kept, which {converged} converged. Give more seconds, fewer runs (n_init) or a "
            "larger tol.",
            ConvergenceWarning,
            stacklevel=TO_THE_CALLER + 1,
        )
    if found.cut_short is StopReason.INTERRUPTED:
        warnings.warn(
            f"Interrupted with {len(found.records)} of {found.planned} runs made: the best so far "
            f"is kept, which {converged} converged. Fit again with warm_start=True to continue "
            "from it.",
            ConvergenceWarning,
            stacklevel=TO_THE_CALLER + 1,
        )
