"""Gaussian mixtures: Algorithm 3 of the paper, line by line, in long double.

The paper's words are kept: data points x, degrees of belonging y, effective cluster sizes m_c,
cluster probabilities p, means m, covariance matrices C. Every family keeps whole matrices here;
a family only says which matrices are allowed.

Cells that are NaN are missing. A row then counts by its observed coordinates, the marginal of the
mixture. The M step uses the conditional expectations of the others. With all cells present these
are the printed formulas.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Wide = NDArray[np.longdouble]


@dataclass(frozen=True)
class Mixture:
    """Parameters of a mixture of k Gaussians."""

    weights: Wide  # (k,) cluster probabilities p_c
    means: Wide  # (k, d)
    covariances: Wide  # (k, d, d)

    @classmethod
    def of(cls, weights: ArrayLike, means: ArrayLike, covariances: ArrayLike) -> Mixture:
        """Covariances in any family's shape: (k, d, d), (d, d), (k, d), (k,) or a number."""
        m = wide(means)
        return cls(wide(weights), m, as_matrices(covariances, *m.shape))


@dataclass(frozen=True)
class SoftAnswer:
    """The result of a run of EM."""

    mixture: Mixture
    degrees: Wide  # (n, k) of the mixture that is returned
    errors: tuple[np.longdouble, ...]  # soft clustering error before each M step, and at the end


def wide(values: ArrayLike) -> Wide:
    return np.asarray(values, dtype=np.longdouble)


def as_matrices(covariances: ArrayLike, k: int, d: int) -> Wide:
    """(k, d, d) from a family's shape.

    Where k = d, (k, d) is read as variances; give a tied covariance as (1, d, d) there.
    """
    c = wide(covariances)
    if c.ndim == 3:
        return np.broadcast_to(c, (k, d, d)).copy()
    if c.shape == (k, d):
        return c[:, :, np.newaxis] * np.eye(d, dtype=np.longdouble)
    if c.shape == (d, d):
        return np.broadcast_to(c, (k, d, d)).copy()
    return np.broadcast_to(c, (k,))[:, np.newaxis, np.newaxis] * np.eye(d, dtype=np.longdouble)


def in_family(matrices: Wide, family: str) -> Wide:
    """The shape in which a family shows its covariances."""
    if family == "tied":
        return np.asarray(matrices[0])
    if family == "diag":
        return np.asarray(np.diagonal(matrices, axis1=1, axis2=2))
    if family == "spherical":
        return np.asarray(matrices[:, 0, 0])
    return matrices


def cholesky(C: Wide) -> Wide:
    """The Cholesky factor, lower L with L L' = C. NumPy's own has no long double."""
    L = np.zeros_like(C)
    for j in range(len(C)):
        pivot = C[j, j] - L[j, :j] @ L[j, :j]
        if not pivot > 0:
            raise ValueError(f"not positive definite: pivot {j} is {pivot}")
        L[j, j] = np.sqrt(pivot)
        L[j + 1 :, j] = (C[j + 1 :, j] - L[j + 1 :, :j] @ L[j, :j]) / L[j, j]
    return L


def solve_lower(L: Wide, B: Wide) -> Wide:
    """Z with L Z = B, by forward substitution. B : (d, n)"""
    Z = np.zeros_like(B)
    for j in range(len(L)):
        Z[j] = (B[j] - L[j, :j] @ Z[:j]) / L[j, j]
    return Z


def log_normal(X: Wide, m: Wide, C: Wide) -> Wide:
    """(n,) log N(x; m, C) = -1/2 (log det{2 pi C} + (x - m)' C^-1 (x - m))"""
    L = cholesky(C)
    z = solve_lower(L, (X - m).T)
    pi = np.longdouble("3.14159265358979323846264338327950288")
    log_det = len(C) * np.log(2 * pi) + 2 * np.log(np.diagonal(L)).sum()
    density: Wide = -(log_det + (z * z).sum(axis=0)) / 2
    return density


def log_joint(X: Wide, mixture: Mixture) -> Wide:
    """(n, k) log p_c N(x; m_c, C_c), over the observed coordinates of each row."""
    joint = np.empty((len(X), len(mixture.means)), dtype=np.longdouble)
    with np.errstate(divide="ignore"):  # a cluster of probability zero
        log_p = np.log(mixture.weights)
    for rows, observed in patterns(X):
        for c, (m, C) in enumerate(zip(mixture.means, mixture.covariances, strict=True)):
            C_oo = C[np.ix_(observed, observed)]
            part = log_normal(X[np.ix_(rows, observed)], m[observed], C_oo)
            joint[rows, c] = log_p[c] + part
    return joint


def log_densities(X: ArrayLike, mixture: Mixture) -> Wide:
    """(n,) log sum_c p_c N(x; m_c, C_c), by log-sum-exp."""
    joint = log_joint(wide(X), mixture)
    highest = joint.max(axis=1)
    density: Wide = highest + np.log(np.exp(joint - highest[:, np.newaxis]).sum(axis=1))
    return density


def degrees(X: ArrayLike, mixture: Mixture) -> Wide:
    """(n, k) responsibilities y_c = p_c N(x; m_c, C_c) / sum_c' p_c' N(x; m_c', C_c')"""
    joint = log_joint(wide(X), mixture)
    y: Wide = np.exp(joint - joint.max(axis=1, keepdims=True))
    y /= y.sum(axis=1, keepdims=True)
    return y


def soft_clustering_error(X: ArrayLike, mixture: Mixture, weights: ArrayLike | None = None) -> Any:
    """Minus the log-likelihood of all rows, each multiplied by its weight."""
    densities = log_densities(X, mixture)
    return -(densities if weights is None else wide(weights) * densities).sum()


def patterns(X: Wide) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Rows with the same cells present, and the columns of those cells."""
    present = ~np.isnan(X)
    distinct, which = np.unique(present, axis=0, return_inverse=True)
    return [
        (np.flatnonzero(which.ravel() == p), np.flatnonzero(observed))
        for p, observed in enumerate(distinct)
    ]


def completed(X: Wide, m: Wide, C: Wide) -> tuple[Wide, Wide]:
    """Rows with the conditional means of missing cells under cluster (m, C), and covariances.

    Returns (n, d) rows, and (n, d, d) conditional covariances. Without missing cells these are X
    and zeros.
    """
    x = X.copy()
    covariances = np.zeros((*X.shape, X.shape[1]), dtype=np.longdouble)
    for rows, o in patterns(X):  # o: columns observed; h: columns missing
        h = np.setdiff1d(np.arange(X.shape[1]), o)
        L = cholesky(C[np.ix_(o, o)])
        half = solve_lower(L, C[np.ix_(o, h)])  # L^-1 C_oh
        z = solve_lower(L, (X[np.ix_(rows, o)] - m[o]).T)
        x[np.ix_(rows, h)] = m[h] + z.T @ half
        covariances[np.ix_(rows, h, h)] = C[np.ix_(h, h)] - half.T @ half
    return x, covariances


def estimates(
    X: Wide,
    w: Wide,
    y: Wide,
    old: Mixture,
    family: str,
    floor: ArrayLike = 0.0,
    fixed: Collection[str] = (),
    *,
    added: bool = True,
) -> Mixture:
    """Step 3: cluster probabilities, means and covariances from the degrees of belonging."""
    size = (w[:, np.newaxis] * y).sum(axis=0)  # effective cluster sizes m_c
    p = old.weights if "weights" in fixed else size / size.sum()
    m, C = old.means.copy(), old.covariances.copy()
    for c in range(len(m)):
        x, conditional = completed(X, old.means[c], old.covariances[c])
        wy = w * y[:, c]
        if "means" not in fixed:
            m[c] = wy @ x / size[c]
        difference = x - m[c]
        C[c] = (wy[:, np.newaxis] * difference).T @ difference / size[c]
        C[c] += np.tensordot(wy, conditional, axes=1) / size[c]
    if family == "fixed" or "covariances" in fixed:
        return Mixture(p, m, old.covariances)
    return Mixture(p, m, allowed(C, size, family, floor, added=added))


def allowed(
    C: Wide, size: Wide, family: str, floor: ArrayLike = 0.0, *, added: bool = True
) -> Wide:
    """The likeliest matrices of a family, from the likeliest without constraint.

    floor : a number or one per column. It is added to the variances; or, if not `added`, no
        matrix falls below diag(floor) in any direction.
    """
    d = C.shape[1]
    eye = np.eye(d, dtype=np.longdouble)
    least = np.broadcast_to(wide(floor), (d,))
    if family == "tied":
        C = np.broadcast_to(np.tensordot(size / size.sum(), C, axes=1), C.shape)
    elif family == "diag":
        C = C * eye
    elif family == "spherical":
        C = np.trace(C, axis1=1, axis2=2)[:, np.newaxis, np.newaxis] / d * eye
        least = np.full(d, least.mean())
    if added:
        return C + least * eye
    return np.stack([raised(one, least) for one in C])


def raised(C: Wide, floor: Wide) -> Wide:
    """The likeliest matrix nowhere below diag(floor): a smaller spread is raised to the floor."""
    root = np.sqrt(floor)
    values, vectors = eigen(C / np.outer(root, root))
    whole: Wide = (vectors * np.maximum(values, 1)) @ vectors.T * np.outer(root, root)
    return whole


def eigen(A: Wide) -> tuple[Wide, Wide]:
    """Eigenvalues and vectors of a symmetric matrix, by Jacobi's rotations."""
    A, V = A.copy(), np.eye(len(A), dtype=np.longdouble)
    for _ in range(30):  # sweeps: a handful are enough
        for i in range(len(A)):
            for j in range(i + 1, len(A)):
                angle = np.arctan2(2 * A[i, j], A[j, j] - A[i, i]) / 2
                c, s = np.cos(angle), np.sin(angle)
                R = np.array([[c, s], [-s, c]], dtype=np.longdouble)
                A[:, [i, j]] = A[:, [i, j]] @ R
                A[[i, j]] = R.T @ A[[i, j]]
                V[:, [i, j]] = V[:, [i, j]] @ R
    return np.diagonal(A).copy(), V


def soft_clustering(
    X: ArrayLike,
    start: Mixture,
    family: str = "full",
    weights: ArrayLike | None = None,
    *,
    n_iter: int,
    floor: ArrayLike = 0.0,
    added: bool = True,
    fixed: Collection[str] = (),
) -> SoftAnswer:
    """Algorithm 3 from the given mixture, for a given number of iterations.

    floor, added : as in `allowed`.
    fixed : those of "weights", "means", "covariances" that keep their initial values.
    """
    x = wide(X)
    w = np.ones(len(x), dtype=np.longdouble) if weights is None else wide(weights)
    mixture = start
    errors = [soft_clustering_error(x, mixture, w)]
    # 1: repeat
    for _ in range(n_iter):
        # 2: update degrees of belonging
        y = degrees(x, mixture)
        # 3: update estimates of probabilities, means and covariance matrices
        mixture = estimates(x, w, y, mixture, family, floor, fixed, added=added)
        errors.append(soft_clustering_error(x, mixture, w))
    # 4: until convergence, which the caller judges by the errors
    return SoftAnswer(mixture, degrees(x, mixture), tuple(errors))
