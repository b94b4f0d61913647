"""Sums of floating-point arrays by pairs (pairwise, or tree, summation) over a fixed tree.

The bits of such a sum do not depend on the order in which its parts arrive.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from coterie.arrays import Floats
from coterie.kernels.block import BrokenContract

Place = tuple[int, int]  # (level, index): node `index` covers leaves index 2^level and following


@dataclass(frozen=True)
class TreeSum:
    """Partial sums over leaves, as nodes of one fixed binary tree over all leaves.

    Leaf i covers the same rows of the whole data in every division into blocks. Two nodes that
    share a parent are added as soon as both are there. So `+` is associative and commutative to
    the last bit, unlike the addition of floating-point numbers.
    """

    nodes: dict[Place, Floats]

    @classmethod
    def of_leaves(cls, leaves: Iterable[tuple[int, Floats]]) -> TreeSum:
        """From the number of each leaf and its values."""
        nodes: dict[Place, Floats] = {}
        for leaf, values in leaves:
            _join(nodes, (0, leaf), values)
        return cls(nodes)

    def __add__(self, other: TreeSum) -> TreeSum:
        nodes = dict(self.nodes)
        for place, values in other.nodes.items():
            _join(nodes, place, values)
        return TreeSum(nodes)

    @property
    def total(self) -> Floats:
        """The sum over all leaves."""
        # The nodes are complete trees of falling size, from the first leaf on. They are added from
        # the last to the first: this order decides the last bits.
        roots = [self.nodes[place] for place in sorted(self.nodes, key=lambda p: p[1] << p[0])]
        total = roots.pop()
        while roots:
            total = roots.pop() + total
        return total


def _join(nodes: dict[Place, Floats], place: Place, values: Floats) -> None:
    """Add a node; two that share a parent become that parent."""
    level, index = place
    _refuse_known_leaves(nodes, index << level, index + 1 << level)
    while (sibling := nodes.pop((level, index ^ 1), None)) is not None:
        values = sibling + values  # a sum of two numbers has the same bits in either order
        level, index = level + 1, index >> 1
    nodes[level, index] = values


def _refuse_known_leaves(nodes: dict[Place, Floats], first: int, end: int) -> None:
    """Refuse leaves that some node covers already: alone, or within a larger sum."""
    for level, index in nodes:
        low, high = max(first, index << level), min(end, index + 1 << level)
        if low < high:
            raise BrokenContract(
                f"the leaves from {low} to {high - 1} were added twice: an engine must add the "
                "answer of every block once"
            )
