"""What tests of models share."""

from __future__ import annotations

import pytest

from coterie import KMeans
from models.examples import X


@pytest.fixture
def model() -> KMeans:
    return KMeans(3, n_init=2, random_state=0).fit(X)
