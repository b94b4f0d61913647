"""Gaussian mixtures: Algorithm 3 of the paper, the families of covariances, records.

Begin with `em.py`, the only loop, and `m_step.py`, its second half. `covariance/` holds the
families, which own all that depends on the form of a covariance; `acceleration.py` needs fewer
sweeps, `collapse.py` names components without spread or points, and `records.py` holds the records
of a run. These files ask an engine for steps of `kernels` and know nothing of users.
"""

from coterie.algorithms.mixture.records import FirstMixture, Mixture, MixtureIteration, MixtureRun

__all__ = ["FirstMixture", "Mixture", "MixtureIteration", "MixtureRun"]
