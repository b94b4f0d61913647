"""save and load: the same model comes back, and nothing else does."""

from __future__ import annotations

import json
import pickle
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.cluster import KMeans as Other
from strategies import thorough

import coterie
from coterie import KMeans, Model, ModelError, describe, load, save
from coterie.data import Scaling, blobs, read_table
from coterie.models.container import MAGIC, _header_sum, pack
from coterie.models.schemas import SCHEMAS

X, _ = blobs(60, 3, 4, seed=1)


@pytest.fixture
def model() -> KMeans:
    return KMeans(3, n_init=2, random_state=0).fit(X)


def assert_same_model(a: Any, b: Any) -> None:
    """Parameters and every attribute of the schema, bit for bit."""
    assert str(a.get_params()) == str(b.get_params()).replace("np.float64(0.1)", "0.1").replace(
        "np.int64(7)", "7"
    )
    schema = next(s for s in SCHEMAS.values() if type(a) is s.estimator)
    for name in schema.attributes:
        assert hasattr(a, name) == hasattr(b, name), name
        if hasattr(a, name):
            assert_same(getattr(a, name), getattr(b, name))


def assert_same(a: Any, b: Any) -> None:
    assert type(a) is type(b)
    if isinstance(a, np.ndarray):
        assert a.dtype == b.dtype
        assert a.tolist() == b.tolist()
    elif isinstance(a, tuple):
        assert len(a) == len(b)
        for one, other in zip(a, b, strict=True):
            assert_same(one, other)
    elif hasattr(a, "__dataclass_fields__"):
        for name in a.__dataclass_fields__:
            assert_same(getattr(a, name), getattr(b, name))
    else:
        assert a == b


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
    fitted = KMeans(k, **options).fit(rows)
    path = tmp_path_factory.mktemp("models") / "m.coterie"
    save(fitted, path)
    loaded = load(path)
    assert_same_model(loaded, fitted)
    np.testing.assert_array_equal(loaded.predict(rows), fitted.labels_)


def test_names_arrays_and_what_belongs_to_the_fit_only(tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=["a", "b", "ü", "d"])
    events: list[Any] = []
    fitted = KMeans(3, init=X[:3], n_init=1, callback=events.append, trace=True).fit(frame)
    save(fitted, tmp_path / "m")
    loaded = load(tmp_path / "m")
    assert events
    assert loaded.feature_names_in_.tolist() == ["a", "b", "ü", "d"]
    np.testing.assert_array_equal(loaded.init, X[:3])
    assert loaded.callback is None
    assert not hasattr(loaded, "trace_")
    np.testing.assert_array_equal(loaded.predict(frame), fitted.labels_)
    np.testing.assert_array_equal(loaded.fit(frame).labels_, fitted.labels_)  # it can be refitted


def test_a_model_scales_and_chooses_columns_of_new_data(tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame(X * [1, 10, 100, 1000], columns=list("abcd"))
    frame.to_csv(tmp_path / "t.csv", index=False)
    data = read_table(tmp_path / "t.csv", columns=["d", "a"], scaling="standard")
    fitted = KMeans(3, random_state=0).fit(data.X)
    save(Model.of(fitted, data), tmp_path / "m")
    loaded = load(tmp_path / "m")
    assert loaded.columns == ("d", "a")
    assert loaded.provenance["source"] == str(tmp_path / "t.csv")
    np.testing.assert_array_equal(loaded.predict(frame), fitted.labels_)
    np.testing.assert_array_equal(loaded.predict(frame[["d", "a"]].to_numpy()), fitted.labels_)
    np.testing.assert_array_equal(loaded.predict(read_table(tmp_path / "t.csv")), fitted.labels_)
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
    header, arrays = json.loads(json.dumps(kept["h"])), dict(kept["a"])
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
        (lambda h, a: h["attributes"].update(history_=3), "history_ should be a list of records"),
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


def test_pickle_and_skops_work_too(model: KMeans) -> None:
    assert_same_model(pickle.loads(pickle.dumps(model)), model)
    skops = pytest.importorskip("skops.io")
    stored = skops.dumps(model)
    loaded = skops.loads(stored, trusted=skops.get_untrusted_types(data=stored))
    np.testing.assert_array_equal(loaded.predict(X), model.labels_)
