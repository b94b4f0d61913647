"""`kmeans_plusplus`: the seeds of a fit, as a function."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from coterie import KMeans, kmeans_plusplus

ROWS = np.random.default_rng(0).normal(size=(300, 4))


def test_the_seeds_are_rows_and_the_indices_say_which():
    centers, indices = kmeans_plusplus(ROWS, 12, random_state=3)
    np.testing.assert_array_equal(centers, ROWS[indices])
    assert len(set(indices.tolist())) == 12


def test_a_fit_starts_from_the_same_seeds():
    centers, _ = kmeans_plusplus(ROWS, 5, random_state=7)
    run = KMeans(5, random_state=7).fit(ROWS).runs_[0]
    np.testing.assert_array_equal(centers, run.initial_means)


def test_repeats_are_weights_and_indices_name_first_rows():
    repeats = np.random.default_rng(1).integers(0, 4, size=len(ROWS))
    weighted, rows = kmeans_plusplus(ROWS, 6, sample_weight=repeats, random_state=0)
    repeated, _ = kmeans_plusplus(ROWS.repeat(repeats, axis=0), 6, random_state=0)
    np.testing.assert_array_equal(weighted, repeated)
    np.testing.assert_array_equal(ROWS[rows], weighted)
    assert (repeats[rows] > 0).all()


def test_fractional_weights_draw_heavy_rows():
    weights = np.where(np.arange(300) < 5, 1.0, 1e-6)
    _, indices = kmeans_plusplus(ROWS, 1, sample_weight=weights, random_state=0)
    assert indices[0] < 5


def test_storage_and_threads_change_nothing():
    centers, indices = kmeans_plusplus(ROWS, 8, random_state=1)
    for X in (csr_matrix(ROWS), np.asfortranarray(ROWS)):
        found, rows = kmeans_plusplus(X, 8, random_state=1, n_jobs=3)
        np.testing.assert_array_equal(found, centers)
        np.testing.assert_array_equal(rows, indices)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("d", [1, 3, 8])
def test_sorted_rows_give_the_seeds_of_any_order(d, weighted):
    rng = np.random.default_rng(d)
    rows = np.rint(rng.normal(size=(3001, d)) * 40 + 100 * rng.integers(0, 5, size=(3001, 1)))
    rows = rows[np.lexsort(rows.T)]
    weights = rng.integers(1, 5, size=len(rows)).astype(float) if weighted else np.ones(len(rows))
    order = rng.permutation(len(rows))
    for k in (5, 40):
        sorted_, _ = kmeans_plusplus(rows, k, sample_weight=weights, random_state=2, n_jobs=2)
        shuffled, _ = kmeans_plusplus(
            rows[order], k, sample_weight=weights[order], random_state=2, n_jobs=1
        )
        np.testing.assert_array_equal(sorted_, shuffled)


def test_seeds_come_back_in_the_units_of_the_data():
    centers, indices = kmeans_plusplus(ROWS * 1e200, 4, random_state=0)
    np.testing.assert_array_equal(centers, (ROWS * 1e200)[indices])


def test_wrong_numbers_are_refused_with_a_remedy():
    with pytest.raises(ValueError, match="n_local_trials=0: expected at least one candidate"):
        kmeans_plusplus(ROWS, 3, n_local_trials=0)
    with pytest.raises(ValueError, match="n_clusters"):
        kmeans_plusplus(ROWS[:2], 3)
