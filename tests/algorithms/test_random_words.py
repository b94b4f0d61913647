"""Random words never change: a seed gives the same clusters in every release."""

from __future__ import annotations

import numpy as np
import pytest

from coterie.algorithms.random_words import RandomWords, mix, mix_all
from coterie.kernels import reference

# seed, stream, number, word
GOLDEN: list[tuple[int, int, int, int]] = [
    (0, 0, 0, 0x14B976A667272C83),
    (0, 0, 1, 0x087927955A1165BC),
    (0, 1, 0, 0x3DD9503914AF2FBD),
    (0, 2, 0, 0x3BC37BB23DEB08AF),
    (1, 0, 0, 0x41086D20C2728E29),
    (42, 0, 0, 0xA9F1F86B7A2021CC),
    (42, 3, 7, 0x179F0181CB587E50),
    (4294967295, 5, 11, 0xD34CDEB6F27ED232),
    (9223372036854775808, 1, 1, 0xD6F465F97A08B690),
    (18446744073709551615, 1000, 3, 0xB6B2F52274F32F7A),
]


@pytest.mark.parametrize(("seed", "stream", "number", "word"), GOLDEN)
def test_golden_words(seed, stream, number, word):
    assert RandomWords(seed).word(stream, number) == word
    assert reference.word(seed, stream, number) == word


@pytest.mark.parametrize(
    ("z", "mixed"), [(0, 0), (1, 0x5692161D100B05E5), (2**64 - 1, 0xB4D055FCF2CBBD7B)]
)
def test_golden_mix(z, mixed):
    assert mix(z) == mixed
    assert reference.mix(z) == mixed


def test_golden_hashes():
    rows = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [-2.5, 1e300, 5e-324]])
    assert [reference.hash_row(row) for row in rows] == [
        0xE220A8397B1DCDAF,
        0x8D7F80C24F80511E,
        0x63FF98A0294053F3,
        0x3A713A77482D276F,
    ]


def test_words_look_random():
    words = np.array(
        [RandomWords(seed).word(s, t) for seed in range(20) for s in range(20) for t in range(20)],
        dtype=np.uint64,
    )
    assert len(np.unique(words)) == 8000
    ones = np.unpackbits(words.view(np.uint8)).reshape(8000, 64).mean(axis=0)
    assert np.all(np.abs(ones - 0.5) < 0.03)  # more than five standard deviations


def test_arrays_are_mixed_like_numbers():
    words = [0, 1, 2**63, 2**64 - 1, 0x0123456789ABCDEF]
    assert mix_all(np.array(words, dtype=np.uint64)).tolist() == [mix(word) for word in words]
