"""Every driver on an engine that cuts, pickles, forgets, repeats and reorders: the same bits."""

from __future__ import annotations

import hashlib
import warnings
from typing import Any

import numpy as np
import pytest
from support.hostile_engine import HostileEngine, hostile_engines, leaves_of
from support.kmeans_cases import FORMATS, WEIGHTS, make_case

from coterie import GaussianMixture, KMeans, kmeans_plusplus
from coterie.algorithms.kmeans.lloyd import Rules, lloyd
from coterie.algorithms.kmeans.seeding import SEEDINGS
from coterie.algorithms.kmeans.survey import survey
from coterie.algorithms.mixture.covariance import FAMILIES, Family
from coterie.algorithms.mixture.from_labels import mixture_from_degrees, mixture_from_labels
from coterie.algorithms.mixture.survey import survey as mixture_survey
from coterie.algorithms.random_words import RandomWords
from coterie.engines.memory import MemoryEngine
from coterie.kernels import mixture_steps

DATA = ("normal", "blobs", "duplicates", "scales", "offset")
ALIGN = 8192  # of mixtures with few columns: see `mixture_steps.chunk_rows`


def bits(value: Any) -> str:
    """A hash of all numbers in records, tuples and arrays; times are left out."""
    digest = hashlib.sha256()

    def add(item: Any) -> None:
        if hasattr(item, "__dataclass_fields__"):
            for name in item.__dataclass_fields__:
                if "seconds" not in name:
                    add(getattr(item, name))
        elif isinstance(item, tuple | list):
            for each in item:
                add(each)
        elif isinstance(item, np.ndarray):
            digest.update(f"{item.dtype}{item.shape}".encode())
            digest.update(np.ascontiguousarray(item).tobytes())
        elif isinstance(item, Family):
            digest.update(item.kind.encode())
        else:
            digest.update(repr(item).encode())

    add(value)
    return digest.hexdigest()


def attributes(model: Any) -> dict[str, str]:
    return {
        name: bits(value)
        for name, value in vars(model).items()
        if name.endswith("_") and not name.startswith("_") and "seconds" not in name
    }


def cases(count: int) -> list[Any]:
    """Small cases of every kind of data, format and weights."""
    found = []
    for seed in range(count):
        rng = np.random.default_rng(seed)
        n, d, k = int(rng.integers(20, 400)), int(rng.integers(1, 8)), int(rng.integers(1, 9))
        data, form = DATA[seed % len(DATA)], FORMATS[seed % len(FORMATS)]
        found.append(make_case(rng, n, d, k, data, form, WEIGHTS[seed // 2 % len(WEIGHTS)]))
    return found


RULES = [
    Rules(),
    Rules(relocate=True),
    Rules(trace=True, max_iter=5),
    Rules(algorithm="brute", tol=1e-3),
    Rules(algorithm="bounds", rel_tol=1e-2),
]


@pytest.mark.parametrize("rules", RULES, ids=str)
def test_lloyd(rules: Rules) -> None:
    for seed, case in enumerate(cases(30)):
        engines = (
            MemoryEngine(case.X, case.weights),
            HostileEngine(case.X, case.weights, seed=seed),
        )
        one, other = (lloyd(e, survey(e), case.means, rules) for e in engines)
        assert bits(one) == bits(other), (seed, case)


@pytest.mark.parametrize("name", SEEDINGS)
def test_seedings(name: str) -> None:
    align = 16 if name == "principal" else 1
    for seed, case in enumerate(cases(50)):
        engines = (
            MemoryEngine(case.X, case.weights),
            HostileEngine(case.X, case.weights, seed=seed, align=align),
        )
        found = []
        with leaves_of(16):
            for engine in engines:
                try:
                    found.append(
                        SEEDINGS[name](engine, survey(engine), len(case.means), RandomWords(seed))
                    )
                except ValueError as error:  # fewer distinct rows than seeds
                    found.append(str(error))
        assert bits(found[0]) == bits(found[1]), (seed, case)


def test_seedings_where_float32_cannot_tell_points_apart() -> None:
    rng = np.random.default_rng(0)
    for seed in range(20):
        X = rng.integers(0, 2, size=(200, 1)) + 1e-7 * rng.normal(size=(200, 3))
        for name in ("k-means++", "k-means||"):
            engines = (MemoryEngine(X), HostileEngine(X, seed=seed))
            one, other = (SEEDINGS[name](e, survey(e), 8, RandomWords(seed)) for e in engines)
            assert bits(one) == bits(other)


def test_surveys() -> None:
    found: list[str] = []
    for seed, case in enumerate(cases(60)):
        one = survey(MemoryEngine(case.X, case.weights))
        other = survey(HostileEngine(case.X, case.weights, seed=seed))
        # Limbs may be carried differently: the numbers that they make are compared.
        for known in (one, other):
            columns = range(known.n_features)
            sums = [known.totals.grid.value(known.totals.sums[:, c], c) for c in columns]
            found.append(bits((known.extent, sums, known.totals.squares, known.totals.mass)))
        assert found[-1] == found[-2]


def mixture_rows(seed: int, d: int, *, gaps: bool, dtype: Any = np.float64) -> Any:
    """Rows enough for a few leaves, and weights in every other case."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1.2 * ALIGN, 3 * ALIGN))
    X = rng.normal(size=(n, d)) * 2.0 ** rng.integers(-3, 4, size=d)
    X += rng.integers(0, 3, size=(n, 1)) * 5.0
    if gaps:
        X[rng.random(size=X.shape) < 0.15] = np.nan
    weights = rng.integers(0, 4, size=n) * rng.choice([1.0, 0.3]) if seed % 2 else None
    return X.astype(dtype), weights


def test_mixtures_from_labels_and_degrees() -> None:
    for seed, name in enumerate([*FAMILIES] * 2):
        X, _ = mixture_rows(seed, 1 + seed, gaps=False)
        rng = np.random.default_rng(seed)
        labels = rng.integers(0, 3, size=len(X)).astype(np.int32)
        degrees = rng.dirichlet(np.ones(3), size=len(X))
        align = mixture_steps.chunk_rows(X.shape[1])
        found = []
        for engine in (MemoryEngine(X), HostileEngine(X, seed=seed, align=align)):
            family = FAMILIES[name]
            known = mixture_survey(engine, family)
            floor = known.floor(None)
            found.append(
                (
                    known.scaling,
                    mixture_from_labels(engine, known, family, labels, 3, floor),
                    mixture_from_degrees(engine, known, family, degrees, floor),
                )
            )
        assert bits(found[0]) == bits(found[1])


def both(fit: Any, seed: int, align: int) -> tuple[Any, Any]:
    """The answers in memory and on hostile engines."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        one = fit()
        with hostile_engines(seed, align) as made:
            other = fit()
    assert any(len(engine.blocks) > 1 for engine in made)
    assert sum(engine.asked for engine in made) > len(made)
    return one, other


MIXTURES: dict[str, dict[str, Any]] = {
    "full": {},
    "tied": {"covariance_type": "tied"},
    "diag": {"covariance_type": "diag"},
    "spherical": {"covariance_type": "spherical"},
    "fixed": {"covariance_type": "fixed", "fixed_covariance": 2.0},
    "random": {"init_params": "random"},
    "random rows": {"init_params": "random_from_data", "n_init": 2},
    "plusplus": {"init_params": "k-means++", "covariance_type": "diag"},
    "principal": {"init_params": "principal"},
    "frozen weights": {"fixed": ("weights",)},
    "frozen means": {"fixed": ("means",), "covariance_type": "tied"},
    "frozen covariances": {"fixed": ("covariances",)},
    "accelerated": {"accelerate": True, "tol": 1e-6},
    "accelerated diag": {"accelerate": True, "covariance_type": "diag"},
    "traced": {"trace": True},
    "reg_covar": {"reg_covar": 1e-3},
}
ROUNDS = 4


@pytest.mark.parametrize("gaps", [False, True], ids=["whole", "gaps"])
@pytest.mark.parametrize("name", MIXTURES)
def test_mixtures(name: str, gaps: bool) -> None:
    for seed in range(ROUNDS):
        d = 1 + (seed + len(name)) % 4
        X, weights = mixture_rows(seed, d, gaps=gaps, dtype=(np.float64, np.float32)[seed // 2 % 2])
        settings = {"max_iter": 4, "random_state": seed, **MIXTURES[name]}
        if gaps:
            settings["missing"] = "marginal"
        rows = X[: ALIGN + 100]

        def fit(
            X: Any = X, weights: Any = weights, settings: Any = settings, rows: Any = rows
        ) -> Any:
            model = GaussianMixture(3, **settings).fit(X, sample_weight=weights)
            answers = [
                model.predict(rows),
                model.predict_proba(rows),
                model.score_samples(rows),
                model.score(rows),
                model.bic(rows),
            ]
            return attributes(model) | {"answers": bits(answers)}

        with leaves_of(ALIGN):
            one, other = both(fit, seed, ALIGN)
        assert one == other, (name, seed)


@pytest.mark.parametrize("d", [5, 17, 65])
def test_mixtures_of_many_columns(d: int) -> None:
    align = mixture_steps.chunk_rows(d)
    X = np.random.default_rng(d).normal(size=(2 * align + 100, d))

    def fit() -> Any:
        return attributes(GaussianMixture(2, max_iter=2, random_state=0).fit(X))

    one, other = both(fit, d, align)
    assert one == other


KMEANS: dict[str, dict[str, Any]] = {
    "plusplus": {"init": "k-means++"},
    "parallel": {"init": "k-means||"},
    "random": {"init": "random", "n_init": 3},
    "principal": {"init": "principal"},
    "cosine": {"metric": "cosine"},
    "relocating": {"empty_clusters": "relocate", "trace": True},
    "rel_tol": {"rel_tol": 1e-3, "max_iter": 9},
}


@pytest.mark.parametrize("name", KMEANS)
def test_kmeans(name: str) -> None:
    align = 16 if name == "principal" else 1
    for seed, case in enumerate(cases(24)):
        if case.X.shape[0] < 8 * len(case.means):
            continue
        settings = {"random_state": seed, **KMEANS[name]}
        X = case.X + 0.5 if name == "cosine" and isinstance(case.X, np.ndarray) else case.X
        if name == "cosine" and not isinstance(case.X, np.ndarray):
            continue  # sparse rows of these cases may be zero, and have no direction

        def fit(X: Any = X, case: Any = case, settings: Any = settings) -> Any:
            try:
                model = KMeans(len(case.means), **settings)
                model.fit(X, sample_weight=case.weights)
            except ValueError as error:
                return str(error)
            answers = [
                model.predict(X),
                model.transform(X),
                model.score(X, sample_weight=case.weights),
                model.partial_fit(X, sample_weight=case.weights).cluster_centers_,
            ]
            return attributes(model) | {"answers": bits(answers)}

        with leaves_of(16):
            one, other = both(fit, seed, align)
        assert one == other, (name, seed)


def test_kmeans_plusplus_alone() -> None:
    for seed, case in enumerate(cases(20)):

        def fit(case: Any = case, seed: int = seed) -> Any:
            k = min(3, len(case.means))
            return bits(kmeans_plusplus(case.X, k, sample_weight=case.weights, random_state=seed))

        one, other = both(fit, seed, 1)
        assert one == other


@pytest.mark.parametrize("forgotten", ["all", "none"])
def test_hostile_engines_forget_and_drivers_clean_up(forgotten: str) -> None:
    """No driver leaves the caches of a run behind."""
    case = make_case(np.random.default_rng(1), 300, 3, 5, "blobs")
    engine: Any = HostileEngine(case.X) if forgotten == "all" else MemoryEngine(case.X)
    known = survey(engine)
    for name in SEEDINGS:
        if name != "principal":
            SEEDINGS[name](engine, known, 5, RandomWords(0))
    lloyd(engine, known, case.means, Rules())
    assert all(not block.caches for block in engine.blocks)
