"""Packed triangles of matrices: storage, Cholesky factors, inverse roots and bounds."""

from __future__ import annotations

import numpy as np
import pytest
from support.kmeans_cases import LEVELS, level

from coterie.kernels import _native, triangles


@pytest.mark.parametrize("d", [1, 2, 3, 8, 33])
def test_packed_matrices_unpack_to_the_same(d: int) -> None:
    A = np.random.default_rng(d).normal(size=(3, d, d))
    A = A + A.transpose(0, 2, 1)
    packed = triangles.packed(A)
    rows, columns = np.triu_indices(d)
    assert np.array_equal(packed, A[:, rows, columns])
    assert triangles.columns(packed) == d
    assert np.array_equal(triangles.symmetric(packed), A)
    assert np.array_equal(triangles.upper(packed), np.triu(A))
    assert np.array_equal(triangles.diagonals(packed), np.diagonal(A, axis1=1, axis2=2))


@pytest.mark.parametrize("d", [1, 2, 3, 8])
def test_one_matrix_is_as_one_of_many(d: int) -> None:
    A = np.random.default_rng(d).normal(size=(3, d, d))
    many = triangles.packed(A)
    one = triangles.packed(A[1])
    assert one.shape == (triangles.size(d),)
    assert np.array_equal(one, many[1])
    assert triangles.columns(one) == d
    for whole in (triangles.symmetric, triangles.upper, triangles.diagonals):
        assert np.array_equal(whole(one), whole(many)[1])


def test_shapes_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="triangles"):
        _native.fold(np.zeros((2, 3, 3)), np.zeros((2, 5)))
    with pytest.raises(ValueError, match="triangles"):
        _native.unfold(np.zeros((2, 5)), np.zeros((2, 3, 3)), True)


@pytest.mark.parametrize("simd", LEVELS)
@pytest.mark.parametrize("d", [1, 2, 3, 4, 5, 7, 8, 12, 13, 64, 101])
def test_roots_and_inverse_roots(d: int, simd: str) -> None:
    A = np.random.default_rng(d).normal(size=(d, 2 * d + 3))
    C = A @ A.T
    with level(simd):
        R, U = triangles.packed(C), triangles.packed(C)
        assert triangles.cholesky(R)
        assert triangles.inverse_root(U)
        flat = triangles.packed(C - 2 * np.eye(d) * np.linalg.eigvalsh(C)[0])
        assert not triangles.cholesky(flat)
        for wrong in (0.0, -1.0, np.nan, np.inf):
            spoilt = triangles.packed(C)
            spoilt[-1] = wrong  # the last pivot
            assert not triangles.inverse_root(spoilt)
    R, U = triangles.upper(R), triangles.upper(U)
    size = np.abs(C).max()
    np.testing.assert_allclose(R.T @ R, C, rtol=0, atol=1e-13 * size)
    np.testing.assert_allclose(R @ U, np.eye(d), rtol=0, atol=1e-11)
    np.testing.assert_allclose(U @ U.T @ C, np.eye(d), rtol=0, atol=1e-10)


@pytest.mark.parametrize("n_threads", [1, 3])
def test_inverse_roots_of_some_of_many(n_threads: int) -> None:
    A = np.random.default_rng(0).normal(size=(9, 5, 13))
    many, team = triangles.packed(A @ A.transpose(0, 2, 1)), _native.Team(n_threads)
    found = many.copy()
    assert triangles.inverse_roots(found, [0, 2, 5, 8], found, team) is None
    for c in range(9):
        one = many[c].copy()
        if c in (0, 2, 5, 8):
            assert triangles.inverse_root(one)
        assert np.array_equal(found[c], one)
    flat = many.copy()
    flat[[3, 7]] = 0.0
    assert triangles.inverse_roots(flat, [1, 7, 3], flat, team) == 7
    for wrong in ([9], [-1]):
        with pytest.raises(ValueError, match="triangles"):
            triangles.inverse_roots(many, wrong, many, team)


@pytest.mark.parametrize("n_threads", [1, 3])
@pytest.mark.parametrize("d", [1, 2, 5, 16, 150])
def test_covariances_about_another_centre_and_reach(d: int, n_threads: int) -> None:
    rng = np.random.default_rng(d)
    z, r, shift = rng.normal(size=(50, d)), rng.uniform(size=(50, 4)), rng.normal(size=(4, d))
    second = np.array([triangles.packed((z * one[:, None]).T @ z) for one in r.T])
    team = _native.Team(n_threads)
    found = np.empty_like(second)
    triangles.covariances_about(second, r.sum(axis=0), r.T @ z, shift, found, team)
    for c, one in enumerate(r.T):
        moved = z - shift[c]
        wanted = (moved * one[:, None]).T @ moved / one.sum()
        np.testing.assert_allclose(found[c], triangles.packed(wanted), rtol=1e-12, atol=1e-12)
    with pytest.raises(ValueError, match="shift: expected shape"):
        triangles.covariances_about(second, r.sum(axis=0), r.T @ z, shift[:3], found, team)
    triangles.covariances_about(second, r.sum(axis=0), r.T @ z, shift, second, team)
    assert np.array_equal(second, found)
    U = np.triu(rng.normal(size=(3, d, d)))
    v = rng.normal(size=(3, d))
    reach = triangles.largest_reach(triangles.packed(U), v)
    assert reach == pytest.approx(np.einsum("ki,kij->kj", abs(v), abs(U)).max(), rel=1e-13)


@pytest.mark.parametrize("n_threads", [1, 3])
@pytest.mark.parametrize("d", [1, 3, 60])
def test_spread_in_every_direction_is_compared_with_a_bound(d: int, n_threads: int) -> None:
    rng = np.random.default_rng(d)
    Q = np.linalg.qr(rng.normal(size=(d, d)))[0]
    root = rng.uniform(1e-6, 1e3, size=d)
    least = np.array([0.5, 0.999, 1.001, 7.0, np.nan])
    C = (Q * np.append(np.full(d - 1, 50.0), 1.0)) @ Q.T
    many = np.array([triangles.packed(C * one * np.outer(root, root)) for one in least])
    found = triangles.wider_than(many, root, 1.0, _native.Team(n_threads))
    assert found == [False, False, True, True, False]
    with pytest.raises(ValueError, match="triangles"):
        triangles.wider_than(many, root[1:], 1.0)
