"""The work of the commands: data read, models fitted, results reported and kept.

`fit.py` serves `kmeans`, `mixture` and `dbscan`; begin there. `result.py` takes one fit from its
beginning to its files; the other files have the names of their commands. Each has a function `run`
that takes the request of its command, see `cli/requests.py`. This folder uses estimators,
`choosing`, `data`, `models` and `plots`, and the files of `cli` for words and options.
"""
