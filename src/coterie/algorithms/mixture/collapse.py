"""Notes on components that have collapsed, or that have lost all their points.

A collapsed component is flat in a direction in which the data are not. The floor keeps it legal,
but its likelihood is as high as the floor is low and says nothing of the data. So people are told.
"""

from __future__ import annotations

from collections.abc import Collection

from coterie.algorithms.mixture.covariance import Family
from coterie.algorithms.mixture.covariance.floor import Floor
from coterie.algorithms.mixture.records import Mixture

NAMED = 5  # components at most, in one sentence


def named(components: Collection[int]) -> str:
    """Components by number: "component 3", or "components 0, 1, 2, 3, 4 and 17 others"."""
    words = [str(c) for c in components]
    if len(words) == 1:
        return f"component {words[0]}"
    if len(words) > NAMED + 1:
        words[NAMED:] = [f"{len(words) - NAMED} others"]
    return f"components {', '.join(words[:-1])} and {words[-1]}"


def notes_of_loss(empty: Collection[int], *, weights_stay: bool) -> list[str]:
    """A sentence on components to which no row belongs any more."""
    if not empty:
        return []
    fate = "has lost all its points and keeps its place"
    if len(empty) > 1:
        fate = "have lost all their points and keep their places"
    if weights_stay:
        return [f"{named(empty)} {fate}, with the weight that is fixed: use another start"]
    return [f"{named(empty)} {fate} with weight 0: use fewer components or another start"]


def notes_of_collapse(family: Family, mixture: Mixture, floor: Floor) -> list[str]:
    """A sentence on the collapsed components of a mixture in standardized units."""
    if floor.added or not family.estimated:
        return []
    each = family.each(mixture.covariances)
    with_rows = [c for c in range(len(each)) if family.shared or mixture.weights[c] > 0]
    low = [c for c in with_rows if family.at_floor(each[c], floor)]
    if not low:
        return []
    total = family.total_covariance(mixture.weights, mixture.means, mixture.covariances)
    collapsed = [c for c in low if family.collapsed(each[c], total, floor)]
    if not collapsed:
        return []
    if family.shared:
        return [
            "all components have collapsed onto few different points each, and their shared "
            "covariance is held at the least spread: use fewer components or a larger reg_covar"
        ]
    share = f"{mixture.weights[collapsed].sum():.2g} of all"
    if len(collapsed) == 1:
        fault = f"has collapsed: its points, {share}, do not spread"
        held = "it is held"
    else:
        fault = f"have collapsed: the points of each, together {share}, do not spread"
        held = "they are held"
    return [
        f"{named(collapsed)} {fault} in a direction in which the data do, and {held} at the least "
        "spread; use fewer components, another start or a larger reg_covar"
    ]
