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

    what people keep        fitted models in files, without pickle           coterie.models

Each layer imports only downwards.

>>> from coterie import DBSCAN, GaussianMixture, KMeans
"""

import logging
from importlib.metadata import version

from coterie.data import Dataset, read
from coterie.estimators import (
    DBSCAN,
    DensityEvent,
    FitEvent,
    GaussianMixture,
    KMeans,
    dbscan,
    kmeans_plusplus,
)
from coterie.models import Model, ModelError, describe, load, save

logging.getLogger("coterie").addHandler(logging.NullHandler())

__version__ = version("coterie")

__all__ = [
    "DBSCAN",
    "Dataset",
    "DensityEvent",
    "FitEvent",
    "GaussianMixture",
    "KMeans",
    "Model",
    "ModelError",
    "__version__",
    "dbscan",
    "describe",
    "kmeans_plusplus",
    "load",
    "read",
    "save",
]
