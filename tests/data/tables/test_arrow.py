"""Parquet, Arrow and JSON lines: the numbers of pyarrow, in one C-ordered array."""

from __future__ import annotations

import decimal
import json
import pickle
import struct
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.data_files import table, written

from coterie.data import DataError, read_table
from coterie.data.tables.arrow_footer import unpacked_size

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
feather = pytest.importorskip("pyarrow.feather")

WRITERS = {"parquet": parquet.write_table, "arrow": feather.write_feather}


@pytest.fixture(params=WRITERS)
def write(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    def to_file(columns: Any, **options: Any) -> Path:
        path = tmp_path / f"t.{request.param}"
        WRITERS[request.param](columns, str(path), **options)
        return path

    return to_file


def test_floats_become_one_c_ordered_array(write: Any) -> None:
    columns = table(200_000, 3)
    data = read_table(write(columns))
    np.testing.assert_array_equal(data.X, np.column_stack([c.to_numpy() for c in columns.columns]))
    assert data.X.dtype == np.float64
    assert data.X.flags.c_contiguous
    assert data.X.flags.writeable
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(data.X)), data.X)
    assert data.columns == ("a", "b", "c")
    assert data.provenance["rows"] == 200_000


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        (np.arange(5, dtype=np.float32), "float32"),
        (np.arange(5, dtype=np.float16), "float32"),
        (np.arange(5, dtype=np.int8), "float64"),
        (np.arange(5, dtype=np.uint64), "float64"),
        (pa.array([1, 2, 3, 4, 5]).cast(pa.decimal128(25, 2)), "float64"),
    ],
    ids=["float32", "float16", "int8", "uint64", "decimal"],
)
def test_numbers_of_every_type(write: Any, values: Any, dtype: str) -> None:
    data = read_table(write(pa.table({"x": values})))
    np.testing.assert_array_equal(data.X[:, 0], np.asarray(values, dtype=np.float64))
    assert data.X.dtype == dtype


TYPES_OF_DECIMALS = [
    pa.decimal128(38, 2),
    pa.decimal128(20, 7),
    pa.decimal256(76, 1),
    pa.decimal256(76, 40),
]


@pytest.mark.parametrize("kind", TYPES_OF_DECIMALS, ids=str)
def test_decimals_are_rounded_once(write: Any, kind: Any) -> None:
    digits = "".join(map(str, np.random.default_rng(0).integers(0, 10, 1000)))
    with decimal.localcontext(prec=100):  # of every length
        lengths = [i % kind.precision + 1 for i in range(300)]
        values = [
            decimal.Decimal(digits[3 * i : 3 * i + n]).scaleb(-kind.scale)
            for i, n in enumerate(lengths)
        ]
    values += [decimal.Decimal("3.1"), -values[7], None]
    path = write(pa.table({"x": pa.array(values, kind)}))
    right = [np.nan if v is None else float(v) for v in values]
    np.testing.assert_array_equal(read_table(path, missing="keep").X[:, 0], right)


def test_whole_numbers_as_ids_stay_whole_where_some_are_missing(write: Any) -> None:
    path = write(table(3, 1, key=pa.array([2**53 + 1, None, 7])))
    assert read_table(path, ids="key").ids["key"].tolist() == [2**53 + 1, None, 7]


@pytest.mark.parametrize("cut", [1, 7, 40])
def test_rows_and_ids_are_converted_piece_by_piece(
    write: Any, monkeypatch: pytest.MonkeyPatch, cut: int
) -> None:
    names = [f"r{i % 3}" for i in range(40)]
    columns = table(
        40, 2, few=pa.array(names).dictionary_encode(), name=names, n=[None, *range(39)]
    )
    path = write(columns)
    monkeypatch.setattr("coterie.data.tables.fill_rows.MOST_ROWS", cut)
    for ids in ("few", "name"):
        data = read_table(path, ids=ids, columns=["a", "b", "n"], missing="keep")
        np.testing.assert_array_equal(data.X, np.column_stack([columns[c] for c in "abn"]))
        assert data.ids[ids].tolist() == names


def test_texts_times_and_booleans_left_out_are_in_the_provenance(write: Any) -> None:
    columns = table(
        4,
        1,
        name=["u", "v", "w", "x"],
        when=pa.array([0, 1, 2, 3], pa.timestamp("us")),
        ok=[True, False, True, True],
    )
    path = write(columns)
    data = read_table(path, ids="name")
    assert data.columns == ("a",)
    assert data.ids["name"].tolist() == ["u", "v", "w", "x"]
    assert data.provenance["columns_left_out"] == {"when": "timestamp[us]", "ok": "truth"}
    np.testing.assert_array_equal(read_table(path, columns=["ok"]).X[:, 0], [1, 0, 1, 1])
    with pytest.raises(DataError, match=r"numbers in column 'when', got timestamp\[us\]"):
        read_table(path, columns=["when"])


def test_gaps_in_integers_and_floats_are_counted(write: Any) -> None:
    path = write(pa.table({"n": [1, None, 3], "x": [0.5, None, None]}))
    with pytest.raises(
        DataError, match=r"3 missing in 2 of 3 rows, the first in row 1, column 'n'"
    ):
        read_table(path)
    np.testing.assert_array_equal(read_table(path, missing="drop").X, [[1, 0.5]])


def use_threads(monkeypatch: pytest.MonkeyPatch, n_threads: int) -> None:
    for module in ("fill_rows", "arrow"):
        monkeypatch.setattr(f"coterie.data.tables.{module}.threads", lambda: n_threads)


@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_parts_read_by_several_threads_are_in_order(
    tmp_path: Path, n_threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_threads(monkeypatch, n_threads)
    columns = table(100_003, 3, name=[f"r{i}" for i in range(100_003)])
    parquet.write_table(columns, tmp_path / "t.parquet", row_group_size=7_000)
    feather.write_feather(columns, str(tmp_path / "t.arrow"), chunksize=7_000)
    right = np.column_stack([columns[c].to_numpy() for c in "abc"])
    for kind in WRITERS:
        data = read_table(tmp_path / f"t.{kind}", ids="name")
        np.testing.assert_array_equal(data.X, right)
        assert data.ids["name"].tolist() == columns["name"].to_pylist()


@pytest.mark.parametrize("n_threads", [2, 3, 8])
def test_few_row_groups_of_several_batches(
    tmp_path: Path, n_threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_threads(monkeypatch, n_threads)
    monkeypatch.setattr("coterie.data.tables.fill_rows.LEAST_ROWS", 1000)
    monkeypatch.setattr("coterie.data.tables.fill_rows.BATCH_BYTES", 1000)
    columns = table(20_003, 5, name=[f"r{i}" for i in range(20_003)])
    right = np.column_stack([columns[c].to_numpy() for c in "abcde"])
    before = threading.active_count()
    path = tmp_path / "t.parquet"
    for size in (15_000, 30_000):
        parquet.write_table(columns, path, row_group_size=size, use_dictionary=False)
        data = read_table(path, ids="name")
        np.testing.assert_array_equal(data.X, right)
        assert data.ids["name"].tolist() == columns["name"].to_pylist()
        assert read_table(path, columns=["d"], ids="d").ids["d"].tolist() == right[:, 3].tolist()
    content = bytearray(path.read_bytes())
    place = parquet.ParquetFile(path).metadata.row_group(0).column(4).data_page_offset
    content[place : place + 30] = bytes(30)
    with pytest.raises(DataError, match="expected a complete parquet file, but it cannot be read"):
        read_table(written(path, bytes(content)))
    assert threading.active_count() == before


@pytest.mark.parametrize("kind", WRITERS)
def test_gaps_and_infinities_in_any_part_are_found(tmp_path: Path, kind: str) -> None:
    X = np.random.default_rng(0).normal(size=(50_000, 2))
    X[31_234, 1] = np.nan
    options = {"parquet": {"row_group_size": 4000}, "arrow": {"chunksize": 4000}}[kind]
    path = str(tmp_path / "t")
    WRITERS[kind](pa.table({"a": X[:, 0], "b": X[:, 1]}), path, **options)
    with pytest.raises(DataError, match=r"1 missing in 1 of 50,000 rows, the first in row 31234"):
        read_table(path)
    np.testing.assert_array_equal(read_table(path, missing="keep").X, X)
    X[45_678, 0] = -np.inf
    WRITERS[kind](pa.table({"a": X[:, 0], "b": X[:, 1]}), path, **options)
    with pytest.raises(DataError, match=r"got infinity in row 45678, column 'a'"):
        read_table(path)
    X[[31_234, 45_678]] = 1e308  # finite, though their sums are not
    WRITERS[kind](pa.table({"a": X[:, 0], "b": X[:, 1]}), path, **options)
    np.testing.assert_array_equal(read_table(path).X, X)


def test_an_error_in_one_part_ends_the_others(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    parquet.write_table(table(60_000), path, row_group_size=1000, use_dictionary=False)
    metadata = parquet.ParquetFile(path).metadata
    content = bytearray(path.read_bytes())
    place = metadata.row_group(20).column(1).data_page_offset
    content[place : place + 30] = bytes(30)
    before = threading.active_count()
    with pytest.raises(DataError, match="expected a complete parquet file, but it cannot be read"):
        read_table(written(path, bytes(content)))
    assert threading.active_count() == before


@pytest.mark.parametrize("kind", WRITERS)
def test_files_that_are_cut_off(tmp_path: Path, kind: str) -> None:
    whole = tmp_path / "whole"
    WRITERS[kind](table(1000), str(whole))
    content = whole.read_bytes()
    for length in (8, 100, len(content) // 2, len(content) - 1):
        with pytest.raises(DataError, match=r"cut\.\w+: expected a complete \w+ file"):
            read_table(written(tmp_path / f"cut.{kind}", content[:length]))


def test_a_file_of_repeats_is_refused_by_its_expansion(tmp_path: Path) -> None:
    path = tmp_path / "flat.parquet"
    parquet.write_table(pa.table({"x": np.zeros(5_000_000)}), path)
    assert path.stat().st_size < 40_000
    with pytest.raises(DataError, match=r"100 bytes in memory per byte .* max_expansion=\d+"):
        read_table(path)
    assert read_table(path, max_expansion=1e5).X.shape == (5_000_000, 1)
    with pytest.raises(DataError, match=r"at most 1\.0 MB .*5,000,000 rows of 1 columns"):
        read_table(path, max_expansion=1e5, max_memory="1 MB")


@pytest.mark.parametrize("compression", ["uncompressed", "lz4", "zstd"])
@pytest.mark.parametrize("rows", [1, 1000, 70_000])
def test_the_unpacked_size_of_an_arrow_file_is_known_before(
    tmp_path: Path, compression: str, rows: int
) -> None:
    path = tmp_path / "t.arrow"
    words = pa.array([f"word {i % 7}" for i in range(rows)]).dictionary_encode()
    columns = table(rows, 2, s=words, gaps=pa.array([None, *range(rows - 1)], pa.int32()))
    feather.write_feather(columns, str(path), compression=compression, chunksize=30_000)
    found = unpacked_size(path)
    if compression == "uncompressed":
        assert found == 0
    else:  # up to padding, and marks of gaps in batches that have none
        assert abs(found - columns.nbytes) <= 0.02 * columns.nbytes + 1000


FUZZ = """
import json, sys, numpy as np
from pathlib import Path
from coterie.data import DataError, read_table
refused = {}
for place, names in json.loads(sys.argv[1]).items():
    print(place, file=sys.stderr, flush=True)  # the last one named is the one that crashed
    whole, path = Path(place).read_bytes(), Path(place + ".damaged")
    random = np.random.default_rng(0)
    errors = 0
    for number in range(150):
        damaged = bytearray(whole)
        for at in random.integers(0, len(whole), 3):
            damaged[at] = random.choice([0, 127, 255, random.integers(256)])
        path.write_bytes(damaged)
        ids = names[number % len(names)]
        try:
            data = read_table(path, ids=ids, max_memory="50 MB", missing="keep")
            assert data.X.ndim == 2
            assert ids is None or len(list(map(str, data.ids[ids]))) == len(data.X)
        except DataError as error:
            assert "expected" in str(error), error
            errors += 1
    refused[Path(place).name] = errors
print(json.dumps(refused))
"""


def numbers_in_every_format(folder: Path) -> list[Path]:
    np.save(folder / "t.npy", np.zeros((5, 3)))
    (folder / "t.json").write_text('{"a": 1.5, "b": 2}\n{"a": 2.5, "b": 3}\n')
    for kind, write in WRITERS.items():
        write(table(40), str(folder / f"t.{kind}"))
    return sorted(folder.glob("t.*"))


def texts_in_every_layout(folder: Path) -> tuple[list[Path], list[str]]:
    """Files with columns of texts, stored in several ways, and the names of these columns."""
    names = [f"x{i}" for i in range(300)]
    texts = {
        "short": names,
        "long": pa.array(names, pa.large_string()),
        "few": pa.array([f"w{i % 5}" for i in range(300)]).dictionary_encode(),
        "lists": pa.array([[i] * (i % 3) for i in range(300)]),
    }
    gaps = pa.array([None if i % 7 == 0 else i for i in range(300)], pa.int32())
    columns = table(300, 1, gaps=gaps, price=gaps.cast(pa.decimal128(20, 2)), **texts)
    parquet.write_table(columns, folder / "texts.pq", use_dictionary=False, compression="NONE")
    for compression in ("uncompressed", "lz4"):
        path = str(folder / f"texts.{compression}")
        feather.write_feather(columns, path, compression=compression, chunksize=100)
    return sorted(folder.glob("texts.*")), list(texts)


def test_damaged_files_never_crash(tmp_path: Path) -> None:
    with_texts, names = texts_in_every_layout(tmp_path)
    files = {str(path): [None] for path in numbers_in_every_format(tmp_path)}
    files |= {str(path): names for path in with_texts}  # type: ignore[misc]
    command = [sys.executable, "-c", FUZZ, json.dumps(files)]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr[-2000:]
    refused = json.loads(result.stdout)
    assert len(refused) == len(files) == 4 + 3
    assert min(refused.values()) > 20, refused


def test_texts_that_point_beyond_their_file_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.arrow"
    columns = table(300, 1, name=[f"x{i}" for i in range(300)])
    feather.write_feather(columns, str(path), compression="uncompressed")
    whole = path.read_bytes()
    place = whole.index(struct.pack("<4i", 0, 2, 4, 6)) + 4 * 150
    for first, last in ((5000, 9000), (-4096, -96)):
        content = whole[:place] + struct.pack("<2i", first, last) + whole[place + 8 :]
        with pytest.raises(DataError, match=r"complete arrow file.*offset.*slot 150"):
            read_table(written(path, content), ids="name")


def test_json_lines(tmp_path: Path) -> None:
    path = written(tmp_path / "t.jsonl", '{"a": 1, "s": "x"}\n{"s": "y", "a": 2.5}\n')
    data = read_table(path, ids="s")
    np.testing.assert_array_equal(data.X, [[1], [2.5]])
    assert data.ids["s"].tolist() == ["x", "y"]


@pytest.mark.parametrize("last", ['{"a": 0.5}', '{"b": 3, "a": 0.5}', '{"b": "x", "a": 0.5}'])
def test_json_lines_that_change_far_below(tmp_path: Path, last: str) -> None:
    above = "".join(f'{{"a": {i}}}\n' for i in range(100_000))  # more than a block
    data = read_table(written(tmp_path / "t.jsonl", above + last), columns=["a"])
    np.testing.assert_array_equal(data.X, np.append(np.arange(100_000), 0.5)[:, np.newaxis])


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"a": 1}\n{"a": 2\n', "complete json file, but it cannot be read"),
        ('{"a": 1}\n{"a": "x"}\n', "got numbers and then a string in object 2"),
        ('{"a": 1, "b": 2}\n{"b": 2}\n', "1 missing in 1 of 2 rows, the first in object 2, column"),
        ('{"a": {"b": 1}}\n', r"at least one column of numbers, got 'a' \(struct"),
    ],
)
def test_broken_json_lines(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(DataError, match=says):
        read_table(written(tmp_path / "t.jsonl", text))


@pytest.mark.parametrize("d", [1, 2, 3, 5])
@pytest.mark.parametrize("ids", [None, "name"])
def test_few_row_groups_are_shared_out_by_columns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, d: int, ids: str | None
) -> None:
    monkeypatch.setattr("coterie.data.tables.arrow.threads", lambda: 4)
    names = [f"r{i}" for i in range(50)]
    rows = table(50, d, name=names)
    for groups in (1, 2, 7):
        parquet.write_table(rows, tmp_path / "t.parquet", row_group_size=-(-50 // groups))
        data = read_table(tmp_path / "t.parquet", ids=ids)
        np.testing.assert_array_equal(data.X, np.column_stack([rows.column(j) for j in range(d)]))
        assert ids is None or data.ids["name"].tolist() == names


def test_row_numbers_of_pandas_are_no_column_of_x(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"x": [1.5, 2.5, 3.5]}, index=[7, 3, 5])
    frame.to_parquet(tmp_path / "t.parquet")
    data = read_table(tmp_path / "t.parquet")
    assert data.columns == ("x",)
    assert data.provenance["columns_left_out"] == {"__index_level_0__": "row number"}
    named = read_table(tmp_path / "t.parquet", ids="__index_level_0__")
    assert named.ids["__index_level_0__"].tolist() == [7, 3, 5]


def test_a_large_description_of_columns_is_refused_before_it_is_parsed(tmp_path: Path) -> None:
    content = b"PAR1" + bytes(1_000_000) + (1_000_000).to_bytes(4, "little") + b"PAR1"
    with pytest.raises(DataError, match=r"description of its columns, which need 40\.0 MB"):
        read_table(written(tmp_path / "t.parquet", content), max_memory="30 MB")
