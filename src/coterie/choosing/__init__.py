"""Choices with reasons: the number of clusters, eps, a method, comparisons, and faults of a fit.

`choose_k`, `choose_eps`, `compare` and `silhouettes` stand in the files of their names; `decide.py`
takes a method, `diagnose/` finds faults of a fit. All of them fit and ask the estimators as a user
would, and may use `algorithms` for names. Begin with `k.py`; `sampling.py` is used by all.
"""

from coterie.choosing.compare import ModelComparison, compare
from coterie.choosing.diagnose import Diagnosis, diagnose
from coterie.choosing.eps import EpsChoice, EpsRow, choose_eps
from coterie.choosing.k import KChoice, KRow, choose_k
from coterie.choosing.silhouettes import Silhouettes, silhouettes

__all__ = [
    "Diagnosis",
    "EpsChoice",
    "EpsRow",
    "KChoice",
    "KRow",
    "ModelComparison",
    "Silhouettes",
    "choose_eps",
    "choose_k",
    "compare",
    "diagnose",
    "silhouettes",
]
