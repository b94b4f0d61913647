"""kmeans, mixture, dbscan: every kind of input and of output, and the sentences about them."""

from __future__ import annotations

import io
import json
import re
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support import data_files

from cli.conftest import Run
from coterie import KMeans, choose_k, load, read
from coterie.cli.methods import TABLE
from coterie.cli.run import fit
from coterie.data import blobs


def test_labels_go_to_stdout_and_words_to_stderr(run: Run, flowers: Path) -> None:
    result = run("kmeans", flowers, "-k", 2)
    assert result.code == 0
    assert result.out.splitlines()[0] == "row,cluster"
    labels = [int(cluster) for _, cluster in result.rows]
    X = read(flowers).X
    assert labels == KMeans(2, n_init=4, random_state=0).fit(X).labels_.tolist()
    assert "40 rows of 2 columns; not used: name (text), sort (text)" in result.told
    assert "2 clusters, clustering error" in result.err
    assert "\x1b" not in result.out + result.err


def test_ids_name_the_rows_and_columns_are_chosen(run: Run, flowers: Path) -> None:
    result = run("kmeans", flowers, "-k", 2, "--ids", "name", "--columns", "width", "-q")
    assert result.err == ""
    assert result.rows[0][0] == "f0"
    X = read(flowers, columns=["width"]).X
    labels = KMeans(2, n_init=4, random_state=0).fit(X).labels_
    assert [int(cluster) for _, cluster in result.rows] == labels.tolist()


@pytest.mark.parametrize("form", ["csv", "parquet", "npy", "json", "jsonl"])
def test_every_format_holds_the_same_labels(run: Run, flowers: Path, form: str) -> None:
    if form == "parquet":
        pytest.importorskip("pyarrow")
    plain = [int(cluster) for _, cluster in run("kmeans", flowers, "-k", 2, "-q").rows]
    assert run("kmeans", flowers, "-k", 2, "-q", "-o", f"labels.{form}").out == ""
    stored = Path(f"labels.{form}").read_bytes()
    assert labels_of(stored, form) == plain
    piped = run("kmeans", flowers, "-k", 2, "-q", "--format", form).bytes
    assert labels_of(piped, form) == plain
    again = run("kmeans", f"labels.{form}", "-k", 2, "-q")  # labels can be read again
    assert len(again.rows) == len(plain), again.err


def labels_of(stored: bytes, form: str) -> list[int]:
    if form == "npy":
        return np.load(io.BytesIO(stored)).tolist()
    if form == "parquet":
        import pyarrow.parquet as pq

        return pq.read_table(io.BytesIO(stored))["cluster"].to_pylist()
    if form == "json":
        return [row["cluster"] for row in json.loads(stored)]
    if form == "jsonl":
        return [json.loads(line)["cluster"] for line in stored.splitlines()]
    return [int(line.split(b",")[1]) for line in stored.splitlines()[1:]]


def test_stdin_is_read_and_named(run: Run, flowers: Path) -> None:
    result = run("kmeans", "-", "-k", 2, stdin=flowers.read_bytes())
    assert result.code == 0
    assert len(result.rows) == 40
    assert "standard input: 40 rows" in result.err
    bad = run("kmeans", "-", "-k", 2, stdin=b"a,b,c\n1,2,3\n4,5\n")
    assert bad.code == 1
    assert bad.err.startswith("coterie: standard input: ")
    assert "coterie-" not in bad.err  # no name of a file that nobody knows


def test_a_picture_by_patches_and_by_pixels(run: Run, flag: Path) -> None:
    result = run("kmeans", flag, "--patch", 4, "-k", 3)
    assert result.out.splitlines()[0] == "top,left,cluster"
    assert len(result.rows) == 48
    for name in ("white", "deep blue", "red"):
        line = next(line for line in result.err.splitlines() if line.endswith(f" {name}"))
        assert " 16 " in line
        assert "33.3%" in line
    assert "768 pixels of 3 columns" in run("kmeans", flag, "--pixels", "-k", 3).err


def test_a_sound_falls_into_its_tones(run: Run, sound: Path) -> None:
    result = run("kmeans", sound, "-k", 2)
    assert result.out.splitlines()[0] == "start,end,cluster"
    clusters = [row[2] for row in result.rows]
    assert clusters[0] != clusters[-1]
    assert "frames of 26 columns" in result.told


def test_texts_are_told_by_their_words(run: Run, texts: Path) -> None:
    result = run("kmeans", texts, "-k", 2)
    assert result.code == 0
    assert any("cats, purr" in line or "purr, cats" in line for line in result.err.splitlines())
    assert run("kmeans", texts.parent, "-k", 1, "-q").code == 0  # a folder of texts


def test_a_video_by_frames(run: Run, film: Path) -> None:
    result = run("kmeans", film, "-k", 2, "--patch", 16, "--every", 0.25)
    assert result.code == 0
    assert result.out.splitlines()[0].startswith("time")
    assert len({row[-1] for row in result.rows}) == 2


def test_sizes_not_given_are_chosen_and_explained(run: Run) -> None:
    result = run("kmeans", "blobs")
    assert "3 clusters: the mean silhouette is largest there" in result.told
    assert "choosing" in result.err
    result = run("dbscan", "paper-non-convex")
    assert "the same 2 large clusters are found" in result.told
    assert {row[1] for row in result.rows} == {"0", "1", "-1"}


def test_degrees_of_belonging_and_kinds_of_points(run: Run) -> None:
    soft = run("mixture", "blobs:60", "-k", 3, "--degrees", "-q")
    assert soft.out.splitlines()[0] == "row,cluster,degree_0,degree_1,degree_2"
    for row in soft.rows:
        degrees = [float(value) for value in row[2:]]
        assert sum(degrees) == pytest.approx(1.0)
        assert degrees.index(max(degrees)) == int(row[1])
    dense = run("dbscan", "moons", "--eps", 0.2, "--kinds", "-q")
    assert {row[2] for row in dense.rows} <= {"core", "border", "noise"}
    assert all((row[2] == "noise") == (row[1] == "-1") for row in dense.rows)


def test_gaps_are_kept_by_mixtures(run: Run, tmp_path: Path) -> None:
    rows = "\n".join(
        f"{i % 2 * 10 + i / 50},{'' if i == 7 else i % 2 * 5 + i / 40}" for i in range(60)
    )
    gaps = data_files.written(tmp_path / "gaps.csv", f"a,b\n{rows}\n")
    refused = run("mixture", gaps, "-k", 2)
    assert refused.code == 1
    assert "1 missing in 1 of 60 rows" in refused.err
    assert "--missing drop" in refused.err
    kept = run("mixture", gaps, "-k", 2, "--missing", "keep", "--save", "gaps.coterie", "-q")
    assert len(kept.rows) == 60
    compared = run("compare", gaps, "--missing", "keep", "--model", "gaps.coterie")
    assert "only of 59 rows without missing cells" in compared.out
    for method in (["kmeans", "-k", 2], ["dbscan"], ["cluster"], ["choose"]):
        needs_all = run(*method, gaps, "--missing", "keep")
        assert needs_all.code == 2
        assert "1 empty in" in needs_all.told
        assert "--missing drop or median, or coterie mixture" in needs_all.told
    assert len(run("mixture", gaps, "-k", 2, "--drop-missing", "-q").rows) == 59
    assert (
        "1 row with missing values left out" in run("kmeans", gaps, "-k", 2, "--drop-missing").err
    )


def test_diagnoses_are_sentences_with_the_option_to_change(run: Run, tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    X = random.normal(size=(60, 2)) * [1, 1e5]
    np.savetxt(tmp_path / "x.csv", X, delimiter=",", header="a,b", comments="")
    told = run("kmeans", "x.csv", "-k", 2).told
    assert "columns differ in scale by 100000 (b against a)" in told
    assert "add --scaling standard" in told
    assert "differ in scale" not in run("kmeans", "x.csv", "-k", 2, "--scaling", "standard").err
    assert "eps near" in run("dbscan", "moons", "--eps", 0.01).err


def test_too_many_clusters_for_the_rows_are_told_with_the_option_to_change(run: Run) -> None:
    for command in ("kmeans", "mixture", "compare", "choose"):
        result = run(command, "blobs:30", "-k", 31)
        assert result.code == 1
        assert re.search(r"30, the number of rows, got -k 31|Use -k 30 or fewer", result.told)
    assert "Use -k 2400 or fewer" in run("demo", "-k", 2401).told


def test_the_same_as_json(run: Run, flowers: Path) -> None:
    result = run("kmeans", flowers, "-k", 2, "--json", "-o", "labels.csv")
    told = json.loads(result.out)
    assert told["method"] == "kmeans"
    assert told["parameters"]["n_clusters"] == 2
    assert [cluster["rows"] for cluster in told["clusters"]] == [20, 20]
    assert set(told["clusters"][0]["mean"]) == {"height", "width"}
    assert told["converged"] is True
    assert told["seconds"]["fitting"] > 0
    assert len(Path("labels.csv").read_text().splitlines()) == 41
    noisy = json.loads(run("dbscan", "moons", "--eps", 0.01, "--json", "-q").out)
    assert noisy["diagnoses"][0]["code"] in ("all-noise", "mostly-noise")
    assert noisy["noise"] > 250


def test_means_are_told_in_the_units_of_the_file(run: Run, flowers: Path) -> None:
    plain = json.loads(run("kmeans", flowers, "-k", 2, "--json").out)
    scaled = json.loads(run("kmeans", flowers, "-k", 2, "--json", "--scaling", "standard").out)
    ours = [cluster["mean"]["height"] for cluster in plain["clusters"]]
    theirs = [cluster["mean"]["height"] for cluster in scaled["clusters"]]
    assert sorted(theirs) == pytest.approx(sorted(ours))
    assert scaled["scaling"] == "standard"


def test_threads_and_seeds(run: Run) -> None:
    first = run("kmeans", "blobs:500", "-k", 7, "--seed", 5, "--threads", 1, "-q").out
    assert first == run("kmeans", "blobs:500", "-k", 7, "--seed", 5, "--threads", 2, "-q").out
    assert first != run("kmeans", "blobs:500", "-k", 7, "--seed", 6, "-q").out


def test_every_iteration_is_logged_if_asked(run: Run, caplog: pytest.LogCaptureFixture) -> None:
    told = json.loads(run("kmeans", "blobs", "-k", 3, "--runs", 2, "-v", "--json").out)
    lines = [record.getMessage() for record in caplog.records if record.name == "coterie"]
    for number in (0, 1):
        own = [line for line in lines if line.startswith(f"run {number}, iteration ")]
        iterations = [int(re.match(r"run \d+, iteration (\d+):", line)[1]) for line in own]  # type: ignore
        assert iterations == list(range(1, len(own) + 1))
    assert told["n_iter"] in [
        sum(line.startswith(f"run {number},") for line in lines) for number in (0, 1)
    ]
    caplog.clear()
    run("kmeans", "blobs", "-k", 3)
    assert not caplog.records


def overlapping(tmp_path: Path, rows: int = 300) -> Path:
    """A table on which restarts end in many different models."""
    X, _ = blobs(rows, 5, 3, spread=3.0, seed=3)
    path = tmp_path / "x.csv"
    np.savetxt(path, X, delimiter=",", header="a,b,c", comments="")
    return path


@pytest.mark.parametrize("method", ["kmeans", "mixture"])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_model_that_is_kept_is_the_one_that_was_measured(
    run: Run, tmp_path: Path, method: str, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = overlapping(tmp_path)
    monkeypatch.setattr(
        fit, "choose_k", lambda X, **given: choose_k(X, [6], **given)
    )  # a number at which restarts differ
    assert run(method, path, "-q", "--seed", seed, "--save", "m", "-o", "l.csv").code == 0
    choice = choose_k(read(path).X, [6], method=method, random_state=seed)
    kept = load("m")
    name = "clustering_error_" if method == "kmeans" else "soft_clustering_error_"
    assert getattr(kept.estimator, name) == getattr(choice.model, name) == choice.rows[0].error
    labels = [int(line.split(",")[1]) for line in Path("l.csv").read_text().splitlines()[1:]]
    assert labels == choice.model.predict(read(path).X).tolist()


@pytest.mark.parametrize("method", ["kmeans", "mixture"])
def test_after_a_sample_the_fit_of_all_rows_goes_on_from_its_model(
    run: Run, tmp_path: Path, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fit, "CHOOSING_ROWS", 150)
    seen = []

    def chosen(X: Any, **given: Any) -> Any:
        seen.append(choose_k(X, [4], **given))
        return seen[0]

    monkeypatch.setattr(fit, "choose_k", chosen)
    assert run(method, overlapping(tmp_path), "-q", "--save", "m", "-o", "l.csv").code == 0
    kept, found = load("m").estimator, seen[0].model
    assert len(Path("l.csv").read_text().splitlines()) == 301
    if method == "kmeans":
        np.testing.assert_array_equal(kept.init, found.cluster_centers_)
    else:
        np.testing.assert_array_equal(kept.means_init, found.means_)
        np.testing.assert_array_equal(kept.weights_init, found.weights_)
    shown = run("info", "m")
    assert shown.code == 0
    assert "array" not in shown.out
    assert json.loads(run("predict", "m", "x.csv", "--json", "-o", "l.csv").out)["method"] == method


def test_given_options_count_even_if_the_number_is_chosen(run: Run, tmp_path: Path) -> None:
    run("kmeans", overlapping(tmp_path), "--init", "principal", "--save", "m", "-o", "l.csv")
    assert load("m").estimator.init == "principal"
    run("kmeans", "x.csv", "--runs", 7, "--save", "m", "-o", "l.csv")
    assert load("m").estimator.n_init == 7


def test_every_command_has_the_same_defaults() -> None:
    for method in TABLE:
        command = import_module(f"coterie.cli.commands.{method.command}").command
        with command.make_context(method.command, ["INPUT"]) as context:
            assert method.options.of(context.params) == method.options()
