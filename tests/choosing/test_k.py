"""choose_k: the right number of groups, a true reason, and clear errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

import coterie
from coterie import KMeans, choose_k
from coterie.choosing.knee import knee
from coterie.data import blobs
from coterie.estimators.mixture.estimator import GaussianMixture


@pytest.mark.parametrize(("k", "d", "seed"), [(2, 2, 0), (3, 5, 1), (4, 2, 2), (6, 8, 3)])
def test_finds_separate_groups(k: int, d: int, seed: int) -> None:
    X, _ = blobs(60 * k, k, d, spread=0.6, seed=seed)
    choice = choose_k(X, 8)
    assert choice.k == k
    assert choice.criterion == "silhouette"
    assert choice.reason.startswith(f"{k} clusters: the mean silhouette")
    assert choice.model is choice.models[k]
    assert choice.model.n_clusters == k
    assert [row.k for row in choice.rows] == list(range(1, 9))


@pytest.mark.parametrize("draw", ["normal", "uniform"])
@pytest.mark.parametrize("d", [2, 6])
def test_finds_no_groups_where_there_are_none(draw: str, d: int) -> None:
    X = getattr(np.random.default_rng(d), draw)(size=(300, d))
    choice = choose_k(X, 5)
    assert choice.k == 1
    assert "nothing speaks for groups" in choice.reason


def test_rows_of_the_table_are_those_of_the_models() -> None:
    X, _ = blobs(200, 3, seed=5)
    choice = choose_k(X, (1, 4))
    for row in choice.rows:
        assert row.error == choice.models[row.k].clustering_error_
        assert row.bic is None
    assert choice.rows[0].explained == 0.0
    assert choice.rows[0].silhouette is None
    assert list(choice.table()) == ["k", "error", "explained", "silhouette", "stability"]
    lines = str(choice).splitlines()
    assert lines[0].split() == list(choice.table())
    assert sum(line.startswith("*") for line in lines) == 1
    assert lines[-1] == choice.reason


def test_mixtures_by_bic() -> None:
    X, _ = blobs(240, 3, spread=0.8, seed=4)
    choice = choose_k(X, 5, method="mixture", n_restarts=2)
    assert choice.k == 3
    assert choice.criterion == "bic"
    assert isinstance(choice.model, GaussianMixture)
    assert [row.bic for row in choice.rows] == [m.bic(X) for m in choice.models.values()]
    assert min(choice.rows, key=lambda row: row.icl or np.inf).k == choice.picks["icl"]
    assert {"bic", "aic", "icl"} <= set(choice.table())


def test_criteria_can_be_chosen() -> None:
    X, _ = blobs(240, 3, spread=0.8, seed=4)
    for criterion in ("knee", "stability", "silhouette"):
        choice = choose_k(X, 6, criterion=criterion)
        assert choice.k == choice.picks[criterion]
        assert choice.criterion == criterion


def test_the_same_seed_gives_the_same_answer() -> None:
    X, _ = blobs(300, 5, spread=3.0, seed=7)
    a, b = (choose_k(X, 4, random_state=3, n_jobs=jobs) for jobs in (1, 2))
    assert a.reason == b.reason
    assert a.table() == b.table()


def test_progress_samples_and_sparse_rows() -> None:
    X, _ = blobs(400, 3, d=4, spread=0.5)
    told: list[tuple[int, int, int]] = []
    choice = choose_k(
        sparse.csr_array(X), [2, 3, 5], sample_size=150, callback=lambda *news: told.append(news)
    )
    assert told == [(1, 3, 2), (2, 3, 3), (3, 3, 5)]
    assert choice.k == 3
    assert choice.sample == 150
    assert "random sample of 150 rows" in choice.reason


def test_few_and_equal_rows() -> None:
    assert choose_k(np.ones((20, 2))).k == 1
    two = choose_k(np.repeat([[0.0, 0.0], [5.0, 5.0]], 20, axis=0))
    assert [row.k for row in two.rows] == [1, 2]
    assert two.k == 2
    only = choose_k(np.ones((4, 1)), [1])
    assert only.reason == "1 cluster: there was no other candidate."


def test_the_edge_is_named() -> None:
    X, _ = blobs(300, 6, spread=0.3, seed=3)
    assert "4 is the largest number tried: try more." in choose_k(X, (2, 4)).reason
    points = np.repeat([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]], 10, axis=0)
    assert "try more" not in choose_k(points).reason  # there are no more than three points


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"k": 0}, "from 1 to 40, the number of rows, got k=0"),
        ({"k": 41}, "got k=41"),
        ({"k": []}, r"got k=\[\]"),
        ({"k": 2.5}, "got k=2.5; pass the largest"),
        ({"method": "dbscan"}, "method to be one of kmeans, mixture, got 'dbscan'"),
        ({"criterion": "bic"}, "criterion to be one of auto, silhouette, knee, stability"),
        ({"n_restarts": 0}, "n_restarts of 1 or more, got 0"),
    ],
)
def test_mistakes_are_named(options: dict[str, Any], message: str) -> None:
    X, _ = blobs(40, 2)
    with pytest.raises(ValueError, match=message):
        choose_k(X, **options)


def test_bad_rows_are_named_as_in_a_fit() -> None:
    with pytest.raises(ValueError, match="NaN") as here:
        choose_k([[1.0, np.nan], [1.0, 2.0]])
    with pytest.raises(ValueError, match="NaN") as there:
        KMeans(2).fit([[1.0, np.nan], [1.0, 2.0]])
    assert str(here.value) == str(there.value)


def test_knee() -> None:
    assert knee([1, 2, 3, 4, 5], [100, 40, 5, 4, 3]) == 2
    assert knee([0, 1, 2, 3, 4], [1, 1.1, 1.2, 1.3, 9]) == 3
    assert knee([1, 2, 3], [3, 2, 1]) is None
    assert knee([1, 2], [3, 1]) is None
    assert knee([1, 2, 3], [1, 1, 1]) is None


def test_names_at_the_top_are_imported_when_asked_for() -> None:
    assert set(coterie.__all__) <= set(dir(coterie))
    for name in coterie.__all__:
        assert getattr(coterie, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'choose_d'"):
        _ = coterie.choose_d


def test_mixtures_of_wide_rows_are_diagonal_and_the_reason_says_so() -> None:
    X, _ = blobs(90, 3, 900, spread=2.0, seed=1)  # full covariances would take many minutes
    choice = choose_k(X, method="mixture", n_restarts=2)
    assert choice.k == 3
    assert choice.model.covariance_type == "diag"
    assert "Covariances are diagonal: full ones of 900 columns would take minutes" in choice.reason
    narrow = choose_k(X[:, :2], 2, method="mixture", n_restarts=1)
    assert narrow.model.covariance_type == "full"
    assert "diagonal" not in narrow.reason
