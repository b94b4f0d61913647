"""What people fit: estimators that keep scikit-learn's contract."""

from coterie.estimators.kmeans import KMeans
from coterie.estimators.progress import FitEvent

__all__ = ["FitEvent", "KMeans"]
