"""The answer is that of long double arithmetic, on data where float64 formulas go wrong, and does
not depend on threads, types or layouts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.mixture import (
    FAMILIES,
    as_reference,
    assert_monotone,
    assert_same_mixture,
    groups,
    relative_floor,
    start_from,
)

from coterie import GaussianMixture, KMeans
from coterie.kernels import reference

pytestmark = pytest.mark.filterwarnings("ignore:Best performing")


def beside_the_reference(
    X: Any, family: str, n_iter: int = 4, reg_covar: float | None = None
) -> tuple[Any, Any]:
    start = start_from(X, family, reg_covar=reg_covar)
    rules = {"max_iter": n_iter, "tol": 0.0, "reg_covar": reg_covar}
    model = GaussianMixture(3, covariance_type=family, **rules, **start).fit(X)
    answer = reference.soft_clustering(
        X,
        as_reference(start, family),
        family,
        n_iter=n_iter,
        floor=relative_floor(X) if reg_covar is None else np.full(X.shape[1], reg_covar),
        added=reg_covar is not None,
    )
    if reg_covar is None:  # a term added in each iteration is no part of the likelihood
        assert_monotone(model)
    return model, answer


def assert_close(model: Any, answer: Any, family: str, unit: float, rtol: float) -> None:
    C = reference.in_family(answer.mixture.covariances, family)
    assert np.max(np.abs(model.covariances_ - C)) <= rtol * np.max(np.abs(C))
    # Means are rounded to float64 where they lie.
    rounding = 4 * np.spacing(np.abs(model.means_).max()) / unit
    assert np.max(np.abs(model.means_ - answer.mixture.means)) / unit <= rtol + rounding
    assert np.max(np.abs(model.weights_ - answer.mixture.weights)) <= rtol
    n = len(answer.degrees)
    errors = [record.error for record in model.history_] + [model.soft_clustering_error_]
    assert np.max(np.abs(np.array(errors) - np.array(answer.errors))) / n <= max(rtol, 1e-6) / 10


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(("offset", "rtol"), [(0, 1e-12), (1e5, 1e-11), (1e7, 1e-9), (1e9, 1e-7)])
def test_far_from_zero(family: str, offset: float, rtol: float) -> None:
    model, answer = beside_the_reference(groups() + offset, family)
    assert_close(model, answer, family, 1.0, rtol)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("scale", [1e-150, 1e-9, 1e9, 1e150])
def test_any_scale(family: str, scale: float) -> None:
    model, answer = beside_the_reference(groups() * scale, family)
    assert_close(model, answer, family, scale, 1e-11)


@pytest.mark.parametrize("family", FAMILIES)
def test_units_do_not_matter(family: str) -> None:
    X = groups()
    common = {"covariance_type": family, "init_params": "principal"}
    plain = GaussianMixture(3, **common).fit(X)
    scaled = GaussianMixture(3, **common).fit(X * 2.0**-30)
    np.testing.assert_array_equal(plain.means_ * 2.0**-30, scaled.means_)
    np.testing.assert_array_equal(plain.covariances_ * 2.0**-60, scaled.covariances_)
    np.testing.assert_array_equal(plain.predict_proba(X), scaled.predict_proba(X * 2.0**-30))
    for unit in (1e-9, 1e9):  # no power of two: the data are rounded
        other = GaussianMixture(3, **common).fit(X * unit)
        # beside the spread, which is about one: means may be near zero
        np.testing.assert_allclose(plain.means_, other.means_ / unit, rtol=0, atol=1e-12)
        np.testing.assert_allclose(plain.covariances_ * unit**2, other.covariances_, rtol=1e-11)


@pytest.mark.parametrize("family", FAMILIES)
def test_units_of_single_columns_do_not_matter(family: str) -> None:
    """From the same start, powers of two change no digit; spherical ones need the same for all."""
    X = groups()
    start = start_from(X, family)
    unit = np.full(3, 2.0**-90) if family == "spherical" else 2.0 ** np.array([-100, 0, 133])
    area = unit[0] ** 2 if family == "spherical" else unit**2
    if family in ("full", "tied"):
        area = np.outer(unit, unit)
    other = {
        "weights_init": start["weights_init"],
        "means_init": start["means_init"] * unit,
        "precisions_init": start["precisions_init"] / area,
    }
    a = GaussianMixture(3, covariance_type=family, max_iter=6, tol=0.0, **start).fit(X)
    b = GaussianMixture(3, covariance_type=family, max_iter=6, tol=0.0, **other).fit(X * unit)
    np.testing.assert_array_equal(a.means_ * unit, b.means_)
    np.testing.assert_array_equal(a.covariances_ * area, b.covariances_)
    np.testing.assert_array_equal(a.predict_proba(X), b.predict_proba(X * unit))


@pytest.mark.parametrize("family", FAMILIES)
def test_order_does_not_matter(family: str) -> None:
    """Of rows, of columns and of components, to rounding."""
    X = groups()
    start = start_from(X, family)
    rng = np.random.default_rng(0)
    components, columns = rng.permutation(3), rng.permutation(3)
    precisions = start["precisions_init"]
    if family != "tied":
        precisions = precisions[components]
    if family != "spherical":
        precisions = precisions[..., columns]
    if family in ("full", "tied"):
        precisions = precisions[..., columns, :]
    turned = {
        "weights_init": start["weights_init"][components],
        "means_init": start["means_init"][components][:, columns],
        "precisions_init": precisions,
    }
    rows = rng.permutation(len(X))
    a = GaussianMixture(3, covariance_type=family, max_iter=6, tol=0.0, **start).fit(X)
    b = GaussianMixture(3, covariance_type=family, max_iter=6, tol=0.0, **turned)
    b.fit(X[rows][:, columns])
    np.testing.assert_allclose(a.weights_[components], b.weights_, rtol=1e-11)
    np.testing.assert_allclose(a.means_[components][:, columns], b.means_, rtol=1e-11, atol=1e-12)
    assert a.soft_clustering_error_ == pytest.approx(b.soft_clustering_error_, rel=1e-12)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.filterwarnings("ignore:.* ha(s|ve) collapsed")  # onto the outlier
def test_one_outlier(family: str) -> None:
    X = groups()
    X[0] = 1e6
    model, answer = beside_the_reference(X, family)
    assert_close(model, answer, family, 1e6, 1e-9)
    # Every component in its own units, which are 1e6 times smaller than the data's for most.
    C = reference.in_family(answer.mixture.covariances, family).astype(float)
    for found, wanted in (
        [(model.covariances_, C)] if family == "tied" else zip(model.covariances_, C, strict=True)
    ):
        assert np.max(np.abs(found - wanted)) <= 1e-9 * np.max(np.abs(wanted))


@pytest.mark.parametrize("family", ["full", "tied"])
def test_collinear_columns(family: str) -> None:
    X = groups()
    X[:, 2] = X[:, 0] - X[:, 1]
    model, answer = beside_the_reference(X, family)
    C = reference.in_family(answer.mixture.covariances, family)
    assert np.max(np.abs(model.covariances_ - C)) <= 1e-4 * np.max(np.abs(C))
    # Given precisions of 1e12 hold the flat direction to four digits: so do errors by row.
    assert abs(model.soft_clustering_error_ - answer.errors[-1]) / len(X) < 1e-3


def flat(sort: str) -> Any:
    if sort == "fewer rows than columns":
        return groups(9, 12)
    if sort == "duplicates":
        return np.repeat(np.round(groups(9)), 20, axis=0)
    X = groups()
    X[:, 1] = 7.25
    return X


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("sort", ["a constant column", "fewer rows than columns", "duplicates"])
def test_flat_data_with_a_given_floor(family: str, sort: str) -> None:
    """`reg_covar` makes the answer well defined, and it is that of long double."""
    model, answer = beside_the_reference(flat(sort), family, reg_covar=1e-3)
    assert_close(model, answer, family, 1.0, 1e-9)


@pytest.mark.parametrize("family", ["full", "tied"])
@pytest.mark.parametrize("far", [1e3, 1e6, 1e9])
@pytest.mark.filterwarnings("ignore:.* ha(s|ve) collapsed")
def test_what_is_fitted_can_be_asked(family: str, far: float) -> None:
    """Columns that follow from each other, and a few rows so far away that their component is 1e16
    times as wide as it is thick: no matrix of float64 holds that, but its factor does."""
    rng = np.random.default_rng(0)
    t = rng.normal(size=300)
    t[:12] *= far
    X = np.column_stack([t, 2 * t, -t])
    weights = np.where(np.arange(300) < 12, 1.0, 1e3)
    model = GaussianMixture(2, covariance_type=family, means_init=np.zeros((2, 3)), tol=1e-6)
    wide = np.eye(3) / far**2
    model.set_params(precisions_init=wide if family == "tied" else [np.eye(3), wide])
    model.set_params(weights_init=[0.9, 0.1]).fit(X, sample_weight=weights)
    if family == "full":
        np.testing.assert_array_equal(model.predict(X), np.arange(300) < 12)
    score = model.score(X, sample_weight=weights)
    assert score == pytest.approx(-model.soft_clustering_error_ / weights.sum(), rel=1e-9)
    assert np.isfinite(model.predict_proba(X)).all()


@pytest.mark.parametrize("family", FAMILIES)
def test_a_constant_column(family: str) -> None:
    """It neither crashes the fit nor keeps the others from being clustered."""
    X = groups()
    X[:, 1] = 7.25
    model = GaussianMixture(3, covariance_type=family, random_state=0).fit(X)
    assert_monotone(model)
    assert np.all(np.isfinite(model.covariances_))
    np.testing.assert_allclose(model.means_[:, 1], 7.25, rtol=1e-12)
    assert np.unique(model.predict(X)).size == 3


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.filterwarnings("ignore:.* ha(s|ve) collapsed")
def test_fewer_rows_than_columns(family: str) -> None:
    X = np.random.default_rng(0).normal(size=(6, 12))
    model = GaussianMixture(2, covariance_type=family, random_state=0).fit(X)
    assert_monotone(model)
    assert np.all(np.isfinite(model.score_samples(X)))
    assert np.allclose(model.predict_proba(X).sum(axis=1), 1)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.filterwarnings("ignore:.* ha(s|ve) lost", "ignore:.* ha(s|ve) collapsed")
def test_duplicates(family: str) -> None:
    """Two distinct points and two components: each sits on one, as thin as the floor allows."""
    X = np.repeat([[0.0, 1.0], [3.0, -1.0]], 20, axis=0)
    model = GaussianMixture(2, covariance_type=family, random_state=0).fit(X)
    assert_monotone(model)
    np.testing.assert_allclose(np.sort(model.means_, axis=0), [[0, -1], [3, 1]], atol=1e-9)
    same = GaussianMixture(2, covariance_type=family, random_state=0).fit(np.ones((10, 3)))
    np.testing.assert_allclose(same.means_[same.weights_ > 0], 1.0)


@pytest.mark.parametrize("family", FAMILIES)
def test_bits_do_not_depend_on_threads(family: str) -> None:
    X = groups(30_000, 4)
    fits = [
        GaussianMixture(3, covariance_type=family, random_state=0, max_iter=3, n_jobs=jobs).fit(X)
        for jobs in (1, 2, 3, 5, 64)
    ]
    for fit in fits[1:]:
        assert_same_mixture(fits[0], fit)
        np.testing.assert_array_equal(fits[0].predict_proba(X), fit.predict_proba(X))


@pytest.mark.parametrize("family", FAMILIES)
def test_types_and_layouts(family: str) -> None:
    X = np.round(groups() * 16).astype(np.int16)
    base = GaussianMixture(3, covariance_type=family, random_state=0).fit(X.astype(np.float64))
    doubled = np.repeat(X.astype(np.float64), 2, axis=1)
    forms = [X, X.astype(np.float32), np.asfortranarray(X.astype(float)), doubled[:, ::2]]
    for form in [*forms, X.tolist()]:
        model = GaussianMixture(3, covariance_type=family, random_state=0).fit(form)
        assert_same_mixture(base, model)
        np.testing.assert_array_equal(base.predict_proba(X), model.predict_proba(form))
        np.testing.assert_array_equal(base.score_samples(X), model.score_samples(form))


def test_one_row_is_the_same_as_a_batch() -> None:
    X = groups()
    model = GaussianMixture(3, random_state=0).fit(X)
    degrees, scores = model.predict_proba(X), model.score_samples(X)
    for i in range(0, len(X), 17):
        np.testing.assert_array_equal(model.predict_proba(X[i : i + 1])[0], degrees[i])
        assert model.score_samples(X[i : i + 1])[0] == scores[i]
    np.testing.assert_array_equal(model.predict(X), degrees.argmax(axis=1))
    np.testing.assert_array_equal(
        GaussianMixture(3, random_state=0).fit_predict(X), model.predict(X)
    )


@pytest.mark.parametrize("family", FAMILIES)
def test_weights_are_copies(family: str) -> None:
    X = groups()
    weights = np.random.default_rng(0).integers(0, 4, len(X))
    start = start_from(X, family)
    common = {"covariance_type": family, "max_iter": 10, "tol": 0.0, **start}
    weighted = GaussianMixture(3, **common).fit(X, sample_weight=weights)
    repeated = GaussianMixture(3, **common).fit(np.repeat(X, weights, axis=0))
    for name in ("weights_", "means_", "covariances_", "soft_clustering_error_"):
        a, b = getattr(weighted, name), getattr(repeated, name)
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)
    assert weighted.bic(X, weights) == pytest.approx(repeated.bic(np.repeat(X, weights, axis=0)))
    assert weighted.icl(X, weights) == pytest.approx(repeated.icl(np.repeat(X, weights, axis=0)))
    score = weighted.score(X, sample_weight=weights)
    assert score == pytest.approx(-weighted.soft_clustering_error_ / weights.sum())


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("far", [1e9, 1e15, 1e40, 1e100])
def test_a_far_row_of_next_to_no_weight(family: str, far: float) -> None:
    """Robust methods weigh outliers down to nearly nothing: then they change nearly nothing."""
    X = groups()
    start = start_from(X, family)
    common = {"covariance_type": family, "max_iter": 5, "tol": 0.0, **start}
    plain = GaussianMixture(3, **common).fit(X)
    weights = np.append(np.ones(len(X)), 1e-250)
    outlier = [[far, -far, far]]
    model = GaussianMixture(3, **common).fit(np.concatenate([X, outlier]), sample_weight=weights)
    np.testing.assert_allclose(model.means_, plain.means_, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(model.covariances_, plain.covariances_, rtol=1e-10, atol=1e-10)
    assert model.soft_clustering_error_ == pytest.approx(plain.soft_clustering_error_, rel=1e-12)


def test_huge_and_tiny_weights() -> None:
    X = groups()
    base = GaussianMixture(3, random_state=0).fit(X, sample_weight=np.full(len(X), 2.0))
    for size in (2.0**-900, 2.0**900):
        model = GaussianMixture(3, random_state=0).fit(X, sample_weight=np.full(len(X), size))
        np.testing.assert_array_equal(model.means_, base.means_)
        assert model.soft_clustering_error_ == pytest.approx(
            base.soft_clustering_error_ / 2 * size, rel=1e-12
        )
        np.testing.assert_allclose(model.lower_bounds_, base.lower_bounds_, rtol=1e-12)
        a, b = ([r.decrease for r in one.history_[1:]] for one in (model, base))
        np.testing.assert_allclose(a, np.array(b) / 2 * size, rtol=1e-6)


@pytest.mark.parametrize("name", ["iris", "wine", "digits"])
def test_fixed_covariances_become_k_means(name: str) -> None:
    """As sigma goes to zero, degrees of belonging become the hard labels of k-means."""
    from sklearn import datasets

    X = getattr(datasets, f"load_{name}")().data
    means = KMeans(3, random_state=0, max_iter=None, tol=0).fit(X)
    agreement = []
    for sigma in (1.0, 0.1, 1e-4):
        model = GaussianMixture(
            3,
            covariance_type="fixed",
            fixed_covariance=(sigma * X.std()) ** 2,
            fixed=("weights",),
            weights_init=np.full(3, 1 / 3),
            means_init=means.cluster_centers_,
            tol=1e-12,
            max_iter=200,
        ).fit(X)
        assert_monotone(model)
        agreement.append(np.mean(model.predict(X) == means.labels_))
    assert agreement[-1] == 1.0
    np.testing.assert_allclose(model.means_, means.cluster_centers_, rtol=1e-9)
    degrees = model.predict_proba(X)
    np.testing.assert_array_equal(degrees, means.degrees())


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(4, 60),
    d=st.integers(1, 6),
    k=st.integers(1, 4),
    family=st.sampled_from(FAMILIES),
    accelerate=st.booleans(),
    integers=st.booleans(),
)
@pytest.mark.filterwarnings(
    "ignore:.* ha(s|ve) lost", "ignore:EM stopped", "ignore:.* ha(s|ve) collapsed"
)
def test_the_error_never_increases(
    seed: int, n: int, d: int, k: int, family: str, accelerate: bool, integers: bool
) -> None:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, (n, d)).astype(float) if integers else rng.normal(size=(n, d))
    model = GaussianMixture(
        k, covariance_type=family, accelerate=accelerate, tol=1e-6, max_iter=60, random_state=seed
    ).fit(X)
    assert_monotone(model)
    assert np.all(np.isfinite(model.means_))
    assert np.allclose(model.predict_proba(X).sum(axis=1), 1)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("size", [1e160, 1e300, 1.7e308])
def test_rows_very_far_away(family: str, size: float) -> None:
    """Squares overflow, and still the right component is chosen; the density is zero."""
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(100, 2)), 2 * rng.normal(size=(100, 2)) + 20])
    model = GaussianMixture(2, covariance_type=family, random_state=0).fit(X)
    near = np.array([[1.0, 0.5], [-1.0, 0.3], [0.2, -1.0]])
    wanted = model.predict(near * 1e9)
    np.testing.assert_array_equal(model.predict(near * size), wanted)
    np.testing.assert_array_equal(model.predict_proba(near * size), np.eye(2)[wanted])
    mixed = np.concatenate([X[:3], near * size])
    np.testing.assert_array_equal(model.predict_proba(mixed)[:3], model.predict_proba(X[:3]))
    with pytest.warns(RuntimeWarning, match="log-likelihoods overflow"):
        assert np.all(np.isneginf(model.score_samples(near * size)))


def test_columns_of_any_size_beside_each_other() -> None:
    X = np.concatenate([np.random.default_rng(0).normal(size=(50, 2)) + c for c in (0, 9)])
    model = GaussianMixture(2, random_state=0).fit(X * [1e-150, 1e150])
    assert model.predict(X * [1e-150, 1e150]).sum() == 50
