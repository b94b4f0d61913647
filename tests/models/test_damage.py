"""Files that were damaged: always an error, never another model.

``make flips`` flips ten thousand bits of every kind of model.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from support.model_examples import KINDS, of_kind

from coterie import ModelError, load, save

FLIPS = int(os.environ.get("COTERIE_FLIPS", "300"))  # of every kind


@pytest.mark.parametrize("kind", KINDS)
def test_a_flipped_bit_is_always_an_error(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "m"
    save(of_kind(kind), path)
    whole = path.read_bytes()
    random = np.random.default_rng(0)
    places = np.concatenate([np.arange(64), random.integers(0, len(whole), FLIPS - 64)])
    for place in places:
        damaged = bytearray(whole)
        damaged[place] ^= 1 << int(random.integers(8))
        path.write_bytes(damaged)
        with pytest.raises(ModelError, match="expected"):
            load(path)


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_cut_off_or_grown_is_an_error(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "m"
    save(of_kind(kind), path)
    whole = path.read_bytes()
    random = np.random.default_rng(1)
    for length in {0, 1, 7, 8, 47, 48, len(whole) - 1, *random.integers(0, len(whole), 100)}:
        path.write_bytes(whole[:length])
        with pytest.raises(ModelError, match="expected"):
            load(path)
    path.write_bytes(whole + b"\0")
    with pytest.raises(ModelError, match=r"it should have .* bytes, and has"):
        load(path)
