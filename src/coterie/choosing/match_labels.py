"""Numbers of clusters that agree from one labelling to the next, so that colours agree too."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment

Labels = NDArray[np.intp]


def matched(labellings: Sequence[ArrayLike]) -> tuple[Labels, ...]:
    """Renumber clusters so that as many rows as possible keep their number in all labellings.

    The first labelling keeps its numbers. The clusters of every other are matched one to one with
    numbers of the labellings before, by an optimal assignment; a cluster without a partner gets a
    new number. Noise stays -1.
    """
    done: list[Labels] = []
    for labelling in labellings:
        labels = np.asarray(labelling, dtype=np.intp)
        done.append(_renumbered(labels, done) if done else labels)
    return tuple(done)


def _renumbered(labels: Labels, before: Sequence[Labels]) -> Labels:
    present = np.unique(labels[labels >= 0])
    used = 1 + max(int(other.max(initial=-1)) for other in before)
    together = np.zeros((len(present), used))
    for other in before:
        both = (labels >= 0) & (other >= 0)
        places = np.searchsorted(present, labels[both])
        np.add.at(together, (places, other[both]), 1.0)
    own, number = linear_sum_assignment(-together)
    new = np.full(len(present), -1, dtype=np.intp)
    meet = together[own, number] > 0
    new[own[meet]] = number[meet]
    alone = np.flatnonzero(new < 0)
    new[alone] = used + np.arange(len(alone))
    found = np.full(len(labels), -1, dtype=np.intp)
    inside = labels >= 0
    found[inside] = new[np.searchsorted(present, labels[inside])]
    return found
