"""Fits of KMeans."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

from coterie import KMeans, kmeans_plusplus
from fit_bits.data import rows, rows_for, weights
from fit_bits.fit import EXACT, LIBRARIES, Fit, Found, name_of

COLUMNS = (1, 2, 3, 4, 8, 12, 16, 24, 30, 64, 65, 100)
SEED = 7


def spread_rows(X: Any, n_clusters: int, random_state: Any) -> Any:
    """Initial means by a function: rows at even distances in the table."""
    return X[:: len(X) // n_clusters][:n_clusters]


def found_by(model: KMeans) -> list[Any]:
    """All results of a fit of k-means but times and words."""
    found: list[Any] = [
        model.labels_,
        model.cluster_centers_,
        model.inertia_,
        model.clustering_error_,
    ]
    found += [model.n_iter_, model.active_, model.counts_]
    return found


def history_of(model: KMeans) -> list[Any]:
    return [[r.error, r.moved, r.largest_move, r.active] for r in model.history_]


def k_means(
    kind: str,
    d: int,
    k: int = 8,
    form: str = "float64",
    weighted: str = "none",
    *,
    ask: bool = False,
    n: int | None = None,
    **parameters: Any,
) -> Fit:
    """A fit, and with `ask` its answers about new rows."""
    init = parameters.get("init")
    shown = {**parameters, "init": "function" if callable(init) else init}
    name = name_of("kmeans", f"{kind}-{d}d", f"k={k}", form, f"weights={weighted}", **shown)
    size = rows_for(d, k) if n is None else n

    def run(threads: int) -> Found:
        X, new = rows(kind, size, d, form)
        own = dict(parameters)
        if init == "array":
            own["init"] = np.asarray(rows(kind, size, d)[0][:k] + 0.25)
        model = KMeans(k, random_state=SEED, n_jobs=threads, **own)
        model.fit(X, sample_weight=weights(weighted, size))
        found: dict[str, Any] = {"fit": [found_by(model), model.converged_, history_of(model)]}
        if parameters.get("trace"):
            found["trace"] = [[f.means, f.rows, f.labels] for f in model.trace_]
        if ask:
            found["predict"] = model.predict(new)
            found["transform"] = model.transform(new)
            found["score"] = model.score(new)
            found["degrees"] = model.degrees(new)
        return found

    by_libraries = parameters.get("metric") == "cosine" or init == "principal"
    return Fit(name, run, LIBRARIES if by_libraries else EXACT)


def in_batches(d: int, form: str, weighted: str, metric: str | None = None) -> Fit:
    """partial_fit of three batches, one after the other."""
    k = 8
    name = name_of(
        "kmeans", "partial_fit", f"cloud-{d}d", f"k={k}", form, f"weights={weighted}", metric=metric
    )

    def run(threads: int) -> Found:
        n = rows_for(d, k)
        X, new = rows("cloud", n, d, form)
        own = weights(weighted, n)
        model = KMeans(k, random_state=SEED, n_jobs=threads, metric=metric or "euclidean")
        found = []
        for i in range(3):
            part = slice(i * n // 3, (i + 1) * n // 3)
            model.partial_fit(X[part], sample_weight=None if own is None else own[part])
            found.append(found_by(model))
        return {"fit": found, "predict": model.predict(new)}

    return Fit(name, run, LIBRARIES if metric == "cosine" else EXACT)


def started_warm(d: int, form: str) -> Fit:
    """A second fit from the means of a first one, which was stopped early."""

    def run(threads: int) -> Found:
        n = rows_for(d, 8)
        X, new = rows("cloud", n, d, form)
        model = KMeans(8, random_state=SEED, n_jobs=threads, warm_start=True, max_iter=2).fit(X)
        model.set_params(max_iter=300).fit(X, sample_weight=weights("whole", n))
        return {"fit": [found_by(model), history_of(model)], "predict": model.predict(new)}

    return Fit(name_of("kmeans", "warm_start", f"cloud-{d}d", "k=8", form), run)


def seeds(d: int, form: str, weighted: str, trials: int | None) -> Fit:
    """Seeds without a fit."""
    name = name_of("kmeans_plusplus", f"cloud-{d}d", "k=20", form, f"weights={weighted}")

    def run(threads: int) -> Found:
        n = rows_for(d, 20)
        centres, indices = kmeans_plusplus(
            rows("cloud", n, d, form)[0],
            20,
            sample_weight=weights(weighted, n),
            random_state=SEED,
            n_local_trials=trials,
            n_jobs=threads,
        )
        return {"seeds": [centres, indices]}

    return Fit(name_of(name, trials=trials), run)


def fits() -> Iterator[Fit]:
    """Every path of the kernels, every parameter that changes an answer."""
    for d, form in product(COLUMNS, ("float64", "float32")):
        for algorithm in ("brute", "bounds"):
            yield k_means("cloud", d, 8, form, algorithm=algorithm, ask=True)
        yield k_means("cloud", d, 40, form)
    for d, k in product((2, 8, 16, 65), (1, 2, 24, 25, 150)):
        yield k_means("cloud", d, k, n=max(1000, rows_for(d, k)))
    for k in (10, 60):
        yield k_means("cloud", 784, k, "float32", n=700)
    for d, k, n in ((2, 30, 20_000), (16, 40, 20_000), (64, 60, 4000), (100, 150, 1500)):
        yield k_means("cloud", d, k, n=n, max_iter=8)  # chunks for every thread
    inits = ("k-means++", "k-means||", "random", "principal", "array", spread_rows)
    for d, init, weighted in product((2, 12, 30), inits, ("none", "whole", "float")):
        several: dict[str, Any] = {"n_init": 2} if init in ("random", spread_rows) else {}
        yield k_means("cloud", d, 8, "float32", weighted, init=init, **several)
    for d, weighted, empty in product(
        (1, 3, 16, 65), ("none", "whole", "float"), ("keep", "relocate")
    ):
        own: dict[str, Any] = {"init": "array", "empty_clusters": empty, "max_iter": 10}
        yield k_means("duplicates", d, 30, weighted=weighted, **own)
    kinds = ("blobs", "lattice", "duplicates", "offset", "timestamps", "scales", "thirds")
    for kind, d in product((*kinds, "outlier", "constant", "huge", "tiny"), (1, 2, 8, 24, 64)):
        yield k_means(kind, d, 6, ask=d in (2, 24))
    forms = ("csr-float64", "csr-float32")
    for d, form, weighted in product((2, 8, 30, 100, 500), forms, ("none", "whole", "float")):
        yield k_means("mostly_zero", d, 8, form, weighted, ask=weighted == "none")
    for form, d in product(("int64", "int32", "uint8", "bool"), (2, 12)):
        yield k_means("lattice", d, 5, form, ask=True)
    for form, d in product(("float64-fortran", "float32-strided"), (2, 12, 65)):
        yield k_means("cloud", d, 8, form, ask=True)
    for d, form, weighted in product(
        (2, 3, 16, 65), ("float64", "float32", "csr-float64"), ("none", "whole", "float")
    ):
        yield k_means("cloud", d, 8, form, weighted, metric="cosine", ask=weighted == "none")
    rules: tuple[dict[str, Any], ...] = (
        {"tol": 0.0, "max_iter": None},
        {"rel_tol": 0.01},
        {"max_iter": 1},
        {"n_init": 4},
        {"n_init": 3, "init": "random"},
        {"trace": True},
    )
    for d, own in product((2, 16, 65), rules):
        yield k_means("cloud", d, 8, **own)
    for d, form in product((1, 4, 12, 64), ("float64", "float32")):
        yield started_warm(d, form)
    for d, form, weighted in product((2, 16, 65), ("float64", "csr-float32"), ("none", "float")):
        yield in_batches(d, form, weighted)
    yield in_batches(12, "float64", "none", "cosine")
    for d, weighted in product((2, 12, 65), ("none", "whole", "float")):
        yield seeds(d, "float32", weighted, None)
    yield seeds(4, "float64", "none", 1)
    yield seeds(4, "csr-float64", "none", 7)
