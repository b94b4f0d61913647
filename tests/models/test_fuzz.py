"""Forged files at random: load refuses, or the model answers as others do; nothing else happens.

``make flips`` tries thousands of every kind of model.
"""

from __future__ import annotations

import os
import warnings
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from support.forging import forged, random_change
from support.model_examples import KINDS, answers, fitted

from coterie import Model, ModelError, load

TRIES = int(os.environ.get("COTERIE_FLIPS", "300")) // 6  # of every kind
LEAST_REFUSED = 0.2


@pytest.mark.parametrize("kind", KINDS)
def test_a_forged_model_is_refused_or_answers(tmp_path: Path, kind: str) -> None:
    model, rows = fitted(kind)
    refused = 0
    for seed in range(TRIES):
        path = forged(Model(model), tmp_path / "m", random_change(np.random.default_rng(seed)))
        try:
            loaded = load(path)
        except ModelError:
            refused += 1
            continue
        with warnings.catch_warnings(), suppress(ValueError):  # which users get in words
            warnings.simplefilter("ignore")  # values may be far apart
            answers(getattr(loaded, "estimator", loaded), rows)
    assert refused > LEAST_REFUSED * TRIES
