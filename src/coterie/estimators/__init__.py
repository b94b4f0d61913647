"""What people fit: estimators that keep scikit-learn's contract."""

from coterie.estimators.gaussian_mixture import GaussianMixture
from coterie.estimators.kmeans import KMeans
from coterie.estimators.progress import FitEvent
from coterie.estimators.seeds import kmeans_plusplus

__all__ = ["FitEvent", "GaussianMixture", "KMeans", "kmeans_plusplus"]
