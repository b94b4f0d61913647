"""Families of covariance matrices: the form of each, and everything that depends on it.

`family.py` lists the questions of a driver to any family; begin there. `matrices.py` and
`variances.py` answer, and `floor.py` is the least spread that all keep. All arithmetic is in
standardized units (see `coterie.kernels.mixture_steps`), where columns are centred and near one in
size; `standardized` and `in_data_units` translate. There full matrices, one for each component,
are packed upper triangles, (k, d (d + 1) / 2): with many columns they take most of the memory.
"""

from __future__ import annotations

from coterie.algorithms.mixture.covariance.family import Family, NotPositiveDefinite
from coterie.algorithms.mixture.covariance.matrices import Full, Tied
from coterie.algorithms.mixture.covariance.variances import Diag, Spherical
from coterie.arrays import Floats

__all__ = [
    "FAMILIES",
    "Diag",
    "Family",
    "Full",
    "NotPositiveDefinite",
    "Spherical",
    "Tied",
    "family_of",
    "fixed",
]

FAMILIES: dict[str, Family] = {
    "full": Full(),
    "tied": Tied(),
    "diag": Diag(),
    "spherical": Spherical(),
}


def fixed(shape_of: str) -> Family:
    """Covariances that are given and stay, in the shape of a family (P15)."""
    return type(FAMILIES[shape_of])(estimated=False)


def family_of(covariance_type: str, covariances: Floats) -> Family:
    """The family of a fitted mixture; that of fixed covariances shows in their shape."""
    if covariance_type != "fixed":
        return FAMILIES[covariance_type]
    return fixed({1: "spherical", 2: "tied", 3: "full"}[covariances.ndim])
