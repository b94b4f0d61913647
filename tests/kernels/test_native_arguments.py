"""The native module refuses wrong shapes, and results that it could only write to a copy."""

import numpy as np
import pytest

from coterie.kernels import _native

N, D, K = 6, 3, 2
SIZE = D * (D + 1) // 2


@pytest.fixture
def team():
    return _native.Team(1)


@pytest.fixture
def block(team):
    return _native.Block(np.arange(float(N * D)).reshape(N, D), None, team)


def written(team):
    """Calls by name that write to their last array, and the shape of that."""
    matrices, triangles = np.zeros((K, D, D)), np.ones((K, SIZE))
    sums, mass = np.ones((K, 1, D), np.int64), np.ones((K, 1), np.int64)
    top, which = np.zeros(D, np.int32), np.arange(K)
    means, ones = np.ones((K, D)), np.ones(K)
    block = _native.Block(np.zeros((N, D)), None, team)
    return {
        "means_from_sums": (
            lambda out: _native.means_from_sums(team, sums, top, mass, 0, out),
            (K, D),
        ),
        "fold": (lambda out: _native.fold(matrices, out), (K, SIZE)),
        "unfold": (lambda out: _native.unfold(triangles, out, True), (K, D, D)),
        "covariances_about": (
            lambda out: _native.covariances_about(team, triangles, ones, means, means, out),
            (K, SIZE),
        ),
        "cholesky": (lambda out: _native.cholesky(out, D), (SIZE,)),
        "inverse_roots": (
            lambda out: _native.inverse_roots(team, triangles, which, D, out),
            (K, SIZE),
        ),
        "interleave": (lambda out: _native.interleave([np.zeros(N)] * D, out), (N, D)),
        "Lloyd": (
            lambda out: _native.Lloyd(
                block, out, np.zeros(D), np.zeros(D), None, 0, None, 1, "brute"
            ),
            (N,),
        ),
    }


@pytest.mark.parametrize("name", written(_native.Team(1)))
@pytest.mark.parametrize("way", ["other type", "strided", "read-only"])
def test_outputs_that_convert_to_a_copy_are_refused(team, name, way):
    call, shape = written(team)[name]
    fitting = np.ones(shape, np.int32 if name == "Lloyd" else np.float64)
    call(fitting)
    if way == "other type":
        out = fitting.astype(np.float16)
    elif way == "strided":
        out = np.ones((*shape, 2), fitting.dtype)[..., 0]
    else:
        out = fitting.copy()
        out.flags.writeable = False
    with pytest.raises((TypeError, ValueError)):
        call(out)


def wrong_shapes(block, team):
    """Calls with a wrong shape, by the name of the argument."""
    low, top, means = np.zeros(D), np.zeros(D, np.int32), np.zeros((K, D))
    seeding = _native.Seeding(block, low, low, None, 4, 2)
    seeding.start(1.0)
    labels = np.zeros(N, np.int32)
    lloyd = _native.Lloyd(block, labels, low, low, None, 0, None, 1, "brute")
    short, narrow = np.zeros(D - 1), np.zeros((K, D - 1))
    sums, mass = np.ones((K, 1, D), np.int64), np.ones((K, 1), np.int64)
    values, columns = np.ones(2), np.zeros(2, np.int32)

    def sparse(starts, columns=columns):
        return _native.Block(values, columns, np.array(starts), D, None, team)

    return [
        ("direction", lambda: block.projection_range(short)),
        ("means", lambda: block.distances(narrow)),
        ("means", lambda: block.farthest(narrow, labels, 1)),
        ("labels", lambda: block.farthest(means, labels[1:], 1)),
        ("labels", lambda: block.farthest(means, labels + K, 1)),
        ("top", lambda: block.moments(top[1:], 1, None, 0)),
        ("square_top", lambda: block.moments(top, 1, top[1:], 1)),
        ("weights", lambda: _native.Block(means, short[:1], team)),
        ("columns", lambda: sparse([0, 2], columns[1:])),
        ("starts", lambda: sparse([])),
        ("starts", lambda: sparse([0, 3])),
        ("starts", lambda: sparse([1, 2])),
        ("starts", lambda: sparse([0, 2, 1, 2])),
        ("low", lambda: _native.Seeding(block, short, low, None, 4, 2)),
        ("high", lambda: _native.Seeding(block, low, short, None, 4, 2)),
        ("copies", lambda: _native.Seeding(block, low, low, top, 4, 2)),
        ("seed", lambda: seeding.approach(short, 0)),
        ("candidates", lambda: seeding.potentials(narrow, 0)),
        ("seeds", lambda: seeding.refine(narrow)),
        ("labels", lambda: _native.Lloyd(block, labels[1:], low, low, None, 0, None, 1, "brute")),
        ("high", lambda: _native.Lloyd(block, labels, low, short, None, 0, None, 1, "brute")),
        ("top", lambda: _native.Lloyd(block, labels, low, low, top[1:], 1, None, 1, "brute")),
        ("means", lambda: lloyd.step(narrow)),
        ("top", lambda: _native.saving(team, sums, top[1:], mass, 0, means)),
        ("mass", lambda: _native.saving(team, sums, top, mass[1:], 0, means)),
        ("means", lambda: _native.saving(team, sums, top, mass, 0, narrow)),
        ("means", lambda: _native.means_from_sums(team, sums, top, mass, 0, narrow)),
        ("triangle", lambda: _native.cholesky(short, D)),
        ("matrices", lambda: _native.fold(np.zeros((K, D, D + 1)), np.zeros((K, SIZE)))),
        ("triangles", lambda: _native.wider_than(team, narrow, low, 1.0)),
    ]


def test_wrong_shapes_are_refused_by_the_name_of_the_argument(block, team):
    for name, call in wrong_shapes(block, team):
        with pytest.raises(ValueError, match=rf"^{name}: expected"):
            call()


def test_the_message_about_a_shape_shows_both(block):
    with pytest.raises(ValueError, match=r"direction: expected shape \(3,\), got \(2,\)"):
        block.projection_range(np.zeros(2))
    with pytest.raises(ValueError, match=r"means: expected shape \(1, 3\), got \(1, 5\)"):
        block.distances(np.zeros((1, 5)))


def test_rows_of_several_components_need_labels(block):
    centres = np.zeros((K, D))
    mixture = _native.Mixture(
        _native.Team(1), "diag", np.zeros(D), np.ones(D), np.zeros(K), centres, None, None
    )
    with pytest.raises(ValueError, match="expected labels"):
        mixture.sums_of_labels(block, 0, None)


def calls_out_of_order(block):
    """Calls by what they lack."""
    low = np.zeros(D)
    made = _native.Density(block, "euclidean", 2.0, 1.0, "brute", False)
    counted = _native.Density(block, "euclidean", 2.0, 1.0, "brute", False)
    counted.count(2.0, False)
    seeding = _native.Seeding(block, low, low, None, 4, 2)
    reachability = _native.Reachability(block, "euclidean", 1.0, 2)
    return [
        ("count", made.connect),
        ("connect", made.label),
        ("connect", counted.label),
        ("start", lambda: seeding.approach(low, 0)),
        ("start", lambda: seeding.potentials(np.zeros((1, D)), 0)),
        ("start", lambda: seeding.holdings(np.zeros(1, np.int32), 0)),
        ("start", lambda: seeding.draw(1, 0.5)),
        ("nearest", reachability.span),
    ]


def test_calls_out_of_order_are_errors_and_no_crash(block):
    for lacking, call in calls_out_of_order(block):
        with pytest.raises(ValueError, match=rf"expected {lacking}\(\) to be called first"):
            call()


def test_a_step_needs_a_mean(block):
    low = np.zeros(D)
    lloyd = _native.Lloyd(block, np.zeros(N, np.int32), low, low, None, 0, None, 1, "bounds")
    with pytest.raises(ValueError, match="means: expected at least one"):
        lloyd.step(np.zeros((0, D)))


def test_rows_without_columns_and_mixtures_without_components_are_refused(team):
    with pytest.raises(ValueError, match="values: expected rows of at least one column"):
        _native.Block(np.zeros((N, 0)), None, team)
    for k, d in ((0, D), (K, 0)):
        with pytest.raises(ValueError, match="means: expected components and columns"):
            _native.Mixture(
                team, "diag", np.zeros(d), np.ones(d), np.zeros(k), np.zeros((k, d)), None, None
            )
