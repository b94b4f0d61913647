"""k-means: Algorithm 2 of the paper, its initial means, its survey of the data and its records.

Begin with `lloyd.py`, the only loop. `restarts.py` repeats it, from the initial means that
`seeding.py` finds. `survey.py` looks at the data before the first step. `empty_clusters.py` gives
points to clusters that lost theirs, and `records.py` holds the records of a run. These files ask an
engine for steps of `kernels` and know nothing of users.
"""
