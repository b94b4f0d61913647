"""The work of the commands: data read, models fitted, results told and kept.

`fit.py` serves `kmeans`, `mixture` and `dbscan`; begin there. `build.py` makes estimators from
options, `outcome.py` takes one fit from its beginning to its files; the other files have the names
of their commands. This folder uses estimators, `choosing`, `data`, `models` and `plots`, and the
files of `cli` for words and options.
"""
