"""Tables of pyarrow as X: numbers are rows, and nothing else is taken for numbers."""

from __future__ import annotations

import datetime

import numpy as np
import pytest

from coterie import DBSCAN, KMeans

pa = pytest.importorskip("pyarrow")

DAY = datetime.datetime(2020, 1, 1)
REFUSED = {
    "timestamps": (pa.array([None, DAY, DAY]), "timestamp.*seconds since"),
    "dates": (pa.array([DAY.date()] * 3), "date32.*seconds since"),
    "durations": (pa.array([datetime.timedelta(1)] * 3), "duration.*seconds since"),
    "times of day": (pa.array([datetime.time(1)] * 3), "time64.*seconds since"),
    "months": (pa.array([(1, 2, 3)] * 3, pa.month_day_nano_interval()), "month.*seconds since"),
    "few times": (pa.array([DAY] * 3).dictionary_encode(), "timestamp.*seconds since"),
    "text": (pa.array(["1", "2", "3"]), "string values: expected numbers.*OneHotEncoder"),
    "few words": (pa.array(["1"] * 3).dictionary_encode(), "string.*OneHotEncoder"),
    "bytes": (pa.array([b"1"] * 3), "binary values: expected numbers"),
    "lists": (pa.array([[1, 2]] * 3), "list.*expected one number in each cell"),
    "records": (pa.array([{"u": 1}] * 3), "struct.*expected one number in each cell"),
}


@pytest.mark.parametrize("make", [pa.table, pa.record_batch])
@pytest.mark.parametrize("name", REFUSED)
def test_columns_of_something_else_are_named(name, make):
    column, says = REFUSED[name]
    for estimator in (KMeans(1), DBSCAN()):
        with pytest.raises(ValueError, match=f"column 't' of X holds .*{says}"):
            estimator.fit(make({"a": [1.0, 2.0, 3.0], "t": column}))


def test_numbers_of_every_type_are_rows():
    columns = {"a": [1.0, 2.0, 9.0], "b": [1, 2, 9], "c": [True, False, True]}
    X = np.column_stack(list(columns.values()))
    found, right = KMeans(2, random_state=0).fit(pa.table(columns)), KMeans(2, random_state=0)
    np.testing.assert_array_equal(found.cluster_centers_, right.fit(X).cluster_centers_)
    assert found.feature_names_in_.tolist() == ["a", "b", "c"]
