"""Components that have collapsed: flat in a direction in which the data are not.

The floor keeps such a component legal, but its likelihood is as high as the floor is low, and says
nothing of the data. A person should know.
"""

from __future__ import annotations

import numpy as np

from coterie.algorithms.covariance import Family
from coterie.algorithms.floor import NEAR, Floor
from coterie.algorithms.mixture import Mixture
from coterie.kernels import triangles
from coterie.kernels.exact import Floats

AT = 2.0  # floors: so small a spread is the floor's, not the data's


def notes_of_collapse(family: Family, mixture: Mixture, floor: Floor) -> list[str]:
    """A sentence for each collapsed component of a mixture in the frame's units."""
    if floor.added or not family.estimated:
        return []
    if family.kind == "tied":
        if not _flat(mixture.covariances, _total(family, mixture), floor):
            return []
        return [
            "all components have collapsed onto few different points each, and their shared "
            "covariance is held at the least spread: use fewer components or a larger reg_covar"
        ]
    total: Floats | None = None
    notes = []
    for c in np.flatnonzero(mixture.weights > 0):
        C = mixture.covariances[c]
        if not _at_floor(family, C, floor):
            continue
        total = _total(family, mixture) if total is None else total
        if family.kind == "full":
            flat = _flat(triangles.symmetric(C), total, floor)
        else:
            least = floor.values if family.kind == "diag" else floor.values.mean()
            spread = np.diagonal(total) if family.kind == "diag" else np.trace(total) / len(total)
            flat = bool(np.any((AT * least >= C) & (spread > NEAR * least)))
        if flat:
            notes.append(
                f"component {c} has collapsed: its points, {mixture.weights[c]:.2g} of all, do not "
                "spread in a direction in which the data do, and it is held at the least spread; "
                "use fewer components, another start or a larger reg_covar"
            )
    return notes


def _at_floor(family: Family, C: Floats, floor: Floor) -> bool:
    if family.kind != "full":
        return bool(np.any(AT * floor.values >= C))
    root = np.sqrt(floor.values)
    test = C / triangles.folded(np.outer(root, root))
    test[triangles.diagonal(len(root))] -= AT
    return not triangles.cholesky(test)


def _flat(C: Floats, total: Floats, floor: Floor) -> bool:
    """Is C at the floor in a direction in which the total is far above it?"""
    unit = np.outer(np.sqrt(floor.values), np.sqrt(floor.values))
    values, vectors = np.linalg.eigh(C / unit)
    spread = np.einsum("ij,ik,kj->j", vectors, total / unit, vectors)
    return bool(np.any((values <= AT) & (spread > NEAR)))


def _total(family: Family, mixture: Mixture) -> Floats:
    """(d, d) covariance of the whole mixture."""
    d = mixture.means.shape[1]
    from_mean = mixture.means - mixture.weights @ mixture.means
    between = (from_mean * mixture.weights[:, np.newaxis]).T @ from_mean
    if family.kind == "full":
        within = mixture.weights @ mixture.covariances
        return np.asarray(between + triangles.symmetric(within))
    if family.kind == "tied":
        return np.asarray(between + mixture.covariances)
    within = mixture.weights @ mixture.covariances
    return np.asarray(between + np.diag(np.broadcast_to(within, d)))
