"""Coterie: exact, fast clustering.

An estimator checks its input, a driver runs the paper's loop, an engine carries a kernel to the
blocks of data, and a kernel does the arithmetic on one block::

    what people have        files of every kind, as rows                     coterie.data
            |
    what people fit         KMeans, GaussianMixture, DBSCAN (scikit-learn)   coterie.estimators
            |
    how, as in the paper    assign -> update; E -> M; count -> connect       coterie.algorithms
            |
    where blocks live       in memory, with native threads                   coterie.engines
            |
    arithmetic, one block   a native kernel, and its readable NumPy twin     coterie.kernels

    what people decide      how many clusters, how near, what went wrong     coterie.choosing
    what people keep        fitted models in files, without pickle           coterie.models
    what people look at     figures and moving pictures of results           coterie.plots
    what people type        commands, from a file to clusters and a model    coterie.cli

Each layer imports only downwards.

>>> from coterie import DBSCAN, GaussianMixture, KMeans
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from coterie.old_modules import let_old_names_be_imported

if TYPE_CHECKING:
    from coterie.choosing import choose_eps, choose_k, compare, diagnose
    from coterie.data import Dataset, read
    from coterie.estimators import (
        DBSCAN,
        DBSCANPath,
        DensityEvent,
        FitEvent,
        GaussianMixture,
        KMeans,
        PathCurve,
        dbscan,
        kmeans_plusplus,
    )
    from coterie.models import Model, ModelError, describe, load, save
    from coterie.plots import animate

    __version__: str

__all__ = [
    "DBSCAN",
    "DBSCANPath",
    "Dataset",
    "DensityEvent",
    "FitEvent",
    "GaussianMixture",
    "KMeans",
    "Model",
    "ModelError",
    "PathCurve",
    "__version__",
    "animate",
    "choose_eps",
    "choose_k",
    "compare",
    "dbscan",
    "describe",
    "diagnose",
    "kmeans_plusplus",
    "load",
    "read",
    "save",
]

# Nothing is imported before its name is used, so that `import coterie` takes no time: NumPy, SciPy
# and scikit-learn come with the first estimator, matplotlib with the first plot.
_HOMES = {
    "coterie.choosing": ("choose_eps", "choose_k", "compare", "diagnose"),
    "coterie.data": ("Dataset", "read"),
    "coterie.estimators": (
        "DBSCAN",
        "DBSCANPath",
        "DensityEvent",
        "FitEvent",
        "GaussianMixture",
        "KMeans",
        "PathCurve",
        "dbscan",
        "kmeans_plusplus",
    ),
    "coterie.models": ("Model", "ModelError", "describe", "load", "save"),
    "coterie.plots": ("animate",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

let_old_names_be_imported()


def __getattr__(name: str) -> Any:
    if name == "__version__":
        found: Any = import_module("importlib.metadata").version("coterie")
    elif name in _HOME_OF:
        found = getattr(import_module(_HOME_OF[name]), name)
    elif f"coterie.{name}" in _HOMES:
        return import_module(f"coterie.{name}")
    else:
        raise AttributeError(f"module 'coterie' has no attribute {name!r}")
    globals()[name] = found  # the next use does not come here
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *(home.removeprefix("coterie.") for home in _HOMES)})
