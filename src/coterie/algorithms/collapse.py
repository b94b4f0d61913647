"""Components that have collapsed: flat in a direction in which the data are not.

The floor keeps such a component legal, but its likelihood is as high as the floor is low, and says
nothing of the data. A person should know.
"""

from __future__ import annotations

import numpy as np

from coterie.algorithms.covariance import Family
from coterie.algorithms.covariance.floor import Floor
from coterie.algorithms.mixture import Mixture
from coterie.kernels.exact import Floats


def notes_of_collapse(family: Family, mixture: Mixture, floor: Floor) -> list[str]:
    """A sentence for each collapsed component of a mixture in the frame's units."""
    if floor.added or not family.estimated:
        return []
    each = family.each(mixture.covariances)
    live = [c for c in range(len(each)) if family.shared or mixture.weights[c] > 0]
    low = [c for c in live if family.at_floor(each[c], floor)]
    if not low:
        return []
    total = total_covariance(family, mixture)
    flat = [c for c in low if family.flat(each[c], total, floor)]
    if flat and family.shared:
        return [
            "all components have collapsed onto few different points each, and their shared "
            "covariance is held at the least spread: use fewer components or a larger reg_covar"
        ]
    return [
        f"component {c} has collapsed: its points, {mixture.weights[c]:.2g} of all, do not "
        "spread in a direction in which the data do, and it is held at the least spread; "
        "use fewer components, another start or a larger reg_covar"
        for c in flat
    ]


def total_covariance(family: Family, mixture: Mixture) -> Floats:
    """(d, d) covariance of the whole mixture: between the components and within them."""
    from_mean = mixture.means - mixture.weights @ mixture.means
    between = (from_mean * mixture.weights[:, np.newaxis]).T @ from_mean
    within = family.within(mixture.weights, mixture.covariances, mixture.means.shape[1])
    return np.asarray(between + within)
