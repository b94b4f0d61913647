"""Toy sets: equal for equal seeds; the two of the paper behave as it says."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from coterie import DBSCAN, KMeans
from coterie.data import blobs, circles, moons, paper_non_convex, paper_round


def recommended(make: Callable[..., Any]) -> DBSCAN:
    """DBSCAN with the parameters that the docstring of a toy set names."""
    found = re.search(r"DBSCAN \(``eps=([\d.]+), min_samples=(\d+)``\)", inspect.getdoc(make) or "")
    assert found, make.__doc__
    return DBSCAN(float(found[1]), min_samples=int(found[2]))


@pytest.mark.parametrize("make", [blobs, moons, circles, paper_round, paper_non_convex])
def test_the_same_seed_gives_the_same_points(make: Callable[..., Any]) -> None:
    X, groups = make(seed=3)
    np.testing.assert_array_equal(X, make(seed=3)[0])
    assert not np.array_equal(X, make(seed=4)[0])
    assert X.shape == (len(groups), 2)


@pytest.mark.parametrize("seed", range(12))
def test_both_methods_find_the_round_groups(seed: int) -> None:
    X, groups = paper_round(seed)
    inside = groups >= 0
    model = KMeans(4, random_state=0, n_init=5).fit(X)
    assert adjusted_rand_score(groups[inside], model.labels_[inside]) == 1.0
    assert adjusted_rand_score(groups, recommended(paper_round).fit_predict(X)) > 0.97


@pytest.mark.parametrize("seed", range(12))
def test_only_density_finds_the_ring(seed: int) -> None:
    X, groups = paper_non_convex(seed)
    inside = groups >= 0
    model = KMeans(2, random_state=0, n_init=5).fit(X)
    assert adjusted_rand_score(groups[inside], model.labels_[inside]) < 0.3
    assert adjusted_rand_score(groups, recommended(paper_non_convex).fit_predict(X)) > 0.97


def test_sizes_and_messages() -> None:
    X, groups = blobs(10, 3, 5)
    assert X.shape == (10, 5)
    assert np.bincount(groups).tolist() == [4, 3, 3]
    with pytest.raises(ValueError, match="got n=2 points and 3 groups"):
        blobs(2, 3)
