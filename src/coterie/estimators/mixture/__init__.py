"""GaussianMixture: parameters, checked rows, starts of runs, results, predictions.

`estimator.py` is the class that people use; begin there. `prepared.py` holds the rows that a fit
works on, `parameters.py` the parts of a mixture that users give, `start.py` the first mixture of a
run, `results.py` the attributes and warnings, and `fitted.py` the answers of a fitted model. The
loop itself is in `algorithms/mixture`. This folder uses the files beside it, KMeans for its starts,
`algorithms`, `engines` and `kernels`.
"""

from coterie.estimators.mixture.estimator import GaussianMixture

__all__ = ["GaussianMixture"]
