"""Input of DBSCAN: accepted forms, and errors with expected, actual and remedy."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from support.estimators import assert_same_state, state

from coterie import DBSCAN, DBSCANPath
from coterie.estimators import memory_budget
from estimators.kmeans.test_input import ACCEPTED, REFUSED, ROWS

FOR_MEANS = ("too few rows", "too wild")  # cases that only k-means refuses


@pytest.mark.parametrize("case", [case for case in REFUSED if case not in FOR_MEANS])
@pytest.mark.filterwarnings("ignore:X has feature names")
def test_refused_with_a_reason(case):
    X, kind, words = REFUSED[case]
    X = iter([[1.0]]) if case == "a generator" else X
    with pytest.raises(kind, match=f"(?s){words}"):
        DBSCAN().fit(X)
    model = DBSCAN(2.5, min_samples=2).fit(ROWS)
    X = iter([[1.0]]) if case == "a generator" else X
    with pytest.raises(kind):
        model.predict(X)
    np.testing.assert_array_equal(model.predict(ROWS), model.labels_)


@pytest.mark.parametrize("case", ACCEPTED)
def test_accepted(case):
    expected = DBSCAN(2.5, min_samples=2).fit(ROWS)
    np.testing.assert_array_equal(expected.labels_, [0, 0, 0, 1, 1, 1])
    model = DBSCAN(2.5, min_samples=2).fit(ACCEPTED[case])
    np.testing.assert_array_equal(model.labels_, expected.labels_)
    np.testing.assert_array_equal(model.predict(ACCEPTED[case]), expected.labels_)


def test_wild_values_are_far_away():
    X = np.array([[1e308], [-1e308], [0.0], [1e-308], [2e-308]])
    np.testing.assert_array_equal(DBSCAN(1e-300, min_samples=2).fit_predict(X), [-1, -1, 0, 0, 0])


WRONG = {
    "eps": ({"eps": 0}, "'eps' parameter of DBSCAN must be a float in the range"),
    "infinite eps": ({"eps": np.inf}, "'eps' parameter of DBSCAN must be"),
    "huge eps": ({"eps": 10**400}, "eps=10+.*0: expected a distance, a finite number"),
    "huge min_samples": ({"min_samples": 2**63}, r"an int in the range \[1, 9007199254740992\]"),
    "min_samples": ({"min_samples": 0}, "'min_samples' parameter of DBSCAN must be an int"),
    "metric": ({"metric": "nonsense"}, "'metric' parameter of DBSCAN must be a str among"),
    "gone": ({"metric": "wminkowski"}, "'metric' parameter of DBSCAN must be a str among"),
    "n_jobs": ({"n_jobs": 0}, "'n_jobs' parameter of DBSCAN"),
    "memory": ({"memory_budget": -1}, "'memory_budget' parameter of DBSCAN"),
    "p": ({"metric": "minkowski", "p": 0}, "p=0: expected a power above zero"),
    "parameters": (
        {"metric_params": {"w": 3}},
        r"metric_params=\{'w': 3\}: metric='euclidean' has no parameters. Leave metric_params out",
    ),
    "haversine": ({"metric": "haversine"}, "4 columns.*haversine.*latitude and longitude"),
    "square": ({"metric": "precomputed"}, r"shape \(6, 4\).*expects a square matrix"),
}


@pytest.mark.parametrize("case", WRONG)
def test_parameters_refused_with_a_reason(case):
    parameters, words = WRONG[case]
    with pytest.raises(ValueError, match=words):
        DBSCAN(**parameters).fit(np.c_[ROWS, ROWS])


def test_distances_refused_with_a_reason():
    D = np.array([[0, 1.0], [-2.0, 0]])
    for form in (D, sparse.csr_matrix(D)):
        with pytest.raises(ValueError, match=r"smallest is -2.*row 1, column 0.*zero or more"):
            DBSCAN(metric="precomputed").fit(form)
    with pytest.raises(ValueError, match="1 NaN"):
        DBSCAN(metric="precomputed").fit(np.where(D < 0, np.nan, D))
    model = DBSCAN(metric="precomputed").fit(np.abs(D))
    with pytest.raises(ValueError, match="X has 3 features, but DBSCAN is expecting 2"):
        model.predict(np.ones((2, 3)))


def test_sparse_rows_need_a_metric_that_takes_them():
    X = sparse.csr_matrix(ROWS)
    with pytest.raises(TypeError, match=r"sparse: metric='canberra'.*toarray.*euclidean"):
        DBSCAN(metric="canberra").fit(X)
    np.testing.assert_array_equal(
        DBSCAN(2.5, min_samples=2, metric="chebyshev").fit_predict(X), [0, 0, 0, 1, 1, 1]
    )


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        (np.ones(5), r"shape \(5,\): expected one weight per row of X, shape \(6,\)"),
        ([1, 2, np.nan, 1, 1, 1], r"sample_weight\[2\] is nan.*finite"),
        (np.zeros(6), "sample_weight is zero for every row"),
    ],
)
def test_weights_refused_with_a_reason(weights, words):
    with pytest.raises(ValueError, match=words):
        DBSCAN().fit(ROWS, sample_weight=weights)


def test_memory_is_asked_for_before(monkeypatch):
    X = np.zeros((1000, 50))
    with pytest.raises(
        MemoryError, match=r"about 860 kB of memory beyond X, and 500 kB are allowed by memory_bud"
    ):
        DBSCAN(memory_budget=500_000).fit(X)
    DBSCAN(memory_budget=1_000_000).fit(X)
    monkeypatch.setattr(memory_budget, "SMALL", 0)
    monkeypatch.setattr(memory_budget, "available_memory", lambda: 1e5)
    with pytest.raises(MemoryError, match=r"100 kB are available. Give float32 rows, fewer rows"):
        DBSCAN().fit(X)
    monkeypatch.setattr(memory_budget, "available_memory", lambda: None)  # where nobody knows
    DBSCAN().fit(X)


def test_memory_counts_the_copy_of_given_distances():
    D = np.zeros((300, 300))
    model = DBSCAN(metric="precomputed", memory_budget=500_000)
    with pytest.raises(MemoryError, match=r"about 738 kB .* Give a sparse graph of the distances"):
        model.fit(D)
    model.fit(sparse.csr_array(np.eye(300)))


def test_sizes_in_words():
    sizes = [memory_budget.size(n) for n in (12, 4_300, 1e6, 12.34e9, 4e15)]
    assert sizes == ["12 bytes", "4.3 kB", "1 MB", "12.3 GB", "4e+06 GB"]


def test_memory_of_this_machine(tmp_path, monkeypatch):
    (tmp_path / "meminfo").write_text("MemTotal: 9 kB\nMemAvailable:   5000 kB\n")
    monkeypatch.setattr(memory_budget, "MEMINFO", tmp_path / "meminfo")
    monkeypatch.setattr(memory_budget, "CGROUP", tmp_path)
    assert memory_budget.available_memory() == 5_120_000
    (tmp_path / "memory.current").write_text("900000\n")
    (tmp_path / "memory.stat").write_text("anon 3\ninactive_file 100000\n")
    (tmp_path / "memory.max").write_text("max\n")
    assert memory_budget.available_memory() == 5_120_000
    (tmp_path / "memory.max").write_text("1000000\n")
    assert memory_budget.available_memory() == 200_000
    monkeypatch.setattr(memory_budget, "MEMINFO", tmp_path / "nothing")
    assert memory_budget.available_memory() is None


def test_names_of_columns():
    frame = pd.DataFrame(ROWS, columns=["a", "b"])
    model = DBSCAN(2.5, min_samples=2).fit(frame)
    assert model.feature_names_in_.tolist() == ["a", "b"]
    np.testing.assert_array_equal(model.predict(frame), model.labels_)
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame[["b", "a"]])
    with pytest.raises(ValueError, match=r"column 1 \('b'\)"):
        DBSCAN().fit(frame.where(frame != 4))


def test_events():
    seen = []
    DBSCAN(callback=seen.append).fit(ROWS)
    steps = [event.step for event in seen]
    assert steps == ["check", "index", "count", "connect", "label"]
    seconds = [event.seconds for event in seen]
    assert seconds == sorted(seconds)
    assert seconds[0] >= 0
    seen.clear()
    DBSCAN(callback=seen.append, metric="canberra", trace=True).fit(ROWS)
    assert [event.step for event in seen] == ["check", "count", "connect", "trace"]


def test_options_of_the_last_fit_only():
    model = DBSCAN(2.5, count_neighbors=True, trace=True).fit(ROWS)
    assert hasattr(model, "trace_")
    assert hasattr(model, "n_neighbors_")
    model.set_params(count_neighbors=False, trace=False).fit(ROWS)
    assert not hasattr(model, "trace_")
    assert not hasattr(model, "n_neighbors_")


def test_models_travel():
    model = DBSCAN(2.5, min_samples=2).fit(ROWS)
    copy = pickle.loads(pickle.dumps(model))
    assert_same_state(state(model), vars(copy))
    np.testing.assert_array_equal(copy.predict(ROWS), model.labels_)
    assert clone(model).get_params() == model.get_params()
    assert repr(model) == "DBSCAN(eps=2.5, min_samples=2)"


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64, np.longdouble])
def test_eps_of_any_number_type(kind):
    expected = DBSCAN(2.5, min_samples=2).fit(ROWS)
    model = DBSCAN(kind(2.5), min_samples=2).fit(ROWS)
    np.testing.assert_array_equal(model.labels_, expected.labels_)
    np.testing.assert_array_equal(model.predict(ROWS), expected.labels_)
    path = DBSCANPath(2).fit(ROWS)
    np.testing.assert_array_equal(path.labels(kind(2.5)), expected.labels_)
