"""KMeans and `kmeans_plusplus`: parameters, checked rows, several runs, results, predictions.

`estimator.py` is the class that people use; begin there. `prepared.py` holds the rows that a fit
works on, `initial_means.py` the starts of its runs, `results.py` the attributes and warnings, and
`fitted.py` the answers of a fitted model. The loop itself is in `algorithms/kmeans`. This folder
uses the files beside it, `algorithms`, `engines` and `kernels`; it does not use other methods.
"""

from coterie.estimators.kmeans.estimator import KMeans

__all__ = ["KMeans"]
