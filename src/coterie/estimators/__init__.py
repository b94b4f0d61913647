"""What people fit: estimators that keep scikit-learn's contract."""

from coterie.estimators.dbscan.estimator import DBSCAN, DensityEvent, dbscan
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
