"""save and load: the same model comes back, and nothing else does."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.cluster import KMeans as Other
from support.kmeans_cases import thorough
from support.model_examples import MAKERS, X, answers, assert_same, fitted

import coterie
from coterie import KMeans, Model, ModelError, describe, load, save
from coterie.models.container import CHUNK, pack
from coterie.models.schemas import SCHEMAS


def assert_same_model(a: Any, b: Any, *, leave_out: frozenset[str] = frozenset()) -> None:
    """Every attribute of the schema, bit for bit."""
    schema = next(s for s in SCHEMAS.values() if type(a) is s.estimator)
    for name in set(schema.attributes) - leave_out:
        assert hasattr(a, name) == hasattr(b, name), name
        if hasattr(a, name):
            assert_same(getattr(a, name), getattr(b, name))


@pytest.mark.parametrize("name", MAKERS)
def test_every_sort_of_model_comes_back(tmp_path: Path, name: str) -> None:
    model, rows = fitted(name)
    save(model, tmp_path / "m")
    loaded = load(tmp_path / "m")
    precomputed = getattr(model, "metric", None) == "precomputed"
    assert_same_model(loaded, model, leave_out=frozenset(["components_"] if precomputed else []))
    assert_same(answers(loaded, rows), answers(model, rows))
    assert hasattr(loaded, "components_") == (hasattr(model, "components_") and not precomputed)
    parameters, before = loaded.get_params(deep=False), model.get_params(deep=False)
    assert parameters.keys() == before.keys()
    for key, value in before.items():
        if value is None or isinstance(value, bool | int | float | str):
            assert_same(parameters[key], value)
    assert_same(answers(loaded.fit(rows), rows), answers(model, rows))  # it can be refitted
    save(loaded, tmp_path / "again")
    assert describe(tmp_path / "again")["estimator"] == describe(tmp_path / "m")["estimator"]


@pytest.mark.parametrize("name", MAKERS)
def test_nothing_that_a_fit_leaves_is_forgotten(name: str) -> None:
    model, _ = fitted(name)
    schema = next(s for s in SCHEMAS.values() if type(model) is s.estimator)
    assert set(vars(model)) <= set(model.get_params(deep=False)) | set(schema.attributes)


@pytest.mark.parametrize("name", MAKERS)
def test_pickle_and_skops_work_too(name: str) -> None:
    model, rows = fitted(name)
    expected = answers(model, rows)
    again = pickle.loads(pickle.dumps(model))
    assert_same_model(again, model)
    assert_same(answers(again, rows), expected)
    skops = pytest.importorskip("skops.io")
    stored = skops.dumps(model)
    loaded = skops.loads(stored, trusted=skops.get_untrusted_types(data=stored))
    assert_same(answers(loaded, rows), expected)


def test_parameters_of_mixtures_come_back(tmp_path: Path) -> None:
    frozen, _ = fitted("mixture-frozen")
    save(frozen, tmp_path / "m")
    loaded = load(tmp_path / "m")
    assert set(loaded.fixed) == {"weights", "means"}
    np.testing.assert_array_equal(loaded.weights_init, [0.2, 0.3, 0.5])
    started, _ = fitted("mixture-from-kmeans")
    save(started, tmp_path / "m")
    init = load(tmp_path / "m").init_params
    assert type(init) is KMeans
    assert init.n_init == 1
    np.testing.assert_array_equal(init.init, X[:3])
    assert not hasattr(init, "cluster_centers_")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@thorough(25)
@given(
    n=st.integers(5, 40),
    d=st.integers(2, 5),
    k=st.integers(1, 3),
    options=st.fixed_dictionaries(
        {},
        optional={
            "init": st.sampled_from(["k-means++", "k-means||", "random"]),
            "n_init": st.integers(1, 2),
            "tol": st.sampled_from([0.0, 1e-4, np.float64(0.1)]),
            "max_iter": st.sampled_from([None, 50, np.int64(7)]),
            "metric": st.sampled_from(["euclidean", "cosine"]),
            "random_state": st.sampled_from([None, 3]),
        },
    ),
)
def test_a_loaded_model_is_the_saved_one(
    tmp_path_factory: Any, n: int, d: int, k: int, options: dict[str, Any]
) -> None:
    rows = np.random.default_rng(n * d).normal(size=(n, d)) + 1.0
    model = KMeans(k, **options).fit(rows)
    path = tmp_path_factory.mktemp("models") / "m.coterie"
    save(model, path)
    loaded = load(path)
    assert loaded.get_params() == model.get_params()
    assert_same_model(loaded, model)
    np.testing.assert_array_equal(loaded.predict(rows), model.labels_)


def test_names_and_arrays_are_stored_and_callbacks_are_not(tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=["a", "b", "ü", "d"])
    events: list[Any] = []
    model = KMeans(3, init=X[:3], n_init=1, callback=events.append, trace=True).fit(frame)
    save(model, tmp_path / "m")
    loaded = load(tmp_path / "m")
    assert events
    assert loaded.feature_names_in_.tolist() == ["a", "b", "ü", "d"]
    np.testing.assert_array_equal(loaded.init, X[:3])
    assert loaded.callback is None
    assert not hasattr(loaded, "trace_")
    np.testing.assert_array_equal(loaded.predict(frame), model.labels_)
    np.testing.assert_array_equal(loaded.fit(frame).labels_, model.labels_)  # it can be refitted


def test_describe_gives_the_header_of_a_file(tmp_path: Path, model: KMeans) -> None:
    save(Model(model, provenance={"rows": np.int64(60)}), tmp_path / "m")
    told = describe(tmp_path / "m")
    assert told["estimator"] == "kmeans"
    assert told["written_by"] == f"coterie {coterie.__version__}"
    assert told["provenance"] == {"rows": 60}
    assert {"name": "labels_", "dtype": "<i4", "shape": [60]}.items() <= told["arrays"][1].items()


def with_infinite_counts() -> KMeans:
    model = KMeans(2, random_state=0).fit(X)
    model.counts_ = np.full(2, np.inf)
    return model


@pytest.mark.parametrize("word", ["caf\udce9.csv", "\ud800", "\u00e9 \U0001f600 \\udce9"])
def test_words_that_utf8_cannot_hold_come_back(tmp_path: Path, model: KMeans, word: str) -> None:
    columns = (word, "b", "c", "d")
    save(Model(model, columns=columns, provenance={"source": word}), tmp_path / "m")
    loaded = load(tmp_path / "m")
    assert loaded.columns == columns
    assert loaded.provenance == {"source": word}
    assert describe(tmp_path / "m")["columns"] == list(columns)
    header = (tmp_path / "m").read_bytes()[48:].partition(b'"sha256"')[0]
    assert header.decode() == header.decode(errors="ignore")


def test_files_are_written_in_pieces_between_which_ctrl_c_is_answered() -> None:
    values = np.arange(2.5 * CHUNK).astype("u1")
    parts = list(pack({}, {"a": values}))
    assert max(map(len, parts)) <= CHUNK
    assert b"".join(parts).endswith(values.tobytes())


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: KMeans(), r"expected a fitted KMeans, got one that was not fitted; call fit"),
        (lambda: Other(2, n_init=1).fit(X), r"fitted estimator of coterie or a Model.*skops"),
        (lambda: "model", r"got str"),
        (
            lambda: KMeans(2, init=lambda X, k, random_state: X[:k]).fit(X),
            r"parameter init made of numbers and words, got function.*set_params\(init=None\)",
        ),
        (
            lambda: KMeans(2, random_state=np.random.RandomState(0)).fit(X),
            r"parameter random_state .* got RandomState",
        ),
        (
            lambda: Model(KMeans(2).fit(X), provenance={"x": {1, 2}}),
            r"provenance of numbers.*a set",
        ),
        (with_infinite_counts, r"KMeans that can be loaded again, but counts_ .* not finite.*sums"),
    ],
)
def test_models_that_cannot_be_saved_say_why(
    tmp_path: Path, make: Callable[[], Any], says: str
) -> None:
    with pytest.raises(ModelError, match=says):
        save(make(), tmp_path / "m")
    assert not list(tmp_path.iterdir())


def test_a_model_that_was_changed_after_its_fit_is_not_saved(tmp_path: Path) -> None:
    model = clone(fitted("mixture-full")[0]).fit(X)
    model.covariances_ = model.covariances_[0]
    with pytest.raises(ModelError, match=r"as its fit left it, but .*'full'.*; fit again"):
        save(model, tmp_path / "m")


def test_loading_imports_nothing_and_never_unpickles(tmp_path: Path, model: KMeans) -> None:
    save(model, tmp_path / "m")
    script = (
        "import sys, builtins, pickle, coterie\n"
        "coterie.load(sys.argv[1])\n"  # first, so that lazy parts of libraries are there
        "before = set(sys.modules)\n"
        "def no(*a, **k): raise SystemExit('called')\n"
        "pickle.load = pickle.loads = pickle.Unpickler = builtins.eval = builtins.exec = no\n"
        "coterie.load(sys.argv[1])\n"
        "assert set(sys.modules) == before\n"
    )
    subprocess.run([sys.executable, "-c", script, str(tmp_path / "m")], check=True, timeout=120)
