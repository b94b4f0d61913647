"""save and load: the same model comes back, and nothing else does."""

from __future__ import annotations

import json
import os
import pickle
import struct
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.cluster import KMeans as Other
from strategies import thorough

import coterie
from coterie import KMeans, Model, ModelError, describe, load, save
from coterie.data import Scaling, read_table
from coterie.models.atomic import write_whole
from coterie.models.container import MAGIC, _header_sum, pack
from coterie.models.schemas import SCHEMAS
from models.examples import MAKERS, X, answers, assert_same, fitted


@pytest.fixture
def model() -> KMeans:
    return KMeans(3, n_init=2, random_state=0).fit(X)


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
def test_what_is_saved_is_what_is_loaded(
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


def test_names_arrays_and_what_belongs_to_the_fit_only(tmp_path: Path) -> None:
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


def test_a_model_scales_and_chooses_columns_of_new_data(tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame(X * [1, 10, 100, 1000], columns=list("abcd"))
    frame.to_csv(tmp_path / "t.csv", index=False)
    data = read_table(tmp_path / "t.csv", columns=["d", "a"], scaling="standard")
    model = KMeans(3, random_state=0).fit(data.X)
    save(Model.of(model, data), tmp_path / "m")
    loaded = load(tmp_path / "m")
    assert loaded.columns == ("d", "a")
    assert loaded.provenance["source"] == str(tmp_path / "t.csv")
    np.testing.assert_array_equal(loaded.predict(frame), model.labels_)
    np.testing.assert_array_equal(loaded.predict(frame[["d", "a"]].to_numpy()), model.labels_)
    np.testing.assert_array_equal(loaded.predict(read_table(tmp_path / "t.csv")), model.labels_)
    with pytest.raises(ValueError, match="read the file without scaling"):
        loaded.predict(data)
    with pytest.raises(ValueError, match=r"there is no 'd' among 'a', 'b'; rename or add it"):
        loaded.predict(frame[["a", "b"]])


def test_describe_tells_what_is_in_a_file(tmp_path: Path, model: KMeans) -> None:
    save(Model(model, provenance={"rows": np.int64(60)}), tmp_path / "m")
    told = describe(tmp_path / "m")
    assert told["estimator"] == "kmeans"
    assert told["written_by"] == f"coterie {coterie.__version__}"
    assert told["provenance"] == {"rows": 60}
    assert {"name": "labels_", "dtype": "<i4", "shape": [60]}.items() <= told["arrays"][1].items()


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
    ],
)
def test_what_cannot_be_saved_says_why(tmp_path: Path, make: Callable[[], Any], says: str) -> None:
    with pytest.raises(ModelError, match=says):
        save(make(), tmp_path / "m")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", r"m: expected a model saved by coterie\.save, got a file that starts with b''"),
        (b"\x80\x04." + bytes(60), r"starts with b'\\x80"),
        (b"COTERIE\x02" + bytes(60), r"container of version 1, got version 2.*upgrade"),
        (MAGIC + struct.pack("<Q", 2**40) + bytes(40), r"header claims 1,099,511,627,776 bytes of"),
        (MAGIC + bytes(48), r"does not match its checksum; restore it from a copy"),
    ],
)
def test_other_files(tmp_path: Path, content: bytes, says: str) -> None:
    (tmp_path / "m").write_bytes(content)
    for read in (load, describe):
        with pytest.raises(ModelError, match=says):
            read(tmp_path / "m")


def forged(model: Any, path: Path, change: Callable[[dict[str, Any], dict[str, Any]], Any]) -> Path:
    """A file whose checksums are right and whose content is not."""
    from coterie.models import files

    kept: dict[str, Any] = {}
    original = files.pack
    files.pack = lambda header, arrays: kept.update(h=header, a=arrays) or ()  # type: ignore
    try:
        save(model, path)
    finally:
        files.pack = original
    header = json.loads(json.dumps(kept["h"]))
    arrays = {name: values.copy() for name, values in kept["a"].items()}
    change(header, arrays)
    path.write_bytes(b"".join(bytes(part) for part in pack(header, arrays)))
    return path


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda h, a: h.update(format=2), "expected format 1, got 2.*upgrade"),
        (
            lambda h, a: h.update(estimator="os.system"),
            "one of kmeans.*, got a model of 'os.system'",
        ),
        (lambda h, a: h.update(surprise=1), "header should have the entries"),
        (lambda h, a: h["parameters"].update(evil=1), "parameters are not those of kmeans"),
        (lambda h, a: h["parameters"].update(n_clusters=-1), "parameter is not legal.*n_clusters"),
        (
            lambda h, a: h["parameters"].update(init={"x": 1}),
            "parameters/init is not a plain value",
        ),
        (lambda h, a: h["attributes"].pop("inertia_"), "attributes are not those of kmeans"),
        (lambda h, a: h["attributes"].update(inertia_="much"), "inertia_ should be a number"),
        (lambda h, a: h["attributes"].update(inertia_=-1.0), "inertia_ should be a number of 0"),
        (lambda h, a: h["attributes"].update(n_iter_=True), "n_iter_ should be a whole number"),
        (lambda h, a: h["attributes"].update(n_features_in_=9), "number of columns does not fit"),
        (lambda h, a: h["attributes"]["history_"][0].pop("error"), "history_/0 has other fields"),
        (lambda h, a: h["attributes"].update(history_=3), "history_ should be a list"),
        (lambda h, a: h["attributes"].update(stopped_=3), "stopped_ should be of type str"),
        (lambda h, a: a["labels_"].__setitem__(0, 3), "labels_ has values from 0 to 3, beyond 0"),
        (
            lambda h, a: a["counts_"].__setitem__(0, np.nan),
            "counts_ has values that are not finite",
        ),
        (lambda h, a: a.update(active_=np.ones(4, bool)), r"active_ has shape \(4,\), which does"),
        (lambda h, a: a.update(labels_=np.zeros(60)), "labels_ should be an array of int32"),
        (lambda h, a: a.pop("labels_"), "labels_ should be an array"),
        (lambda h, a: a.update(more=np.zeros(1)), "nothing needs its array 'more'"),
        (lambda h, a: h.update(scaling={"kind": "x"}), "scaling has no kind, centre and spread"),
        (lambda h, a: h["scaling"].update(kind="x"), "scaling is of the unknown kind 'x'"),
        (lambda h, a: a["scaling/spread"].fill(0), "spread of zero or less"),
        (lambda h, a: h.update(columns=["a"]), "columns has 1 names, which does not fit"),
        (lambda h, a: h.update(provenance=[]), "provenance is not an object"),
    ],
)
def test_values_are_checked_even_if_the_checksums_are_right(
    tmp_path: Path, model: KMeans, change: Any, says: str
) -> None:
    with pytest.raises(ModelError, match=says):
        load(forged(Model(model, Scaling.of(X)), tmp_path / "m", change))


@pytest.mark.parametrize(
    ("name", "change", "says"),
    [
        (
            "mixture-full",
            lambda h, a: h["parameters"].update(covariance_type="tied"),
            r"covariances_ of shape \(3, 4, 4\) are not of covariance_type='tied'.*\(4, 4\)",
        ),
        (
            "mixture-fixed-number",
            lambda h, a: a.update(covariances_=np.ones(1)),
            r"covariances_ of shape \(1,\) are not of covariance_type='fixed'",
        ),
        (
            "mixture-full",
            lambda h, a: a.update({"runs_/1/covariances": np.ones((3, 4))}),
            r"runs_/1/covariances of shape \(3, 4\) are not of",
        ),
        (
            "mixture-tied",
            lambda h, a: a["precisions_cholesky_"].__setitem__((1, 1), 0.0),
            "precisions_cholesky_ has a spread of zero or less",
        ),
        (
            "mixture-diag",
            lambda h, a: a["covariances_"].__setitem__((2, 0), -1.0),
            "covariances_ has a spread of zero or less",
        ),
        (
            "mixture-full",
            lambda h, a: a["weights_"].__setitem__(0, np.nan),
            "weights_ has values that are not finite",
        ),
        (
            "mixture-full",
            lambda h, a: h["attributes"]["_frame"].pop("origin"),
            "_frame has other fields than origin, exponent",
        ),
        (
            "mixture-from-kmeans",
            lambda h, a: h["parameters"]["init_params"]["kmeans"].update(n_clusters=0),
            "a parameter is not legal.*n_clusters",
        ),
        (
            "mixture-full",
            lambda h, a: h["parameters"].update(init_params={"os": {}}),
            "parameters/init_params is not a plain value",
        ),
        (
            "mixture-full",
            lambda h, a: h["parameters"].update(fixed="weights"),
            "parameters/fixed should be a list",
        ),
        (
            "dbscan",
            lambda h, a: h["attributes"].update(n_clusters_=2),
            "labels_ reach 2, with 2 clusters",
        ),
        (
            "dbscan",
            lambda h, a: a["core_sample_indices_"].__setitem__(0, 60),
            "core_sample_indices_ has values from .* to 60, beyond 0 to 59",
        ),
        (
            "dbscan",
            lambda h, a: a["core_sample_indices_"].__setitem__(1, a["core_sample_indices_"][0]),
            "core_sample_indices_ are not increasing",
        ),
        ("dbscan", lambda h, a: a["kind_"].fill(1), "kind_ is not what labels_ and core"),
        ("dbscan", lambda h, a: a["kind_"].fill(3), "kind_ has values from 3 to 3, beyond"),
        (
            "dbscan",
            lambda h, a: h["attributes"].pop("components_") and a.pop("components_") is None,
            "components_ are not there",
        ),
        (
            "dbscan-sparse",
            lambda h, a: a["components_/indices"].__setitem__(0, 4),
            "components_ are not sound rows of a CSR array",
        ),
        (
            "dbscan-sparse",
            lambda h, a: a["components_/indptr"].__setitem__(1, 9999),
            "components_ are not sound rows of a CSR array",
        ),
        (
            "dbscan-weighted-columns",
            lambda h, a: h["attributes"].update(_metric_params=[]),
            "_metric_params should be an object",
        ),
        (
            "path",
            lambda h, a: a["_path/near/neighbours"].__setitem__((0, 0), 60),
            "neighbours has values from .* to 60, beyond -1 to 59",
        ),
        (
            "path",
            lambda h, a: a["_path/near/neighbours"].__setitem__((0, 0), -1),
            "neighbours has no row where there is a distance",
        ),
        (
            "path",
            lambda h, a: a["_path/chain/order"].fill(0),
            "chain/order has some row twice",
        ),
        (
            "path",
            lambda h, a: a["_path/near/core"].__setitem__(0, np.nan),
            "near/core has values that are not finite",
        ),
        (
            "path",
            lambda h, a: h["attributes"]["_path"].update(metric="cosine"),
            "its structure is of the metric 'cosine'",
        ),
    ],
)
def test_values_of_other_models_are_checked_too(
    tmp_path: Path, name: str, change: Any, says: str
) -> None:
    model, _ = fitted(name)
    with pytest.raises(ModelError, match=says):
        load(forged(model, tmp_path / "m", change))


def test_a_model_that_was_changed_after_its_fit_is_not_saved(tmp_path: Path) -> None:
    model = clone(fitted("mixture-full")[0]).fit(X).set_params(covariance_type="tied")
    with pytest.raises(ModelError, match=r"as its fit left it, but .*'tied'.*; fit again"):
        save(model, tmp_path / "m")


def test_what_a_model_cannot_answer_says_so(tmp_path: Path) -> None:
    model, rows = fitted("dbscan")
    save(Model(model, Scaling.of(rows, "none")), tmp_path / "m")
    loaded = load(tmp_path / "m")
    np.testing.assert_array_equal(loaded.predict(rows), model.labels_)
    with pytest.raises(TypeError, match=r"estimator with predict_proba, got DBSCAN.*use predict"):
        loaded.predict_proba(rows)


@pytest.mark.parametrize("text", [b"[]", b'{"a": NaN}', b'{"a": 1, "a": 2}', b"[" * 100_000, b"{"])
def test_headers_that_are_not_sound_json(tmp_path: Path, text: bytes) -> None:
    content = MAGIC + struct.pack("<Q", len(text)) + _header_sum(text) + text
    (tmp_path / "m").write_bytes(content)
    with pytest.raises(ModelError, match="its header is not"):
        load(tmp_path / "m")


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
    subprocess.run([sys.executable, "-c", script, str(tmp_path / "m")], check=True)


def test_pipes_and_devices_are_written_to_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with ThreadPoolExecutor(1) as pool:
        reading = pool.submit(pipe.read_bytes)
        write_whole(pipe, [b"one ", b"two"])
        assert reading.result(timeout=30) == b"one two"
    assert pipe.is_fifo()
