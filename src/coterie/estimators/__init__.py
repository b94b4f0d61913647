"""Estimators that keep scikit-learn's contract: KMeans, GaussianMixture, DBSCAN, DBSCANPath.

Each method has a folder with its `estimator.py`; begin with `kmeans/estimator.py`. Shared files
stand here: `validation.py` checks input, `prepare.py` makes checked rows ready for a fit,
`units.py` keeps numbers within float64, `fitting.py` brings events and restores an estimator whose
fit failed. Estimators use `algorithms`, `engines` and `kernels`, and nothing that is built upon
them.
"""

from coterie.estimators.dbscan import DBSCAN, DensityEvent, dbscan
from coterie.estimators.dbscan.path import DBSCANPath, PathCurve
from coterie.estimators.fitting import FitEvent
from coterie.estimators.kmeans.estimator import KMeans
from coterie.estimators.kmeans.plusplus import kmeans_plusplus
from coterie.estimators.mixture.estimator import GaussianMixture

__all__ = [
    "DBSCAN",
    "DBSCANPath",
    "DensityEvent",
    "FitEvent",
    "GaussianMixture",
    "KMeans",
    "PathCurve",
    "dbscan",
    "kmeans_plusplus",
]
