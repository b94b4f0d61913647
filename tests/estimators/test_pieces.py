"""Copies in pieces: equal to copies at once, and Ctrl-C is handled between two pieces."""

import signal

import numpy as np
import pytest
from scipy import sparse

from coterie import DBSCAN, GaussianMixture, KMeans
from coterie.estimators import pieces as module
from coterie.estimators.dbscan import pairwise, search
from coterie.estimators.pieces import gaps_filled, picked, pieces, repeated


@pytest.fixture
def small_pieces(monkeypatch):
    monkeypatch.setattr(module, "BYTES_AT_ONCE", 100)


@pytest.mark.parametrize(("n_rows", "row_bytes"), [(0, 8), (1, 8), (25, 8), (26, 33.3), (5, 1000)])
def test_every_row_once_and_in_order(n_rows, row_bytes, small_pieces):
    parts = [np.arange(n_rows)[some] for some in pieces(n_rows, row_bytes)]
    assert np.array_equal(np.concatenate([np.arange(0), *parts]), np.arange(n_rows))
    assert all(0 < len(part) <= max(1, 100 // row_bytes) for part in parts)


@pytest.mark.parametrize("rows", [[], [0], [3, 1, 1, 49], list(range(0, 50, 3))])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_picked_rows_are_those_of_numpy_and_scipy(rows, dtype, small_pieces):
    rng = np.random.default_rng(0)
    X = (rng.random((50, 7)) * (rng.random((50, 7)) < 0.4)).astype(dtype)
    rows = np.array(rows, dtype=np.intp)
    for given in (X, np.asfortranarray(X), X[:, 0]):
        copy = picked(given, rows)
        assert copy.dtype == dtype
        assert np.array_equal(copy, given[rows])
    of_sparse = picked(sparse.csr_array(X), rows)
    assert of_sparse.dtype == dtype
    assert np.array_equal(of_sparse.toarray(), X[rows])
    assert of_sparse.indices.dtype == sparse.csr_array(X).indices.dtype


@pytest.mark.parametrize("counts", [[5], [0, 3, 0, 0, 40, 1, 0], [30, 30]])
def test_repeated_numbers_are_those_of_numpy(counts, small_pieces):
    found = repeated(np.array(counts))
    assert found.dtype == np.int64
    assert np.array_equal(found, np.repeat(np.arange(len(counts)), counts))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_gaps_are_filled_column_by_column(dtype, small_pieces):
    X = np.arange(60, dtype=dtype).reshape(20, 3)
    X[::2, 1] = X[5, 0] = np.nan
    whole = gaps_filled(X, np.array([0.1, 0.2, 0.3]))
    assert whole.dtype == np.float64
    assert np.array_equal(whole, np.where(np.isnan(X), [0.1, 0.2, 0.3], X))
    assert np.isnan(X[5, 0])


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs signals")
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_a_signal_is_handled_between_two_pieces(form, monkeypatch):
    """The handler runs before the copy is whole: each piece notes its rows."""
    copied = []

    def interrupt(number, frame):
        raise KeyboardInterrupt

    def watched(n_rows, row_bytes):
        for some in pieces(n_rows, row_bytes):
            if len(copied) == 3:
                signal.raise_signal(signal.SIGINT)
            copied.append(some)
            yield some

    monkeypatch.setattr(module, "BYTES_AT_ONCE", 100)
    monkeypatch.setattr(module, "pieces", watched)
    before = signal.signal(signal.SIGINT, interrupt)
    try:
        with pytest.raises(KeyboardInterrupt):
            picked(form(np.ones((100, 10))), np.arange(100))
    finally:
        signal.signal(signal.SIGINT, before)
    assert len(copied) == 3


def test_core_points_of_given_distances_are_copied_in_pieces(small_pieces, monkeypatch):
    """components_ can be as large as the matrix."""
    asked = []

    def watched(n_rows, row_bytes):
        asked.append((n_rows, row_bytes))
        return pieces(n_rows, row_bytes)

    monkeypatch.setattr(module, "pieces", watched)
    D = np.abs(np.subtract.outer(np.arange(30.0), np.arange(30.0)))
    for given, row_bytes in ((D, 240), (sparse.csr_array(D), 29 * 12)):
        asked.clear()
        model = DBSCAN(1.0, min_samples=3, metric="precomputed").fit(given)
        assert asked == [(28, row_bytes)]
        assert np.array_equal(model.core_sample_indices_, np.arange(1, 29))


def test_rows_of_weight_zero_are_left_out_in_pieces(monkeypatch):
    asked = []

    def watched(n_rows, row_bytes):
        asked.append(n_rows)
        return pieces(n_rows, row_bytes)

    monkeypatch.setattr(module, "pieces", watched)
    rng = np.random.default_rng(0)
    X, weights = rng.random((50, 3)), np.repeat([0.0, 2.0], [20, 30])
    KMeans(2, random_state=0).fit(X, sample_weight=weights)
    GaussianMixture(2, random_state=0).fit(X, sample_weight=weights)
    assert asked == [30, 20, 30]


def test_degrees_of_k_means_are_written_in_pieces(small_pieces, monkeypatch):
    asked = []

    def watched(n_rows, row_bytes):
        asked.append((n_rows, row_bytes))
        return pieces(n_rows, row_bytes)

    monkeypatch.setattr(module, "pieces", watched)
    X = np.arange(30.0)[:, np.newaxis]
    model = KMeans(3, init=X[[0, 10, 20]], n_init=1).fit(X)
    asked.clear()
    degrees = model.degrees()
    assert asked == [(30, 24)]
    np.testing.assert_array_equal(degrees, model.labels_[:, np.newaxis] == np.arange(3))


def test_a_graph_of_distances_is_read_in_pieces(small_pieces, monkeypatch):
    rng = np.random.default_rng(0)
    D = sparse.random_array((60, 60), density=0.2, rng=rng, format="csr")
    D = (D + D.T).tocsr()
    whole = np.where(D.toarray() > 0, D.toarray(), np.inf)
    np.fill_diagonal(whole, 0)
    asked = []

    def watched(n_rows, row_bytes):
        asked.append(len(list(pieces(n_rows, row_bytes))))
        return pieces(n_rows, row_bytes)

    monkeypatch.setattr(pairwise, "pieces", watched)
    expected = DBSCAN(0.5, min_samples=6).set_params(
        metric=lambda x, y: whole[int(x[0]), int(y[0])]
    )
    expected.fit(np.arange(60.0)[:, np.newaxis])
    model = DBSCAN(0.5, min_samples=6, metric="precomputed", count_neighbors=True).fit(D)
    np.testing.assert_array_equal(model.labels_, expected.labels_)
    np.testing.assert_array_equal(model.n_neighbors_, (whole <= 0.5).sum(axis=1))
    assert 0 < len(model.core_sample_indices_) < 60
    np.testing.assert_array_equal(model.predict(D)[model.kind_ < 2], model.labels_[model.kind_ < 2])
    assert asked == [60, 60]  # a piece for each row


def test_sparse_rows_become_dense_in_pieces(small_pieces, monkeypatch):
    asked = []

    def watched(n_rows, row_bytes):
        asked.append((n_rows, row_bytes))
        return pieces(n_rows, row_bytes)

    monkeypatch.setattr(search, "pieces", watched)
    rng = np.random.default_rng(0)
    X = sparse.random_array((40, 3), density=0.4, rng=rng, format="csr", dtype=np.float64)
    np.testing.assert_array_equal(search.dense(X), X.toarray())
    assert asked == [(40, 24)]
