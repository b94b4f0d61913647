"""--plot, plot, demo and figures: files that are pictures, and their subjects."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from cli.conftest import Run

pytest.importorskip("matplotlib")
Image = pytest.importorskip("PIL.Image")


def size(path: str) -> tuple[int, int]:
    with Image.open(path) as picture:
        picture.load()
        found: tuple[int, int] = picture.size
    return found


def test_plots_of_all_methods(run: Run, flag: Path) -> None:
    run("kmeans", "blobs:60", "-k", 3, "--plot", "k.png", "-q")
    run("dbscan", "moons", "--eps", 0.2, "--plot", "d.svg", "-q")
    run("mixture", "blobs:60", "-k", 3, "--plot", "m.pdf", "-q")
    run("kmeans", flag, "-k", 3, "--patch", 4, "--plot", "flag-k.png", "-q")
    assert size("k.png")[0] > 500
    assert b"<svg" in Path("d.svg").read_bytes()[:500]
    assert Path("m.pdf").read_bytes().startswith(b"%PDF")
    assert size("flag-k.png")[0] > 1000


def test_iterations_as_a_film(run: Run) -> None:
    result = run("kmeans", "blobs:60", "-k", 3, "--plot", "k.gif")
    assert "picture to k.gif" in result.err
    with Image.open("k.gif") as film:
        assert film.n_frames >= 2


def test_a_model_of_stdin_or_of_a_lost_file_needs_its_data(run: Run, flowers: Path) -> None:
    run("kmeans", "-", "-k", 2, "--save", "piped.coterie", "-q", stdin=flowers.read_bytes())
    run("kmeans", flowers, "-k", 2, "--save", "lost.coterie", "-q", "-o", "labels.csv")
    rows = flowers.read_bytes()
    flowers.unlink()
    for model in ("piped.coterie", "lost.coterie"):
        result = run("plot", model, "-o", "x.png")
        assert result.code == 2
        assert f"name them: coterie plot {model} DATA" in result.told
    flowers.write_bytes(rows)
    assert run("plot", "piped.coterie", flowers, "-o", "x.png").code == 0


def test_plots_of_choices_and_comparisons(run: Run) -> None:
    assert run("choose", "blobs:60", "-k", 4, "--plot", "k.png").code == 0
    assert run("choose", "moons", "--method", "dbscan", "--plot", "eps.png").code == 0
    assert run("compare", "moons", "-k", 2, "--eps", 0.2, "--plot", "all.png").code == 0
    for name in ("k.png", "eps.png", "all.png"):
        assert size(name)[0] > 500


def test_plot_of_a_model_and_its_data(run: Run, flowers: Path) -> None:
    run("kmeans", flowers, "-k", 2, "--save", "m.coterie", "-q")
    for options in (
        [],
        ["--view", "history"],
        ["--view", "silhouette"],
        ["--axes", "width,height"],
    ):
        assert run("plot", "m.coterie", "-o", "out.png", *options).code == 0
        assert size("out.png")[0] > 500
    assert run("plot", "m.coterie", flowers, "-o", "out.png").code == 0
    assert run("plot", flowers, "-o", "own.png", "--view", "silhouette").code == 0
    flowers.rename(flowers.with_name("moved.csv"))
    result = run("plot", "m.coterie", "-o", "out.png")
    assert result.code == 2
    assert "coterie plot m.coterie DATA" in result.err
    assert run("plot", "m.coterie", "moved.csv", "-o", "out.png", "--axes", "x,y").code == 2


def test_the_demonstration_tells_the_story(run: Run, flag: Path) -> None:
    result = run("demo", "--picture", flag, "--patch", 4, "--clusters", 3, "--output", "out.png")
    assert result.err == ""
    assert "flag.png  32 x 24 pixels, 8 x 6 = 48 patches of 4 x 4" in result.out
    for name in ("white", "deep blue", "red"):
        row = next(line for line in result.out.splitlines() if line.endswith(f" {name}"))
        assert " 16 " in row
    assert "picture written   out.png" in result.out
    assert size("out.png")[0] > 2000


def test_letters_that_the_font_lacks_are_no_matter(run: Run, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("漢,$\\frac\n" + "".join(f"{i},{i % 5}\n" for i in range(30)))
    for picture in ("p.png", "p.gif"):
        told = run("kmeans", "t.csv", "-k", 2, "--plot", picture, "-o", "l.csv")
        assert told.code == 0
        assert "Glyph" not in told.err


def test_the_demonstration_as_json(run: Run) -> None:
    told = json.loads(run("demo", "--json").out)
    assert told["patches"] == 2400
    assert [part["method"] for part in told["photo"]] == ["k-means", "Gaussian mixture", "DBSCAN"]
    colours = {cluster["colour"] for cluster in told["photo"][0]["clusters"]}
    assert len(colours) == 5
    right = {(part["data"], part["method"]): part["agreement"] for part in told["points"]}
    assert right["round groups", "k-means"] > 0.99
    assert right["round groups", "DBSCAN"] > 0.99
    assert right["a disc in a ring", "k-means"] < 0.1
    assert right["a disc in a ring", "DBSCAN"] > 0.99


def test_every_figure_of_the_paper(run: Run) -> None:
    result = run("figures", "--output", "gallery")
    made = result.out.splitlines()
    assert [Path(name).name[0] for name in made] == list("12345678")
    for name in made:
        assert size(name)[0] > 700
    assert run("figures", "--output", "gallery", "--only", 8, "--format", "svg").out.split() == [
        "gallery/8-dbscan-on-both.svg"
    ]


def test_without_matplotlib_the_extra_is_named(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    result = run("kmeans", "blobs:60", "-k", 2, "--plot", "k.png")
    assert result.code == 1
    assert 'pip install "coterie[plot]"' in result.err
