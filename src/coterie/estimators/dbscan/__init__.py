"""DBSCAN, DBSCANPath and `dbscan`: metrics, units, the choice of a search, results.

`estimator.py` and `path.py` are the classes that people use; begin there. `search.py` chooses
between native indexes and neighbourhoods that are found some rows at a time, and `predict.py`
labels new rows. `pairwise.py`, `sparse_pairs.py` and `callable_metric.py` find such neighbourhoods.
`metrics.py` names the distances, and `units.py` keeps their squares within float64. The drivers are
in `algorithms/dbscan`. This folder uses the files beside it, `algorithms` and `kernels`.
"""

from coterie.estimators.dbscan.estimator import DBSCAN
from coterie.estimators.dbscan.events import DensityEvent
from coterie.estimators.dbscan.function import dbscan

__all__ = ["DBSCAN", "DensityEvent", "dbscan"]
