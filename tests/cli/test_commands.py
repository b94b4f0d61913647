"""cluster, choose, compare, predict, plot, info: their results and their files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support import data_files

from cli.conftest import Run
from coterie import DBSCAN, DBSCANPath, GaussianMixture, KMeans, save
from coterie.data import blobs


@pytest.mark.parametrize(
    ("data", "method", "says"),
    [
        ("blobs", "kmeans", "DBSCAN finds the same groups"),
        ("paper-non-convex", "dbscan", "empty space sets 2 clusters apart"),
        ("circles", "dbscan", "they are not round"),
    ],
)
def test_cluster_takes_the_method_that_fits(run: Run, data: str, method: str, says: str) -> None:
    told = json.loads(run("cluster", data, "--json", "-q").out)
    assert told["method"] == method
    assert says in " ".join(told["reasons"])
    assert told["n_clusters"] == (3 if method == "kmeans" else 2)


def test_cluster_finds_long_groups_with_a_mixture(run: Run, tmp_path: Path) -> None:
    import numpy as np

    random = np.random.default_rng(0)
    X = np.concatenate(
        [random.normal(size=(200, 2)) * [4, 0.3] + [0, 2.2 * row] for row in range(2)]
    )
    np.savetxt(tmp_path / "long.csv", X, delimiter=",", header="x,y", comments="")
    told = json.loads(run("cluster", "long.csv", "--json", "-q", "--scaling", "none").out)
    assert told["method"] in ("mixture", "dbscan")
    assert told["n_clusters"] == 2


def test_cluster_scales_unequal_columns_and_says_so(run: Run, tmp_path: Path) -> None:
    rows = "\n".join(f"{i % 2 + i / 500},{1000 * (i % 3) + i}" for i in range(60))
    data_files.written(tmp_path / "units.csv", f"metres,grams\n{rows}\n")
    told = json.loads(run("cluster", "units.csv", "--json", "-q").out)
    assert told["scaling"] == "standard"
    assert "grams spreads" in told["reasons"][0]
    assert (
        json.loads(run("cluster", "units.csv", "--json", "-q", "--scaling", "none").out)["scaling"]
        is None
    )


def test_the_readme_shows_the_real_summary(run: Run) -> None:
    readme = (Path(__file__).parents[2] / "README.md").read_text()
    shown = readme.partition("$ coterie cluster paper-non-convex > labels.csv\n")[2].partition(
        "```"
    )[0]
    assert "DBSCAN" in shown
    assert run("cluster", "paper-non-convex").err.startswith(shown)


def test_cluster_of_texts(run: Run, texts: Path) -> None:
    result = run("cluster", texts)
    assert result.code == 0
    assert len(result.rows) == 12


def test_choose_prints_the_table_and_tells_the_reason(run: Run) -> None:
    result = run("choose", "blobs", "-k", "2-5")
    lines = result.out.splitlines()
    assert lines[0].split()[:2] == ["k", "error"]
    assert [line.split()[0] for line in lines if line.startswith("*")] == ["*"]
    assert "3 clusters: the mean silhouette" in result.told
    told = json.loads(run("choose", "blobs", "-k", "2,3,4", "--method", "mixture", "--json").out)
    assert told["k"] == 3
    assert told["table"]["k"] == [2, 3, 4]
    dense = json.loads(run("choose", "moons", "--method", "dbscan", "--json").out)
    assert dense["plateau"][0] < dense["eps"] < dense["plateau"][1]


def test_models_of_the_same_name_are_compared_under_their_paths(run: Run) -> None:
    for folder, k in (("old", 2), ("new", 3)):
        Path(folder).mkdir()
        run("kmeans", "blobs:60", "-k", k, "--save", f"{folder}/x.coterie", "-q")
    run("kmeans", "blobs:60", "-k", 4, "--save", "y.coterie", "-q")
    files = ("old/x.coterie", "new/x.coterie", "y.coterie")
    arguments = [part for file in files for part in ("--model", file)]
    told = json.loads(run("compare", "blobs:60", *arguments, "--json").out)
    assert told["model"] == ["old/x.coterie", "new/x.coterie", "y"]
    assert told["clusters"] == [2, 3, 4]


def test_one_row_can_be_compared(run: Run, tmp_path: Path) -> None:
    (tmp_path / "one.csv").write_text("a\n1\n")
    assert json.loads(run("compare", "one.csv", "--json").out)["clusters"] == [1, 1, 0]


def test_compare_all_three(run: Run) -> None:
    result = run("compare", "paper-non-convex", "-k", 2)
    names = [line.split()[0] for line in result.out.splitlines()[1:4]]
    assert names == ["k-means", "mixture", "DBSCAN"]
    told = json.loads(run("compare", "blobs", "-k", 3, "--eps", 1.2, "--json").out)
    assert told["ari"][0][1] == pytest.approx(1.0)


def test_a_model_is_saved_described_and_used(run: Run, flowers: Path) -> None:
    fit = run("kmeans", flowers, "-k", 2, "--scaling", "standard", "--save", "m.coterie", "-q")
    again = run("predict", "m.coterie", flowers, "-q")
    assert again.out == fit.out
    told = run("info", "m.coterie").out
    assert "2: height, width" in told
    assert "n_clusters 2" in told
    assert "rows of fit 40" in told
    assert "standard" in told
    assert json.loads(run("info", "m.coterie", "--json").out)["estimator"] == "kmeans"
    data_files.written(flowers.parent / "new.csv", "width,extra,height\n4.5,1,-9.1\n")
    assert run("predict", "m.coterie", "new.csv", "-q").code == 0
    data_files.written(flowers.parent / "less.csv", "width\n4.5\n")
    result = run("predict", "m.coterie", "less.csv")
    assert result.code == 1
    assert "'height'" in result.told
    assert "mixtures" in run("predict", "m.coterie", flowers, "--degrees").told
    X = np.loadtxt(flowers, delimiter=",", skiprows=1, usecols=(1, 2))
    np.save("flowers.npy", X)
    np.save("more.npy", np.column_stack([X, X]))
    nameless = run("predict", "m.coterie", "flowers.npy")
    assert [row[1] for row in nameless.rows] == [row[1] for row in fit.rows]
    assert "no names for its columns: they were taken for those of the model" in nameless.told
    assert "in this order: height, width" in nameless.told
    result = run("predict", "m.coterie", "more.npy")
    assert result.code == 1
    assert "2 columns of numbers, to be named 'height', 'width', got 4, and the file has no" in (
        result.told
    )
    both = run("compare", flowers, "--model", "m.coterie", "--model", "m.coterie", "--json")
    assert json.loads(both.out)["model"] == ["m"]


def test_a_model_of_a_picture_reads_pictures_the_same_way(run: Run, flag: Path) -> None:
    fit = run("kmeans", flag, "--patch", 4, "-k", 3, "--save", "flag.coterie", "-q")
    assert run("predict", "flag.coterie", flag, "-q").out == fit.out
    pixels = run("kmeans", flag, "--pixels", "-k", 3, "--save", "flag.coterie", "-q")
    assert run("predict", "flag.coterie", flag, "-q").out == pixels.out


def test_a_model_of_a_sound(run: Run, sound: Path) -> None:
    fit = run("kmeans", sound, "-k", 2, "--frame", 0.05, "--bands", 8, "--save", "s.coterie", "-q")
    assert run("predict", "s.coterie", sound, "-q").out == fit.out


def test_a_model_of_texts_weighs_new_texts_the_same_way(run: Run, texts: Path) -> None:
    fit = run("kmeans", texts, "-k", 2, "--save", "t.coterie", "-q")
    assert run("predict", "t.coterie", texts, "-q").out == fit.out
    data_files.written(texts.with_name("new.txt"), "a ship would sail\npurr said the cats\n")
    ships, cats = (row[1] for row in run("predict", "t.coterie", "new.txt", "-q").rows)
    assert (cats, ships) == (fit.rows[0][1], fit.rows[1][1])
    assert "rarities" not in run("info", texts).out


def test_a_model_of_reduced_texts_reduces_new_texts_the_same_way(run: Run, texts: Path) -> None:
    fit = run("kmeans", texts, "-k", 2, "--components", 2, "--save", "t.coterie", "-q")
    assert run("predict", "t.coterie", texts, "-q").out == fit.out
    data_files.written(texts.with_name("new.txt"), "a ship would sail\npurr said the cats\n")
    ships, cats = (row[1] for row in run("predict", "t.coterie", "new.txt", "-q").rows)
    assert (cats, ships) == (fit.rows[0][1], fit.rows[1][1])
    for word in ("rarities", "vocabulary", "directions"):
        assert word not in run("info", "t.coterie").out


def test_info_of_data_counts_missing_cells(run: Run, tmp_path: Path) -> None:
    data_files.written(tmp_path / "gaps.csv", "a,b,c\n1,2,x\n,4,y\n5,6,z\n")
    out = run("info", "gaps.csv").out
    assert "3 rows of 2 columns" in out
    assert "not used    c (text)" in out
    told = json.loads(run("info", "gaps.csv", "--json").out)
    assert told["columns"][0] == {
        "column": "a", "smallest": 1.0, "mean": 3.0, "largest": 5.0, "spread": 2.0, "missing": 1,
    }  # fmt: skip


def test_info_of_every_kind(run: Run, flag: Path, sound: Path, texts: Path, film: Path) -> None:
    for path, kind in ((flag, "picture"), (sound, "sound"), (texts, "text"), (film, "video")):
        assert json.loads(run("info", path, "--json").out)["kind"] == kind
        assert kind in run("info", path).out
    assert "300 rows of 2 columns" in run("info", "moons").out


def test_models_of_all_methods_are_saved_and_used(run: Run, tmp_path: Path) -> None:
    for method, options in (("mixture", ("-k", 3)), ("dbscan", ("--eps", 1.2))):
        fit = run(method, "blobs:90", *options, "--save", "m.coterie", "-q")
        assert fit.code == 0
        assert run("predict", "m.coterie", "blobs:90", "-q").out == fit.out
        assert "blobs:90" in run("info", "m.coterie").out
    soft = run("mixture", "blobs:90", "-k", 3, "--degrees", "--save", "m.coterie", "-q")
    assert run("predict", "m.coterie", "blobs:90", "--degrees", "-q").out == soft.out


@pytest.mark.parametrize(
    ("estimator", "word"),
    [
        (KMeans(2, random_state=0), "k-means"),
        (GaussianMixture(2, random_state=0), "mixture"),
        (DBSCAN(1.0), "DBSCAN"),
        (DBSCANPath(3), "DBSCAN for every eps"),
    ],
)
def test_one_word_for_each_method(run: Run, estimator: Any, word: str) -> None:
    save(estimator.fit(blobs(40, 2, seed=1)[0]), "m")
    assert run("info", "m").out.splitlines()[0].split(maxsplit=1) == ["model", word]


def test_a_model_for_every_eps_cannot_place_rows_and_says_so(run: Run, flowers: Path) -> None:
    save(DBSCANPath(3).fit(blobs(40, 2, seed=1)[0]), "p.coterie")
    for arguments in (
        ("predict", "p.coterie", flowers),
        ("plot", "p.coterie", "-o", "p.png"),
        ("plot", "p.coterie", flowers, "-o", "p.png"),
        ("plot", "p.coterie", "--view", "history", "-o", "p.png"),
        ("compare", flowers, "--model", "p.coterie"),
    ):
        result = run(*arguments)
        assert result.code == 2
        assert "place rows, got p.coterie, a DBSCANPath" in result.told
        assert "coterie dbscan INPUT --eps ... --save FILE" in result.told


def test_compare_refuses_gaps_without_models_of_gaps(run: Run, flowers: Path) -> None:
    result = run("compare", flowers, "--missing", "keep")
    assert result.code == 2
    assert "k-means and DBSCAN need every cell" in result.told
