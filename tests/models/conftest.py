"""Fixtures for tests of models."""

from __future__ import annotations

import pytest
from support.model_examples import X

from coterie import KMeans


@pytest.fixture
def model() -> KMeans:
    return KMeans(3, n_init=2, random_state=0).fit(X)
