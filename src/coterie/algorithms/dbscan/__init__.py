"""DBSCAN: count, core, connect; and the structure that holds its answer for every eps.

Begin with `dbscan.py`, the driver over native indexes. `supplied_neighbours.py` is the same for
neighbourhoods that a caller supplies, `every_eps.py` builds and cuts the structure of DBSCANPath,
and `trace.py` tells how clusters grew. These files use steps of `kernels` and know nothing of
users.
"""
