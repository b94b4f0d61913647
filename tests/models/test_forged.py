"""Files that are no models, or models that somebody has changed: load refuses each."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.forging import forged
from support.model_examples import X, fitted

from coterie import KMeans, Model, ModelError, describe, load
from coterie.data import Scaling
from coterie.models.container import MAGIC, _header_sum, pack


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", r"m: expected a model saved by coterie\.save, got an empty file"),
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
            lambda h, a: h["attributes"].update(_covariance_type="tied"),
            r"covariances_ of shape \(3, 4, 4\) are not of covariance_type='tied'.*\(4, 4\)",
        ),
        (
            "mixture-full",
            lambda h, a: h["attributes"].update(_covariance_type="round"),
            "its covariances are of the unknown type 'round'",
        ),
        (
            "kmeans",
            lambda h, a: h["attributes"].update(_metric="manhattan"),
            "its means are of the unknown metric 'manhattan'",
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
        ("dbscan", lambda h, a: a["kind_"].fill(1), "kind_ contradicts labels_ and core"),
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
            lambda h, a: a["_path/chain/height"].fill(0.0),
            "chain/height does not end in infinity",
        ),
        (
            "path",
            lambda h, a: a["_path/chain/height"].__setitem__(3, 0.0),
            "chain/height joins rows that are not core",
        ),
        (
            "path",
            lambda h, a: a["_path/near/member"].__setitem__(0, 0.0),
            "near/member contradicts the nearest core rows",
        ),
        (
            "path",
            lambda h, a: a["_path/near/core"].__setitem__(0, 0.0),
            "near/core is not the last of _path/near/sums",
        ),
        (
            "path",
            lambda h, a: a["_path/near/sums"].__setitem__((0, 0), 1.7e308),
            "near/sums do not ascend",
        ),
        (
            "path",
            lambda h, a: a["core_distances_"].__setitem__(0, 9.0),
            "core_distances_ are not those of its structure",
        ),
        (
            "path",
            lambda h, a: h["attributes"].update(_least_eps=1.0),
            "its smallest eps is 1.0",
        ),
        (
            "dbscan-weighted-columns",
            lambda h, a: a.update({"_metric_params/w": np.ones(3)}),
            r"_metric_params/w of shape \(3,\) are not those of 4 columns",
        ),
        (
            "kmeans",
            lambda h, a: h["attributes"].update(_exponent=2**70),
            "_exponent should be a whole number",
        ),
        (
            "kmeans",
            lambda h, a: h["attributes"].update(inertia_="nan"),
            "inertia_ should be a number of 0",
        ),
        ("kmeans", lambda h, a: h.update(bare=3), "says neither that its estimator is alone"),
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


@pytest.mark.parametrize("text", [b"[]", b'{"a": NaN}', b'{"a": 1, "a": 2}', b"[" * 100_000, b"{"])
def test_headers_that_are_not_sound_json(tmp_path: Path, text: bytes) -> None:
    content = MAGIC + struct.pack("<Q", len(text)) + _header_sum(text) + text
    (tmp_path / "m").write_bytes(content)
    with pytest.raises(ModelError, match="its header is not"):
        load(tmp_path / "m")


@pytest.mark.parametrize("value", [b"[],", b'{"":0},', b'"ab",'])
def test_a_header_that_would_fill_the_memory_is_refused_before_it_is_parsed(
    tmp_path: Path, value: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("coterie.models.container.MAX_PARSED", 10_000)
    text = b'{"arrays": [' + value * 1000 + b"0]}"
    content = MAGIC + struct.pack("<Q", len(text)) + _header_sum(text) + text
    (tmp_path / "m").write_bytes(content)
    for read in (load, describe):
        with pytest.raises(ModelError, match=r"its header of \S+ bytes would take \S+ in memory"):
            read(tmp_path / "m")
    with pytest.raises(ModelError, match=r"10,000 in memory, got .*; leave out provenance"):
        list(pack({"provenance": {"words": ["ab"] * 1000}}, {}))
