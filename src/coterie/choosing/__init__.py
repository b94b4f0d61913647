"""What people decide: how many clusters, how near is near, which model, and what went wrong."""

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
