"""Threads of a fit or of a question, from `n_jobs`, the machine and the work."""

from __future__ import annotations

import os

from coterie.kernels import _native

WORK_PER_THREAD = 1 << 16  # products of one pass: less is done before a thread has started
MANY_THREADS = 64, 4  # at most, or so many for each CPU: each takes memory, and few gain more


def effective_threads(n_jobs: int | None, work: int) -> int:
    """Threads for a pass of `work` products. More threads never change an answer.

    A number beyond any use is capped: so many threads would use up the memory.
    """
    try:
        n_cpus = len(os.sched_getaffinity(0))
    except AttributeError:  # not on this system
        n_cpus = os.cpu_count() or 1
    if n_jobs is None:
        wanted = min(n_cpus, _openmp_threads(n_cpus))
    elif n_jobs < 0:
        wanted = max(1, n_cpus + 1 + n_jobs)
    else:
        least, for_each = MANY_THREADS
        wanted = min(n_jobs, max(least, for_each * n_cpus))
    return max(1, min(wanted, 1 + work // WORK_PER_THREAD))


def team_for(n_jobs: int | None, work: int) -> _native.Team:
    """The threads of one fit, or of one question: started once, and handed to all its passes."""
    return _native.Team(effective_threads(n_jobs, work))


def _openmp_threads(n_cpus: int) -> int:
    """Threads that scikit-learn would use: OMP_NUM_THREADS, quotas and threadpoolctl count."""
    try:
        from sklearn.utils._openmp_helpers import _openmp_effective_n_threads
    except ImportError:
        return n_cpus
    return int(_openmp_effective_n_threads())
