"""The methods as loops over an engine, each written once and as the paper states it.

Each method has a folder: `kmeans/lloyd.py`, `mixture/em.py` and `dbscan/dbscan.py` are the drivers;
begin with the first. `restarts.py` keeps the best of runs, `stop.py` names the reasons to stop, and
`random_words.py` gives random words by counter. Drivers ask an engine for steps of `kernels`. They
do not know where the data are, how many blocks there are, or that users exist.
"""
