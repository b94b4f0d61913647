"""Algorithm 2 with pencil and paper: a tie, a cluster without points that gets some, and a cluster
that loses all of its points and gets one back."""

from __future__ import annotations

import numpy as np
import pytest
from support.kmeans_cases import LEVELS, Case, assert_same, definition, errors_of, fit, level

from coterie.algorithms.kmeans.lloyd import Rules
from coterie.kernels import reference

X = np.array([[2.0], [9.0], [4.0], [8.0], [10.0]])
INITIAL = np.array([[8.0], [0.0], [8.0]])

# Iteration 1. 4 lies as far from mean 0 (at 8) as from mean 1 (at 0): the lower index gets it.
#              Means 0 and 2 lie on the same place: the lower index gets all, cluster 2 none.
#              Means become 31/4, 2, and 8 as before. Sum of squares 20.75.
# Iteration 2. 9, 8 and 10 are nearer to 8 than to 7.75: cluster 2 becomes active, 4 joins
#              cluster 1, and nothing is left to cluster 0, which keeps its mean.
#              Means become 7.75 as before, 3, 9. Sum of squares 4.
# Iteration 3. 8 is nearer to 7.75 than to 9: cluster 0 is active again.
#              Means become 8, 3, 9.5. Sum of squares 2.5.
# Iteration 4. No assignment changes.
LABELS = [[1, 0, 0, 0, 0], [1, 2, 1, 2, 2], [1, 2, 1, 0, 2], [1, 2, 1, 0, 2]]
MEANS = [[7.75, 2.0, 8.0], [7.75, 3.0, 9.0], [8.0, 3.0, 9.5], [8.0, 3.0, 9.5]]
ACTIVE = [2, 2, 3, 3]
SQUARES = [20.75, 4.0, 2.5, 2.5]


def test_the_reference():
    answer = reference.k_means(X, INITIAL)
    assert answer.labels.tolist() == LABELS[-1]
    assert answer.means.ravel().tolist() == MEANS[-1]
    assert answer.active.all()
    assert answer.n_iter == 4
    assert answer.inertia == 2.5
    assert answer.clustering_error == 0.5
    assert answer.errors == tuple(s / 5 for s in SQUARES)


@pytest.mark.parametrize("algorithm", ["auto", "brute", "bounds"])
@pytest.mark.parametrize("simd", LEVELS)
def test_every_iteration(algorithm, simd):
    with level(simd):
        run = fit(Case(X, INITIAL), Rules(trace=True, algorithm=algorithm))
    assert_same(run, definition(Case(X, INITIAL)))
    assert run.stopped == "no assignment changed"
    assert errors_of(run) == tuple(s / 5 for s in SQUARES)
    assert [step.active for step in run.history] == ACTIVE
    assert [step.moved for step in run.history] == [5, 4, 1, 0]
    labels = np.full(5, -1)
    for frame, expected in zip(run.trace, LABELS, strict=True):
        labels[frame.rows] = frame.labels
        assert labels.tolist() == expected
    means = [frame.means.ravel().tolist() for frame in run.trace]
    assert means == [INITIAL.ravel().tolist(), *MEANS[:-1]]


@pytest.mark.parametrize("iterations", [1, 2, 3])
def test_stopped_early_the_labels_are_those_of_the_means(iterations):
    run = fit(Case(X, INITIAL), Rules(max_iter=iterations))
    assert run.means.ravel().tolist() == MEANS[iterations - 1]
    assert run.labels.tolist() == LABELS[iterations]
    assert run.n_iter == iterations
    assert not run.converged


def test_an_inactive_cluster_keeps_its_mean_to_the_end():
    run = fit(Case(X, np.array([[5.0], [1e6]])))
    assert run.active.tolist() == [True, False]
    assert run.means.tolist() == [[33 / 5], [1e6]]
    assert run.labels.tolist() == [0] * 5
