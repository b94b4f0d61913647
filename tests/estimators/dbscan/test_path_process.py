"""DBSCANPath: messages, interrupts, threads, memory and copies."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from support.process import holds_in_a_fork, interrupted, needs_fork, needs_proc, peak_growth

from coterie import DBSCAN, DBSCANPath, DensityEvent
from coterie.estimators.dbscan.path import fit_bytes
from coterie.kernels import _native

ROWS = np.random.default_rng(0).normal(size=(200, 2))


@pytest.mark.parametrize("eps", [0, -1.0, np.nan, np.inf, 10**400, "0.5", None, True])
def test_eps_must_be_a_distance(eps: Any) -> None:
    path = DBSCANPath().fit(ROWS)
    for ask in (path.labels, path.core):
        with pytest.raises(ValueError, match=r"eps=.*: expected a distance, a finite number above"):
            ask(eps)


@pytest.mark.parametrize(
    ("eps", "words"),
    [
        ("abc", "eps is a str: expected numbers, values of eps"),
        ({0.5: 1}, "eps is a dict: expected"),
        (iter([0.5]), "eps is a list_iterator: expected"),
        (["0.5"], "eps holds <U3 values: expected"),
        ([0.5, None], "eps holds None at position 1: expected"),
        (np.array([1], dtype="m8[s]"), r"eps holds timedelta64\[s\] values"),
        ([0.5, np.nan], "eps=.*nan.*: expected a distance"),
        ([True, False], "eps=.*True.*: expected a distance"),
        ([0.5, 10**400], "eps=1000.*: expected a distance"),
    ],
    ids=str,
)
def test_eps_of_a_curve_must_be_distances(eps: Any, words: str) -> None:
    with pytest.raises((ValueError, TypeError), match=words):
        DBSCANPath().fit(ROWS).curve(eps)


@pytest.fixture
def teams(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The sizes of all teams of threads that start during a test."""
    started: list[int] = []
    make = _native.Team

    def counted(n_threads: int) -> _native.Team:
        started.append(n_threads)
        return make(n_threads)

    monkeypatch.setattr(_native, "Team", counted)
    return started


@pytest.mark.parametrize(
    "estimator",
    [
        DBSCANPath(n_jobs=2),
        DBSCAN(n_jobs=2, trace=True),
        DBSCAN(n_jobs=2, metric="cosine", count_neighbors=True),
    ],
)
def test_a_fit_has_one_team_of_threads(estimator: Any, teams: list[int]) -> None:
    estimator.fit(ROWS)
    assert len(teams) == 1


def test_a_curve_has_one_team_of_threads(teams: list[int]) -> None:
    path = DBSCANPath(n_jobs=2).fit(ROWS)
    teams.clear()
    assert len(path.curve()) > 200
    assert len(teams) == 1


def test_eps_that_squares_cannot_tell() -> None:
    path = DBSCANPath().fit(ROWS)
    with pytest.raises(ValueError, match=r"expected at least .* Use DBSCAN\(eps\)"):
        path.labels(1e-300)
    with pytest.raises(ValueError, match="eps=-1"):
        path.curve([0.5, -1.0])


@pytest.mark.parametrize(
    ("parameters", "X", "message"),
    [
        ({}, np.where(ROWS > 2, np.nan, ROWS), r"NaN .* first at row .* Drop those rows"),
        ({"metric": "cosine"}, ROWS, "'metric' parameter of DBSCANPath must be a str among"),
        ({"min_samples": 0}, ROWS, "'min_samples' parameter of DBSCANPath must be an int"),
        (
            {"min_samples": 2**63},
            ROWS,
            r"an int in the range \[1, 9007199254740992",
        ),
        ({"n_jobs": 0}, ROWS, "'n_jobs' parameter of DBSCANPath"),
    ],
)
def test_wrong_input(parameters: dict[str, Any], X: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        DBSCANPath(**parameters).fit(X)


def test_sparse_rows_are_refused() -> None:
    with pytest.raises(TypeError, match=r"Sparse data was passed.*toarray"):
        DBSCANPath().fit(sparse.csr_array(ROWS))


def test_before_a_fit() -> None:
    for ask in (DBSCANPath().changes, DBSCANPath().curve):
        with pytest.raises(NotFittedError, match="DBSCANPath instance is not fitted"):
            ask()


def test_memory_is_asked_for_before_work_begins() -> None:
    with pytest.raises(
        MemoryError, match=r"DBSCANPath would need about 41.6 kB .* smaller min_samples"
    ):
        DBSCANPath(memory_budget=1000).fit(ROWS)


@needs_proc
@pytest.mark.parametrize(("d", "min_samples"), [(2, 5), (3, 40)])
def test_memory_stays_within_the_estimate(d: int, min_samples: int) -> None:
    X = np.random.default_rng(0).random((100_000, d))
    path = DBSCANPath(min_samples, n_jobs=2)
    assert peak_growth(lambda: path.fit(X)) * 1024 < fit_bytes(*X.shape, min_samples)


@pytest.mark.parametrize("min_samples", [1, 30])
def test_an_interrupted_fit_leaves_the_estimator_as_it_was(min_samples: int) -> None:
    vast = np.random.default_rng(0).random((100_000, 24), dtype=np.float32)
    path = DBSCANPath(min_samples).fit(vast[:300])
    before = path.labels(1.3)
    interrupted(path, vast, after=0.02)
    np.testing.assert_array_equal(path.labels(1.3), before)


@needs_fork
def test_fork_after_fit() -> None:
    X = np.random.default_rng(0).random((20_000, 3))
    path = DBSCANPath(n_jobs=2).fit(X)
    expected = path.labels(0.05)

    def check():
        same = np.array_equal(path.labels(0.05), expected)
        return same and np.array_equal(DBSCANPath(n_jobs=2).fit(X).labels(0.05), expected)

    assert holds_in_a_fork(check)


def test_steps_are_told() -> None:
    events: list[DensityEvent] = []
    DBSCANPath(callback=events.append).fit(ROWS)
    assert [event.step for event in events] == ["check", "index", "nearest", "span"]
    seconds = [event.seconds for event in events]
    assert seconds == sorted(seconds)


def test_models_travel() -> None:
    path = DBSCANPath(3).fit(ROWS)
    copy = pickle.loads(pickle.dumps(path))
    np.testing.assert_array_equal(copy.labels(0.3), path.labels(0.3))
    assert clone(path).get_params() == path.get_params()
    assert repr(path) == "DBSCANPath(min_samples=3)"


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32])
def test_layout_does_not_matter(dtype: Any, order: str) -> None:
    X = (ROWS * 20).round()
    expected = DBSCANPath().fit(X)
    path = DBSCANPath().fit(np.asarray(X, dtype=dtype, order=order))
    np.testing.assert_array_equal(path.changes(), expected.changes())
    np.testing.assert_array_equal(path.labels(3.0), expected.labels(3.0))
