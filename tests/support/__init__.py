"""Cases, helpers and files that tests share, imported as `from support.NAME import ...`.

`kmeans_cases.py`, `mixture_cases.py` and `dbscan_cases.py` draw inputs, also hostile ones;
`estimators.py` and `mixture.py` compare models, and `process.py` watches forks, signals and memory.
Nothing here is a test, and nothing here imports a test.
"""
