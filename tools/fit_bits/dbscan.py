"""Fits of DBSCAN and DBSCANPath."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from coterie import DBSCAN, DBSCANPath, dbscan
from fit_bits.data import Floats, integers, rows, weights
from fit_bits.fit import EXACT, LIBRARIES, Fit, Found, name_of
from fit_bits.kmeans import COLUMNS

OWN_METRICS = ("euclidean", "manhattan", "chebyshev")  # decided by sums and comparisons alone
WIDE = 100_000  # values for which DBSCAN uses many threads


def rows_of(d: int) -> int:
    """Rows enough for three threads, and for neighbours in few columns."""
    return max(400, min(4500, WIDE // (d * d))) + 37


# An eps for each kind and number of columns at which about seven rows in ten are core points.
EPS = {
    ("chains", "euclidean"): (0.03, 1.1, 2.25, 3.0, 4.8, 5.9, 7.1, 8.7, 9.7, 14.0, 14.1, 17.4),
    ("chains", "manhattan"): (
        0.03,
        1.35,
        3.3,
        5.1,
        11.2,
        16.8,
        23.0,
        34.0,
        43.0,
        90.0,
        92.0,
        141.0,
    ),
    ("chains", "chebyshev"): (0.03, 0.95, 1.8, 2.3, 3.0, 3.3, 3.6, 3.9, 4.0, 4.5, 4.5, 4.7),
    ("chains", "minkowski"): (0.03, 1.1, 2.25, 3.0, 4.8, 7.0),
    ("blobs", "euclidean"): (0.007, 0.2, 0.55, 1.1, 2.6),
    ("blobs", "cosine"): (1e-12, 3e-6, 4e-4, 2e-3, 0.012, 0.025),
    ("offset", "euclidean"): (0.007, 0.2, 0.55, 1.1, 2.6),
    ("thirds", "euclidean"): (0.001, 0.04, 0.14, 0.3, 0.88),
    ("uniform", "euclidean"): (0.0085, 0.3, 1.05, 2.2, 7.6),
    ("duplicates", "euclidean"): (0.01, 2.0, 2.0, 2.0, 4.0),
    ("lattice", "euclidean"): (1.0, 1.0, 1.0, 1.0, 2.0),
}
EPS_OF_SPARSE = {
    "euclidean": {2: 0.2, 30: 9.8, 500: 53.0},
    "manhattan": {2: 0.2, 30: 21.0, 500: 535.0},
    "cosine": {30: 0.43, 500: 0.76},
}
FLOAT_WEIGHTS_REACH = 1.25  # times as far, since these weights are one half on average
CROWDED = {1: 2500, 2: 800, 3: 220, 4: 55, 8: 4}  # min_samples on a lattice


def eps_for(kind: str, metric: str, d: int) -> float:
    """An eps that finds clusters, borders and noise."""
    if kind == "mostly_zero":
        return EPS_OF_SPARSE[metric][d]
    return EPS[kind, metric][COLUMNS.index(d)]


def found_by(model: DBSCAN) -> list[Any]:
    found = [model.labels_, model.core_sample_indices_, model.components_, model.kind_]
    found.append(model.n_clusters_)
    if model.count_neighbors:
        found.append(model.n_neighbors_)
    if model.trace:
        found.append([[wave.rows, wave.labels] for wave in model.trace_])
    return found


def density(
    kind: str,
    d: int,
    metric: str = "euclidean",
    form: str = "float64",
    weighted: str = "none",
    *,
    eps: float | None = None,
    n: int | None = None,
    ask: bool = False,
    **parameters: Any,
) -> Fit:
    """A fit, and with `ask` the labels of new rows."""
    size = rows_of(d) if n is None else n
    reach = eps_for(kind, metric, d) if eps is None else eps
    if weighted == "float":
        reach *= FLOAT_WEIGHTS_REACH
    name = name_of(
        *("dbscan", f"{kind}-{d}d", metric, form, f"weights={weighted}"), eps=eps, **parameters
    )

    def run(threads: int) -> Found:
        X, new = rows(kind, size, d, form)
        model = DBSCAN(reach, metric=metric, n_jobs=threads, **parameters)
        model.fit(X, sample_weight=weights(weighted, size))
        return {"fit": found_by(model), **({"predict": model.predict(new)} if ask else {})}

    return Fit(name, run, EXACT if metric in OWN_METRICS else LIBRARIES)


def largest_difference(a: Floats, b: Floats) -> float:
    """A metric that is a function of Python."""
    return float(np.abs(a - b).max())


def of_function(d: int) -> Fit:
    def run(threads: int) -> Found:
        X, new = rows("blobs", 200, d)
        model = DBSCAN(2.0, metric=largest_difference, n_jobs=threads).fit(X)
        return {"fit": found_by(model), "predict": model.predict(new[:40])}

    return Fit(name_of("dbscan", f"blobs-{d}d", "function"), run)


def distances_between(A: Floats, B: Floats) -> Floats:
    """(n, m) largest differences, which need no rounding."""
    largest: Floats = np.abs(A[:, np.newaxis] - B[np.newaxis]).max(axis=2)
    return largest


def precomputed(form: str, weighted: str) -> Fit:
    """Given distances, as a matrix or as a sparse graph of the near ones."""

    def run(threads: int) -> Found:
        X, new = rows("blobs", 400, 3)
        D, to_new = distances_between(X, X), distances_between(new, X)
        given, asked = D, to_new
        if form == "graph":
            given = csr_array(np.where(D <= 3.0, D, 0.0))
            asked = csr_array(np.where(to_new <= 3.0, to_new, 0.0))
        elif form == "float32":
            given, asked = D.astype(np.float32), to_new.astype(np.float32)
        model = DBSCAN(1.0, metric="precomputed", n_jobs=threads)
        model.fit(given, sample_weight=weights(weighted, len(X)))
        return {"fit": found_by(model)[:-1], "predict": model.predict(asked)}

    return Fit(name_of("dbscan", "blobs-3d", "precomputed", form, f"weights={weighted}"), run)


def as_function(form: str) -> Fit:
    def run(threads: int) -> Found:
        X, _ = rows("chains", rows_of(3), 3, form)
        return {"fit": list(dbscan(X, 2.25, min_samples=4, n_jobs=threads))}

    return Fit(name_of("dbscan", "function-call", "chains-3d", form), run)


def path(kind: str, d: int, metric: str, form: str, min_samples: int) -> Fit:
    """The structure for every eps, its curve, and labels at several eps."""
    name = name_of("dbscan_path", f"{kind}-{d}d", metric, form, min_samples=min_samples)

    def run(threads: int) -> Found:
        X, _ = rows(kind, rows_of(d), d, form)
        model = DBSCANPath(min_samples, metric=metric, n_jobs=threads).fit(X)
        changes = model.changes()
        above = changes[changes > 0]
        some = [above[i * (len(above) - 1) // 4] for i in range(1, 4)]
        curve = model.curve([*some, float(above[-1])])
        return {
            "fit": [model.core_distances_, model.member_distances_, model.merge_distances_],
            "changes": changes,
            "labels": [[eps, model.labels(eps), model.core(eps)] for eps in some],
            "curve": [curve.eps, curve.n_clusters, curve.n_core, curve.n_noise, curve.largest],
        }

    return Fit(name, run)


def of_zero_rows(eps: float) -> Fit:
    """Directions, of which some rows have none."""

    def run(threads: int) -> Found:
        X, new = rows("mostly_zero", 700, 6)
        X = np.where((integers("no direction", (len(X),), 0, 9) == 0)[:, None], 0.0, X)
        model = DBSCAN(eps, metric="cosine", n_jobs=threads).fit(X)
        return {"fit": found_by(model), "predict": model.predict(new)}

    return Fit(name_of("dbscan", "zero-rows-6d", "cosine", eps=eps), run, LIBRARIES)


def fits() -> Iterator[Fit]:
    """Every metric, index and form of rows."""
    for d, metric in product(COLUMNS, OWN_METRICS):
        yield density("chains", d, metric, ask=True)
        yield density("chains", d, metric, "float32", count_neighbors=True)
    for d in (2, 3, 12):
        yield density("chains", d, "minkowski", p=1.5, ask=True)
        yield density("chains", d, "minkowski", p=3.0)
        yield density("blobs", d, "cosine", ask=True)
        yield density("blobs", d, "cosine", "float32", "float")
        yield density("chains", d, trace=True)
        yield density("chains", d, form="float32", min_samples=9)
    yield density("angles", 2, "haversine", eps=0.02, ask=True)
    yield density("angles", 2, "haversine", "float32", eps=0.02, count_neighbors=True)
    for d, weighted, form in product(
        (1, 2, 3, 16, 65), ("whole", "float", "signed"), ("float64", "float32")
    ):
        yield density("chains", d, form=form, weighted=weighted, count_neighbors=d == 3)
    for kind, d in product(("duplicates", "offset", "thirds", "uniform"), (1, 2, 3, 8)):
        yield density(kind, d, ask=True)
    for d, least in CROWDED.items():
        for form in ("float64", "int64", "int32", "uint8", "float64-fortran", "float32-strided"):
            yield density("lattice", d, form=form, min_samples=least, ask=True)
    for d, eps in {2: 0.2, 3: 0.55}.items():
        yield density("huge", d, eps=float(np.ldexp(eps, 530)))
        yield density("tiny", d, eps=float(np.ldexp(eps, -600)))
    for d, metric in product((2, 30, 500), OWN_METRICS[:2]):
        yield density("mostly_zero", d, metric, "csr-float64", n=500, ask=True)
        yield density("mostly_zero", d, metric, "csr-float32", "float", n=500)
    for d in (30, 500):
        yield density("mostly_zero", d, "cosine", "csr-float64", n=500, ask=True)
    for metric in ("euclidean", "cosine"):  # too large to be dense
        yield density("mostly_zero", 500, metric, "csr-float64", n=500, memory_budget=4e6, ask=True)
    metrics = {"sqeuclidean": 9.0, "seuclidean": 0.8, "mahalanobis": 0.8, "canberra": 0.6}
    for metric, eps in (metrics | {"braycurtis": 0.1, "correlation": 0.05}).items():
        yield density("blobs", 4, metric, eps=eps, n=300, ask=True)
    for metric, eps in {"hamming": 0.1, "jaccard": 0.2, "dice": 0.1, "rogerstanimoto": 0.2}.items():
        yield density("flags", 20, metric, "bool", eps=eps, n=300, ask=True)
    for d in (2, 5):
        yield of_function(d)
    for form, weighted in product(("float64", "float32", "graph"), ("none", "float")):
        yield precomputed(form, weighted)
    for form in ("float64", "float32"):
        yield as_function(form)
    for eps in (0.02, 1.0):
        yield of_zero_rows(eps)
    for d, metric in product((1, 2, 3, 8, 16, 65), OWN_METRICS):
        yield path("chains", d, metric, "float64", 5)
    for d, form in product((2, 4, 12), ("float32", "int64")):
        yield path("lattice" if form == "int64" else "chains", d, "euclidean", form, 3)
    for kind, min_samples in product(("lattice", "duplicates", "offset", "uniform"), (1, 2, 12)):
        yield path(kind, 3, "euclidean", "float64", min_samples)
