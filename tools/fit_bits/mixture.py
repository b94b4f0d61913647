"""Fits of GaussianMixture. Their bits depend on the level, on NumPy and on LAPACK."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

from coterie import GaussianMixture, KMeans
from fit_bits.data import rows, rows_for, weights, with_holes
from fit_bits.fit import LIBRARIES, Fit, Found, name_of
from fit_bits.kmeans import COLUMNS, SEED

FAMILIES = ("full", "tied", "diag", "spherical")
TURNS = 6  # of EM: enough to see every path, and soon over


def found_by(model: GaussianMixture) -> list[Any]:
    """All results of a fit of a mixture but times and words."""
    found: list[Any] = [
        model.weights_,
        model.means_,
        model.covariances_,
        model.precisions_cholesky_,
    ]
    found += [model.soft_clustering_error_, model.lower_bound_, list(model.lower_bounds_)]
    found += [model.n_iter_, model.converged_]
    return [*found, [[r.error, r.largest_move, r.sweeps] for r in model.history_]]


def of_new_rows(model: GaussianMixture, new: Any) -> Found:
    return {
        "predict": model.predict(new),
        "predict_proba": model.predict_proba(new),
        "score_samples": model.score_samples(new),
        "criteria": [model.score(new), model.bic(new), model.aic(new), model.icl(new)],
        "precisions": model.precisions_,
    }


def covariances_for(shape: str, d: int, k: int) -> Any:
    """Covariances that are given, by their shape."""
    if shape == "variance":
        return 1.5
    if shape == "variances":
        return 1.0 + np.arange(k) / 4.0
    matrix = 2.0 * np.eye(d) + np.eye(d, k=1) / 2.0 + np.eye(d, k=-1) / 2.0
    return matrix if shape == "matrix" else matrix * (1.0 + np.arange(k) / 4.0)[:, None, None]


def first_parts(family: str, X: Any, k: int) -> dict[str, Any]:
    """A first mixture: some rows as means, and precisions of one."""
    d = X.shape[1]
    precisions = {
        "full": np.tile(np.eye(d), (k, 1, 1)),
        "tied": np.eye(d),
        "diag": np.ones((k, d)),
        "spherical": np.ones(k),
    }
    means = np.asarray(X[:k], dtype=np.float64)
    ramp = np.arange(1, k + 1, dtype=np.float64)
    weights_init = ramp / ramp.sum()
    return {
        "weights_init": weights_init,
        "means_init": means,
        "precisions_init": precisions[family],
    }


def mixture(
    kind: str,
    d: int,
    k: int = 4,
    family: str = "full",
    form: str = "float64",
    weighted: str = "none",
    *,
    ask: bool = False,
    n: int | None = None,
    given: str | None = None,
    sample: bool = False,
    **parameters: Any,
) -> Fit:
    """A fit, and with `ask` its answers about new rows. given : the shape of fixed covariances,
    or "first" for a first mixture."""
    init = parameters.get("init_params")
    shown = dict(parameters)
    if isinstance(init, KMeans):
        shown["init_params"] = "KMeans"
    if "fixed" in parameters:
        shown["fixed"] = "+".join(parameters["fixed"])
    name = name_of(
        *("mixture", f"{kind}-{d}d", f"k={k}", family, form, f"weights={weighted}"),
        given=given,
        **shown,
    )
    size = rows_for(d, k) if n is None else n

    def run(threads: int) -> Found:
        X, new = rows(kind, size, d, form)
        own = {"max_iter": TURNS, **parameters}
        if given == "first":
            own |= first_parts(family, X, k)
        elif given is not None:
            own["fixed_covariance"] = covariances_for(given, d, k)
        if own.get("missing") == "marginal":
            X, new = with_holes(X), with_holes(new, 4)
        model = GaussianMixture(k, covariance_type=family, random_state=SEED, n_jobs=threads, **own)
        model.fit(X, sample_weight=weights(weighted, size))
        found = {"fit": found_by(model)}
        if parameters.get("trace"):
            found["trace"] = [[m.weights, m.means, m.covariances] for m in model.trace_]
        if sample:
            found["sample"] = list(model.sample(50))
        return {**found, **of_new_rows(model, new)} if ask else found

    return Fit(name, run, LIBRARIES, by_level=True)


def started_warm(family: str) -> Fit:
    """A second fit from the mixture of a first one."""

    def run(threads: int) -> Found:
        X, _ = rows("stretched", rows_for(3, 4), 3)
        model = GaussianMixture(4, covariance_type=family, random_state=SEED, n_jobs=threads)
        model.set_params(max_iter=2, warm_start=True).fit(X)
        model.fit(X[::2])
        return {"fit": found_by(model)}

    return Fit(
        name_of("mixture", "warm_start", "stretched-3d", "k=4", family), run, LIBRARIES, True
    )


def fits() -> Iterator[Fit]:
    """Every family at every width, every parameter that changes an answer."""
    for d, family in product(COLUMNS, FAMILIES):
        yield mixture("stretched", d, 4, family, ask=True)
        yield mixture("stretched", d, 4, family, "float32", "float")
    for d, family in product((2, 16, 30), FAMILIES):
        yield mixture("blobs", d, 1, family)
        yield mixture("blobs", d, 30, family, max_iter=3, n=max(600, rows_for(d, 30)))
    for (d, n), family in product({2: 20_000, 16: 9500, 30: 5000, 100: 3000}.items(), FAMILIES):
        yield mixture("blobs", d, 3, family, n=n, max_iter=2)  # chunks for every thread
    inits = ("kmeans", "k-means++", "random", "random_from_data", "principal")
    own_start = KMeans(4, init="random", n_init=2, max_iter=3)
    for init, family in product((*inits, own_start), FAMILIES):
        yield mixture("stretched", 3, 4, family, init_params=init)
    for weighted, family in product(("whole", "float"), FAMILIES):
        yield mixture("stretched", 5, 4, family, weighted=weighted, ask=True, sample=True)
    for d, shape in product((2, 12, 65), ("variance", "variances", "matrix", "matrices")):
        yield mixture("stretched", d, 4, "fixed", given=shape, ask=d == 2)
    parts = (("weights",), ("means",), ("covariances",), ("weights", "covariances"))
    for fixed, family in product(parts, FAMILIES):
        yield mixture("stretched", 4, 4, family, given="first", fixed=fixed)
    for d, family in product((2, 8), FAMILIES):
        yield mixture("cloud", d, 5, family, accelerate=True, max_iter=15, n=2000)
        yield mixture("cloud", d, 5, family, given="first", trace=True)
    for d, family in product((2, 5, 12), FAMILIES):
        for weighted in ("none", "float"):
            n = rows_for(d, 4) if d == 2 else 500
            yield mixture(
                "stretched", d, 4, family, "float64", weighted, missing="marginal", n=n, ask=True
            )
    yield mixture("stretched", 3, 4, "fixed", given="matrix", missing="marginal")
    rules: tuple[dict[str, Any], ...] = (
        {"n_init": 3, "init_params": "random"},
        {"reg_covar": 1e-3},
        {"max_iter": 0},
        {"tol": 1e-6, "max_iter": 40},
    )
    for own, family in product(rules, FAMILIES):
        yield mixture("cloud", 3, 3, family, **own)
    kinds = ("lattice", "duplicates", "offset", "timestamps", "scales", "thirds", "outlier")
    for kind, family in product((*kinds, "constant"), FAMILIES):
        yield mixture(kind, 3, 4, family, n=1500, ask=True)
    for form, family in product(("int64", "uint8", "float64-fortran", "float32-strided"), FAMILIES):
        yield mixture("lattice", 4, 3, family, form)
    for family in FAMILIES:
        yield started_warm(family)
