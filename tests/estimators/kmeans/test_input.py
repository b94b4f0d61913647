"""Input of k-means: forms that are accepted, and errors with expected, actual, remedy."""

from __future__ import annotations

import datetime

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from support.estimators import assert_same_fit
from support.kmeans_cases import DRAWN

from coterie import DBSCAN, KMeans

ROWS = np.array([[1.0, 2], [1, 4], [1, 0], [10, 2], [10, 4], [10, 0]])


def with_cell(value):
    cells = ROWS.astype(object)
    cells[2, 1] = value
    return cells


def frame(column):
    return pd.DataFrame({"a": column, "b": np.arange(len(column))})


def csr_with(indices=None, indptr=None):
    matrix = sparse.csr_matrix(np.eye(4))
    if indices is not None:
        matrix.indices[:] = indices
    if indptr is not None:
        matrix.indptr[:] = indptr
    return matrix


TIMES = pd.to_datetime(["2020-01-01", "2021-01-01", None])

REFUSED = {
    "nothing": (None, TypeError, "X is a NoneType: expected a table of numbers.*2-D array"),
    "a word": ("data.csv", TypeError, "X is a str: expected a table"),
    "a generator": (iter([[1.0]]), TypeError, "X is a list_iterator: expected a table"),
    "a dict": ({"a": [1]}, TypeError, "X is a dict: expected a table"),
    "one number": (3.0, ValueError, "Expected 2D array, got scalar.*[Rr]eshape"),
    "one dimension": (ROWS[0], ValueError, "Expected 2D array, got 1D.*[Rr]eshape"),
    "a series": (pd.Series([1.0, 2.0]), ValueError, "2-dimensional container.*DataFrame"),
    "three dimensions": (ROWS[None], ValueError, "dim 3.*<= 2"),
    "ragged": ([[1, 2], [3]], ValueError, "not a table.*same number of values"),
    "no rows": (np.empty((0, 2)), ValueError, r"0 sample\(s\).*minimum of 1"),
    "no columns": (np.empty((3, 0)), ValueError, r"0 feature\(s\).*minimum of 1"),
    "complex": (ROWS + 1j, ValueError, "Complex data not supported"),
    "text": (ROWS.astype(str), ValueError, r"text.*<U.*expected numbers.*astype\(float\)"),
    "bytes": (ROWS.astype("S"), ValueError, "text.*expected numbers"),
    "text in lists": ([["1", "2"], ["3", "4"]], ValueError, "text.*expected numbers"),
    "one word": (with_cell("x"), ValueError, "'x' at row 2, column 1: expected numbers"),
    "text in a frame": (frame(["1", "2", "3"]), ValueError, "'1' at row 0, column 0: expected"),
    "records": (np.zeros(3, dtype=[("a", float)]), ValueError, "records"),
    "times": (ROWS.astype("M8[s]"), ValueError, "datetime64.*expected numbers.*seconds since"),
    "spans": (ROWS.astype("m8[s]"), ValueError, "timedelta64.*expected numbers"),
    "times in a frame": (frame(TIMES), ValueError, "column 'a' of X holds datetime64"),
    "local times": (frame(TIMES.tz_localize("UTC")), ValueError, "column 'a'.*UTC"),
    "one day": (with_cell(datetime.date(2020, 1, 1)), ValueError, "date.*row 2, column 1"),
    "one time": (with_cell(np.datetime64("2020")), ValueError, "datetime64.*row 2, column 1"),
    "too long": (with_cell(10**400), ValueError, "1329 bits at row 2, column 1.*1.8e308"),
    "nan": (
        np.where(ROWS == 4, np.nan, ROWS),
        ValueError,
        "2 NaN and 0 infinity values, the first at row 1, column 1: expected finite.*SimpleImputer",
    ),
    "infinity": (
        np.where(ROWS == 10, -np.inf, ROWS).astype(np.float32),
        ValueError,
        "0 NaN and 3 infinity values, the first at row 3, column 0",
    ),
    "missing in a frame": (
        frame(pd.array([1, None, 3], dtype="Int64")),
        ValueError,
        r"1 NaN.*row 1, column 0 \('a'\)",
    ),
    "sparse nan": (csr_with() * np.nan, ValueError, "4 NaN.*row 0, column 0"),
    "masked": (
        np.ma.masked_equal(ROWS, 4),
        ValueError,
        r"2 masked cell\(s\), the first at row 1, column 1.*SimpleImputer",
    ),
    "index too large": (csr_with(indices=[0, 9, 2, 3]), ValueError, "not a sound CSR.*Build it"),
    "negative index": (csr_with(indices=[0, -1, 2, 3]), ValueError, "not a sound CSR"),
    "broken pointers": (csr_with(indptr=[0, 9, 2, 3, 4]), ValueError, "not a sound CSR"),
    "too many columns": (sparse.csr_matrix((4, 2**33)), ValueError, r"fewer than 2\*\*31"),
    "too few rows": (
        ROWS[:1],
        ValueError,
        "n_samples=1 should be >= n_clusters=2: expected.*got 1.*Use n_clusters=1",
    ),
    "too wild": (
        np.c_[ROWS * 1e-300, np.full(6, 1e300)],
        ValueError,
        "orders of magnitude.*got values from 1e-300 to 1e.300.*[Rr]escale",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_with_a_reason(case):
    X, kind, words = REFUSED[case]
    with pytest.raises(kind, match=f"(?s){words}"):
        KMeans(2).fit(X)


@pytest.mark.parametrize("case", [c for c in REFUSED if c not in ("too few rows", "too wild")])
@pytest.mark.parametrize("method", ["predict", "transform", "score", "partial_fit"])
@pytest.mark.filterwarnings("ignore:X has feature names")
def test_refused_later_too(case, method):
    X, kind, _ = REFUSED[case]
    model = KMeans(2, random_state=0).fit(ROWS)
    with pytest.raises(kind):
        getattr(model, method)(iter([[1.0]]) if case == "a generator" else X)
    np.testing.assert_array_equal(model.predict(ROWS), model.labels_)


def test_another_number_of_columns_or_other_names():
    with pytest.raises(ValueError, match="X has 3 features, but KMeans is expecting 2"):
        KMeans(2).fit(ROWS).predict(np.ones((2, 3)))
    model = KMeans(2).fit(pd.DataFrame(ROWS, columns=["a", "b"]))
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(pd.DataFrame(np.ones((2, 3)), columns=["a", "b", "c"]))
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(pd.DataFrame(ROWS, columns=["b", "a"]))


ACCEPTED = {
    "a list": ROWS.tolist(),
    "a tuple": tuple(map(tuple, ROWS.tolist())),
    "int64": ROWS.astype(np.int64),
    "uint8": ROWS.astype(np.uint8),
    "float16": ROWS.astype(np.float16),
    "float32": ROWS.astype(np.float32),
    "longdouble": ROWS.astype(np.longdouble),
    "big-endian": ROWS.astype(">f8"),
    "objects": ROWS.astype(object),
    "Fortran": np.asfortranarray(ROWS),
    "strided": np.repeat(np.repeat(ROWS, 2, axis=0), 3, axis=1)[::2, ::3],
    "backwards": ROWS[::-1, ::-1].copy()[::-1, ::-1],
    "unaligned": np.frombuffer(b"-" + ROWS.tobytes(), np.uint8)[1:].view(float).reshape(ROWS.shape),
    "unmasked": np.ma.array(ROWS),
    "frame": pd.DataFrame(ROWS),
    "nullable": pd.DataFrame(ROWS).astype("Int64"),
    "csr": sparse.csr_matrix(ROWS),
    "csr array": sparse.csr_array(ROWS),
    "csc": sparse.csc_matrix(ROWS),
    "coo": sparse.coo_matrix(ROWS),
    "dok": sparse.dok_array(ROWS),
    "csr float32": sparse.csr_matrix(ROWS.astype(np.float32)),
    "csr int": sparse.csr_matrix(ROWS.astype(int)),
}


@pytest.mark.parametrize("case", ACCEPTED)
@pytest.mark.parametrize("init", DRAWN)
def test_accepted_with_the_same_bits(case, init):
    X = ACCEPTED[case]
    expected = KMeans(2, init=init, random_state=0).fit(ROWS)
    model = KMeans(2, init=init, random_state=0).fit(X)
    assert_same_fit(model, expected)
    assert model.cluster_centers_.dtype == np.float64
    np.testing.assert_array_equal(model.predict(X), expected.labels_)
    np.testing.assert_array_equal(model.transform(X), expected.transform(ROWS))
    assert model.score(X) == expected.score(ROWS)


def test_truth_values_are_zero_and_one():
    X = np.array([[True, False], [True, True], [False, False]])
    assert_same_fit(KMeans(2, random_state=0).fit(X), KMeans(2, random_state=0).fit(X.astype(int)))


def test_untidy_sparse_is_tidied_in_a_copy():
    dense = np.array([[0, 2.0, 0, 1.0], [3.0, 0, 0, 0], [0, 0, 4.0, 5.0]])
    indices = np.array([3, 1, 1, 0, 3, 2])  # unsorted, and 1 twice
    data = np.array([1.0, 0.5, 1.5, 3.0, 5.0, 4.0])
    untidy = sparse.csr_matrix((data, indices, np.array([0, 3, 4, 6])), shape=(3, 4))
    np.testing.assert_array_equal(untidy.toarray(), dense)
    assert_same_fit(KMeans(2, random_state=0).fit(untidy), KMeans(2, random_state=0).fit(dense))
    np.testing.assert_array_equal(untidy.indices, [3, 1, 1, 0, 3, 2])
    lying = untidy.copy()
    lying.has_sorted_indices = lying.has_canonical_format = True
    assert_same_fit(KMeans(2, random_state=0).fit(lying), KMeans(2, random_state=0).fit(dense))


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize(
    "model",
    [
        KMeans(3, init=np.eye(3, 6), max_iter=5),
        KMeans(3, init=np.eye(3, 6), max_iter=5, metric="cosine"),
        DBSCAN(1.5, min_samples=3, count_neighbors=True),
        DBSCAN(1.5, min_samples=3, count_neighbors=True, memory_budget=4000),  # not as dense rows
        DBSCAN(1.5, min_samples=3, count_neighbors=True, metric="precomputed"),
    ],
    ids=str,
)
def test_indices_written_during_a_fit_do_not_matter(model, index):
    """The kernels read indices without a look at them, so they own those that they read."""
    rng = np.random.default_rng(0)
    rows = 60 if getattr(model, "metric", None) == "precomputed" else 6
    dense = 1.0 + rng.poisson(1, (60, rows)) * (rng.random((60, rows)) < 0.8)
    X = sparse.csr_array(dense)
    X.indices, X.indptr = X.indices.astype(index), X.indptr.astype(index)

    def spoil(event):
        X.indices[:] = 0  # within the shape: a fit that reads them is wrong, and nothing worse
        X.indptr[:] = 0

    expected = clone(model).fit(X.copy())
    found = clone(model).set_params(callback=spoil).fit(X)
    assert not X.indptr.any()
    for name in ("labels_", "cluster_centers_", "core_sample_indices_", "n_neighbors_"):
        if hasattr(expected, name):
            np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
    if hasattr(expected, "components_"):
        assert (found.components_ != expected.components_).nnz == 0


def test_long_indices():
    X = sparse.csr_matrix(ROWS)
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    assert_same_fit(KMeans(2, random_state=0).fit(X), KMeans(2, random_state=0).fit(ROWS))


@pytest.mark.parametrize(
    ("init", "words"),
    [
        (np.eye(3), r"init has shape \(3, 3\): expected.*\(2, 2\)"),
        (np.ones(2), r"init has shape \(2,\): expected"),
        ([[1, 2], [np.nan, 3]], "init contains 1 NaN or infinity values.*row 1, column 0"),
        (lambda X, k, random_state: X[:1], r"callable init returned has shape \(1, 2\)"),
        (lambda X, k, random_state: X[:2] * np.nan, "callable init returned contains 4 NaN"),
        (lambda X, k, random_state: X[:2] + 1e300, "too far from the data"),
    ],
)
def test_unsound_initial_means(init, words):
    with pytest.raises(ValueError, match=words):
        KMeans(2, init=init).fit(ROWS)


def test_too_few_different_points():
    twice = np.repeat(ROWS[:2], 5, axis=0)
    with pytest.raises(ValueError, match=r"3 different points.*only 2 distinct.*n_clusters=2"):
        KMeans(3, init="random").fit(twice)
