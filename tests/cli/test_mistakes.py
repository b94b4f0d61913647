"""Mistakes of every kind: the exit code, and a message with a remedy."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from support import data_files

from cli.conftest import Run

METHODS = ("kmeans", "mixture", "dbscan", "cluster", "choose", "compare", "info")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["kmeans"], "Missing argument 'INPUT'"),
        (["kmenas", "moons"], "expected a command, got 'kmenas'; did you mean 'kmeans'?"),
        (["Plots", "moons"], "did you mean 'plot'?"),
        (["help"], "did you mean '--help'?"),
        (["xyz"], "there are cluster, kmeans, mixture"),
        (["kmeans", "moons", "--scalling", "none"], "--scaling"),
        (["kmeans", "moons", "--cluster-count", "3"], "No such option"),
        (["kmeans", "moons", "-k", "0"], "expected a whole number of 1 or more, got '0'"),
        (["kmeans", "moons", "-k", "two"], "expected a whole number of 1 or more, got 'two'"),
        (["dbscan", "moons", "--eps", "0"], "expected a number above 0, got '0'"),
        (["dbscan", "moons", "--eps", "inf"], "expected a number above 0, got 'inf'"),
        (["dbscan", "moons", "--eps", "near"], "expected a number above 0, got 'near'"),
        (["kmeans", "moons", "--seed", "-1"], "expected a whole number from 0 to 4294967295"),
        (["kmeans", "moon"], "found no 'moon'; did you mean 'moons'?"),
        (["kmeans", "nothing.csv"], "expected a file, a folder, - for stdin or a toy set"),
        (["kmeans", "moons", "-o", "labels.txt"], "expected --output to end in .csv"),
        (["kmeans", "moons", "-o", "no/labels.csv"], "found none at 'no'; create it first"),
        (["kmeans", "moons", "-o", "."], "expected a file to write, got the folder '.'"),
        (["kmeans", "moons", "--plot", "moons.bmp"], "expected a name ending in .png"),
        (["kmeans", "moons", "--patch", "8"], "--patch is for pictures and videos, and moons is"),
        (["kmeans", "moons", "--columns", "a,,b"], "expected names or positions as a,b,c"),
        (["kmeans", "paper-round:5"], "has its own number of rows"),
        (["choose", "moons", "-k", "8-2"], "expected numbers of clusters as 8, 2-8 or 2,4,8"),
        (["choose", "moons", "-k", "0-3"], "got '0-3'"),
        (["choose", "moons", "-k", "2..8"], "expected numbers of clusters as 8, 2-8 or 2,4,8"),
        (["choose", "moons", "--criterion", "bic"], "expected --criterion out of auto, silhouette"),
        (["choose", "moons", "--method", "dbscan", "-k", "3"], "are for k-means and mixtures"),
        (["choose", "moons", "--metric", "cosine"], "--metric is for --method dbscan"),
        (["predict", "none.coterie", "moons"], "found no file 'none.coterie'"),
        (["plot", "moons", "-o", "x.png", "--axes", "x,z"], "one or two of x, y, by name or by"),
        (["plot", "moons", "-o", "x.png", "--axes", "0,9"], "got 0,9"),
        (["kmeans", "lake", "--position", "0.5"], "--position is for pixels; add --pixels"),
        (["kmeans", "lake", "--pixels", "--patch", "4"], "expected --patch or --pixels, got both"),
        (["kmeans", "moons", "--stop-words", "latin"], "'latin' is not"),
        (["plot", "moons"], "Missing option '-o' / '--output'"),
        (["plot", "moons", "moons", "-o", "x.png"], "expected a saved model before DATA"),
        (["figures", "--output", "no/where"], "expected an existing folder around"),
        (["figures", "--only", "9"], "'9' is not one of"),
        (["demo", "--picture", "nowhere.jpg"], "'nowhere.jpg' does not exist"),
        (["demo", "--output", "demo.txt"], "expected a name ending in .png"),
    ],
)
def test_wrong_usage_ends_with_2_before_any_work(run: Run, arguments: list[str], says: str) -> None:
    result = run(*arguments)
    assert result.code == 2, result.err
    assert result.out == ""
    assert says in result.told
    assert not list(Path().iterdir())


def test_errors_name_the_input_as_it_was_given(run: Run) -> None:
    result = run("kmeans", "lake", "--patch", 999)  # a file of the package behind that name
    assert result.code == 1
    assert result.err.startswith("coterie: lake: expected a patch size from 1 pixel to the whole")


def test_the_input_is_never_overwritten(run: Run, flowers: Path) -> None:
    before = flowers.read_bytes()
    for option in ("--output", "--save"):
        result = run("kmeans", flowers, "-k", 2, option, flowers)
        assert result.code == 2
        assert "is the input and would be lost" in result.err
    assert flowers.read_bytes() == before
    run("kmeans", flowers, "-k", 2, "--save", "m.csv")
    assert run("predict", "m.csv", flowers, "-o", "m.csv").code == 2
    assert run("info", "m.csv").code == 0


def test_one_file_is_not_written_twice(run: Run) -> None:
    result = run("kmeans", "moons", "-k", 2, "-o", "one.csv", "--save", "./one.csv")
    assert result.code == 2
    assert "expected different files for labels, picture and model, got 'one.csv'" in result.told


def bad_files(folder: Path) -> dict[str, tuple[Path, str]]:
    """Write each kind of bad file, with the start of its message."""
    pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    good = folder / "good.parquet"
    pq.write_table(data_files.table(), good)
    array = folder / "good.npy"
    np.save(array, np.zeros((100, 3)))
    lying = array.read_bytes().replace(b"(100, 3)", b"(999, 3)")
    tones = data_files.wav(np.zeros(4000))
    write = data_files.written
    return {
        "empty": (write(folder / "empty.csv", ""), "empty file"),
        "ragged": (write(folder / "ragged.csv", "a,b,c\n1,2,3\n4,5\n"), "line 3"),
        "words": (write(folder / "words.csv", "a,b\nx,y\nz,w\n"), "at least one column of numbers"),
        "two readings": (write(folder / "two.csv", "a;b\n1.234;1,5\n2.345;2,5\n"), "got 2:"),
        "infinite": (write(folder / "inf.csv", "a,b\n1,2\ninf,3\n"), "column 'a', got 'inf'"),
        "only a header": (write(folder / "header.csv", "a,b\n"), "rows of numbers below"),
        "truncated table": (write(folder / "t.parquet", good.read_bytes()[:700]), "t.parquet"),
        "truncated array": (write(folder / "t.npy", array.read_bytes()[:200]), "t.npy"),
        "lying array": (write(folder / "lying.npy", lying), "lying.npy"),
        "objects": (write(folder / "o.npy", array.read_bytes().replace(b"<f8", b"|O ")), "o.npy"),
        "truncated picture": (write(folder / "t.png", b"\x89PNG\r\n\x1a\n" + b"\0" * 40), "t.png"),
        "truncated sound": (write(folder / "t.wav", tones[:20]), "t.wav"),
        "truncated video": (write(folder / "t.mp4", b"\0\0\0\x18ftypmp42" + b"\0" * 64), "t.mp4"),
        "unknown": (write(folder / "x.bin", b"\1\0\2\0" * 99), "expected a table, picture, video"),
        "no texts": ((folder / "folder"), "folder"),
    }  # fmt: skip


KINDS = ("empty", "ragged", "words", "two readings", "infinite", "only a header",
         "truncated table", "truncated array", "lying array", "objects", "truncated picture",
         "truncated sound", "truncated video", "unknown", "no texts")  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_bad_files_end_with_1_and_one_line(run: Run, tmp_path: Path, kind: str) -> None:
    (tmp_path / "folder").mkdir()
    path, says = bad_files(tmp_path)[kind]
    for method in ("kmeans", "info"):
        result = run(method, path)
        assert result.code == 1, result.err
        assert result.out == ""
        assert result.err.startswith("coterie: ")
        assert len(result.err.splitlines()) == 1
        assert says in result.err
        assert path.name in result.err


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission(run: Run, flowers: Path) -> None:
    flowers.chmod(0)
    result = run("kmeans", flowers, "-k", 2)
    assert result.code == 1
    assert "permission denied" in result.err


def test_more_clusters_than_rows(run: Run, tmp_path: Path) -> None:
    data_files.written(tmp_path / "few.csv", "a,b\n1,2\n3,4\n5,6\n")
    result = run("kmeans", "few.csv", "-k", 8)
    assert result.code == 1
    assert "Use -k 3 or fewer" in result.err


def test_a_model_that_is_none(run: Run, flowers: Path) -> None:
    result = run("predict", flowers, flowers)
    assert result.code == 1
    assert "expected a model saved by coterie.save" in result.err


def test_messages_speak_of_options(run: Run, tmp_path: Path) -> None:
    data_files.written(tmp_path / "gaps.csv", "a,b\n1,2\n,4\n")
    said = run("kmeans", "gaps.csv", "-k", 1).err
    assert "pass --missing drop to leave those rows out" in said
    assert "missing=" not in said
    data_files.written(tmp_path / "two.csv", "a;b\n1.234;1,5\n2.345;2,5\n")
    assert "--separator ';'" in run("kmeans", "two.csv").err
    data_files.written(tmp_path / "bare.csv", "p,1\nq,2\nr,3\n")
    assert "pass --header if it has names, --no-header if it is data" in run("info", "bare.csv").err
    data_files.written(tmp_path / "few.csv", "a,b\n1,2\n3,4\n5,6\n")
    assert (
        "one row per cluster, got 3 rows for 8 clusters. Use -k 3"
        in run("kmeans", "few.csv", "-k", 8).err
    )
    assert "from 1 to 3, the number of rows" in run("choose", "few.csv", "-k", 8).err


def test_options_of_csv_and_npz_files_are_for_no_other_tables(run: Run, flowers: Path) -> None:
    np.save("rows.npy", np.eye(3))
    data_files.written(Path("rows.json"), '[{"a": 1}, {"a": 2}]')
    data_files.written(Path("rows.jsonl"), '{"a": 1}\n{"a": 2}\n')
    for option, path, says in (
        ("--separator=;", "rows.npy", "--separator is for CSV files, and rows.npy is none"),
        ("--decimal=,", "rows.json", "--decimal is for CSV files, and rows.json is none"),
        ("--no-header", "rows.jsonl", "--header is for CSV files, and rows.jsonl is none"),
        ("--array=x", flowers, "--array is for NPZ files"),
    ):
        result = run("kmeans", path, "-k", 2, option)
        assert result.code == 2
        assert says in result.told


def test_a_mixture_of_texts_says_how_to_reduce_them(run: Run, texts: Path) -> None:
    for command in (["mixture", texts], ["choose", texts, "--method", "mixture"]):
        result = run(*command)
        assert result.code == 2
        assert "a mixture needs few columns" in result.told
        assert "--components 8" in result.told
    assert run("mixture", texts, "-k", 2, "--components", 3).code == 0


def test_a_model_refuses_data_of_another_kind(
    run: Run, flowers: Path, flag: Path, texts: Path, film: Path
) -> None:
    run("kmeans", flowers, "-k", 2, "--save", "table.coterie")
    run("kmeans", flag, "-k", 2, "--save", "picture.coterie")
    run("kmeans", film, "-k", 2, "--every", 1, "--save", "film.coterie")
    run("kmeans", texts, "-k", 2, "--save", "texts.coterie")
    for model, data, says in (
        ("table", flag, "expected a table, as the model was fitted to, and"),
        ("picture", flowers, "expected a picture or video, as the model"),
        ("texts", flag, "expected a text, as the model was fitted to"),
    ):
        result = run("predict", f"{model}.coterie", data)
        assert result.code == 2
        assert says in result.told
    assert run("predict", "film.coterie", flag).code == 0  # a picture is a frame
    data_files.written(Path("new.txt"), "cats purr\nzebras gallop\n")
    unknown = run("predict", "texts.coterie", "new.txt")
    assert unknown.code == 1
    assert "1 of 2 without any, the first 2; leave them out" in unknown.told


def test_distances_on_a_globe_need_two_columns(run: Run, tmp_path: Path) -> None:
    data_files.written(tmp_path / "three.csv", "a,b,c\n" + "1,2,3\n" * 9)
    result = run("dbscan", "three.csv", "--metric", "haversine")
    assert result.code == 1
    assert "--metric haversine expects two, latitude and longitude" in result.told
