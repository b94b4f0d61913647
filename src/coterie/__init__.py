"""Coterie: exact, fast clustering.

An estimator checks its input, a driver runs the paper's loop, an engine carries a kernel to the
blocks of data, and a kernel does the arithmetic on one block::

    what people have        files, arrays, frames, pictures                  coterie.data
            |
    what people fit         KMeans, GaussianMixture (scikit-learn contract)  coterie.estimators
            |
    how, as in the paper    seed -> assign -> update; E -> M                 coterie.algorithms
            |
    where blocks live       in memory, with native threads                   coterie.engines
            |
    arithmetic, one block   a native kernel, and its readable NumPy twin     coterie.kernels

Each layer imports only downwards.

>>> from coterie import GaussianMixture, KMeans
"""

import logging
from importlib.metadata import version

from coterie.estimators import FitEvent, GaussianMixture, KMeans, kmeans_plusplus

logging.getLogger("coterie").addHandler(logging.NullHandler())

__version__ = version("coterie")

__all__ = ["FitEvent", "GaussianMixture", "KMeans", "__version__", "kmeans_plusplus"]
