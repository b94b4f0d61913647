"""Random words by counter: a word is a function of its seed, stream and number alone.

So the words do not depend on the order of the calls, as in the counter-based generators of Salmon
et al. (2011). Here the function is the finaliser of splitmix64.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

MASK = (1 << 64) - 1


def mix(z: int) -> int:
    """Mix 64 bits: the finaliser of splitmix64 (Steele, Lea and Flood 2014)."""
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def mix_all(z: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Mix each number of an array as `mix` does."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


class RandomWords:
    """Words of 64 random bits of one seed, by stream and by number in the stream."""

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def word(self, stream: int, number: int = 0) -> int:
        z = mix((self.seed + 0x9E3779B97F4A7C15) & MASK)
        z = mix((z + stream * 0xD1B54A32D192ED03) & MASK)
        return mix((z + number * 0x8CB92BA72F3D8DD7 + 0x632BE59BD9B4E019) & MASK)
