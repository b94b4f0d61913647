"""What people fit: estimators that keep scikit-learn's contract."""

from coterie.estimators.dbscan import DBSCAN, DensityEvent, dbscan
from coterie.estimators.gaussian_mixture import GaussianMixture
from coterie.estimators.kmeans import KMeans
from coterie.estimators.progress import FitEvent
from coterie.estimators.seeds import kmeans_plusplus

__all__ = [
    "DBSCAN",
    "DensityEvent",
    "FitEvent",
    "GaussianMixture",
    "KMeans",
    "dbscan",
    "kmeans_plusplus",
]
