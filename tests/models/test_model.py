"""models/model.py: an estimator, and the preparation of its data."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.model_examples import X, fitted

from coterie import KMeans, Model, load, save
from coterie.data import Scaling, read_table


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


def test_a_column_that_is_there_twice_is_an_error_that_names_it() -> None:
    pd = pytest.importorskip("pandas")
    model = Model(KMeans(3, random_state=0).fit(X), columns=("a", "b", "c", "d"))
    frame = pd.DataFrame(X, columns=list("abcd"))
    labels = model.estimator.labels_
    np.testing.assert_array_equal(model.predict(frame[list("dcba")]), labels)
    more = frame.assign(e=0.0)
    np.testing.assert_array_equal(model.predict(more[["e", *"abcde"]]), labels)  # not one of ours
    two = pd.concat([frame[["b"]].rename(columns={"b": "a"}), frame], axis=1)
    with pytest.raises(ValueError, match=r"once, got 2 columns named 'a' in these data; rename"):
        model.predict(two)
    twice = Model(model.estimator, columns=("a", "a", "c", "d"))
    with pytest.raises(ValueError, match=r"got 2 columns named 'a' in the data of the fit"):
        twice.predict(frame)
    np.testing.assert_array_equal(twice.predict(X), labels)
    same = frame.set_axis(list("aacd"), axis=1)
    np.testing.assert_array_equal(twice.predict(same), labels)  # the very columns of the fit


def test_questions_that_a_model_cannot_answer_are_errors(tmp_path: Path) -> None:
    model, rows = fitted("dbscan")
    save(Model(model, Scaling.of(rows, "none")), tmp_path / "m")
    loaded = load(tmp_path / "m")
    np.testing.assert_array_equal(loaded.predict(rows), model.labels_)
    with pytest.raises(TypeError, match=r"estimator with predict_proba, got DBSCAN.*use predict"):
        loaded.predict_proba(rows)
