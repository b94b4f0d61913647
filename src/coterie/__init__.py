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

Each layer imports only downwards.

>>> from coterie import DBSCAN, GaussianMixture, KMeans
"""

import logging
from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

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

if TYPE_CHECKING:
    from coterie.choosing import choose_eps, choose_k, compare, diagnose
    from coterie.plots import animate

logging.getLogger("coterie").addHandler(logging.NullHandler())

__version__ = version("coterie")

# Imported when first asked for: these need more of SciPy, scikit-learn and matplotlib.
_LATER = {
    "animate": "coterie.plots",
    "choose_eps": "coterie.choosing",
    "choose_k": "coterie.choosing",
    "compare": "coterie.choosing",
    "diagnose": "coterie.choosing",
}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'coterie' has no attribute {name!r}")
    return getattr(import_module(_LATER[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_LATER])


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
