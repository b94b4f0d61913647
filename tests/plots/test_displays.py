"""Displays draw their results, on given axes or a new figure, in three formats."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from coterie import DBSCAN, GaussianMixture, KMeans, Model, choose_eps, choose_k, compare
from coterie.data import blobs, image_patches, image_pixels, moons, paper_non_convex, paper_round

pytest.importorskip("matplotlib")
from matplotlib.figure import Figure

from coterie.plots import (
    ClustersDisplay,
    ComparisonDisplay,
    EpsChoiceDisplay,
    HistoryDisplay,
    KChoiceDisplay,
    PatchesDisplay,
    SegmentationDisplay,
    SilhouetteDisplay,
)
from coterie.visible_text import visible

X, GROUPS = blobs(120, 3, spread=0.7)


def texts(axes: Any) -> list[str]:
    return [text.get_text() for text in axes.texts]


def offsets(axes: Any) -> np.ndarray:
    return np.concatenate([np.asarray(part.get_offsets()) for part in axes.collections])


def pixels(display: Any) -> np.ndarray:
    display.figure_.canvas.draw()
    return np.asarray(display.figure_.canvas.buffer_rgba())[:, :, :3]


@pytest.mark.parametrize(
    "name", [r"$\frac", "cost $a$ or $b$", r"\$x$", "\x1b[31m \udce9", "a_b^c%"]
)
def test_names_are_shown_as_they_are(name: str) -> None:
    names = [name, "b"]
    labels = np.arange(len(X)) % 2
    clusters = ClustersDisplay.from_labels(X, labels, names=names, title=name)
    compared = ComparisonDisplay.from_comparison(X, compare(X, {name: labels}), names=names)
    for display in (clusters, compared):
        assert display._repr_png_()  # matplotlib parses texts when it draws them
    shown = visible(name)
    assert clusters.ax_.get_xlabel() == clusters.ax_.get_title("left") == shown
    assert clusters.ax_.xaxis.label.get_parse_math() is False


def test_clusters_of_kmeans() -> None:
    model = KMeans(3, random_state=0).fit(X)
    display = ClustersDisplay.from_estimator(model, X, regions=True)
    drawn = {tuple(point) for point in offsets(display.ax_)}
    assert {tuple(row) for row in X} <= drawn
    assert {tuple(mean) for mean in model.cluster_centers_} <= drawn
    assert sorted(texts(display.ax_))[:3] == ["0", "1", "2"]
    assert display.ax_.get_title("left") == "3 clusters of 120 rows"
    assert display.regions is not None
    assert set(np.unique(display.regions)) == {0, 1, 2}
    assert display.ax_.get_xlabel() == "column 0"


def test_given_axes_are_used() -> None:
    axes = Figure().subplots()
    model = KMeans(3, random_state=0).fit(X)
    display = ClustersDisplay.from_estimator(model, X, ax=axes)
    assert display.ax_ is axes
    assert display.figure_ is axes.figure
    again = display.plot()
    assert again is display
    assert display.ax_ is not axes


def test_ellipses_of_mixtures() -> None:
    for kind in ("full", "tied", "diag", "spherical"):
        model = GaussianMixture(3, covariance_type=kind, random_state=0).fit(X)
        display = ClustersDisplay.from_estimator(model, X)
        assert len(display.ax_.patches) == 6  # one and two standard deviations of each
        ellipse = display.ax_.patches[1]
        own = model._family.matrices(model.covariances_, 3, 2)[0]
        sides = sorted([ellipse.get_width() / 4, ellipse.get_height() / 4])
        np.testing.assert_allclose(sides, np.sqrt(np.linalg.eigvalsh(own)), rtol=1e-9)
        assert not ClustersDisplay.from_estimator(model, X, ellipses=False).ax_.patches


def test_core_border_and_noise_look_different() -> None:
    R, _ = paper_round()
    model = DBSCAN(0.4).fit(R)
    display = ClustersDisplay.from_estimator(model, R)
    sizes = [len(part.get_offsets()) for part in display.ax_.collections]
    counts = [(model.kind_ == kind).sum() for kind in (2, 0, 1)]
    assert sizes == counts
    assert "noise" in display.ax_.get_title("left")


def test_a_diagnosis_is_written_under_the_title() -> None:
    R, _ = paper_round()
    model = DBSCAN(0.1).fit(R)
    said = "\n".join(texts(ClustersDisplay.from_estimator(model, R).ax_))
    assert "94 % of the rows are noise: eps near" in said.replace("\n", " ")
    quiet = ClustersDisplay.from_estimator(model, R, diagnoses=False)
    assert not any("noise" in text for text in texts(quiet.ax_))


def test_more_columns_are_seen_along_principal_components() -> None:
    D, labels = blobs(200, 3, d=6)
    display = ClustersDisplay.from_labels(D, labels)
    assert display.ax_.get_xlabel().startswith("principal component 1 (")
    centred = D - D.mean(axis=0)
    largest = np.linalg.svd(centred, compute_uv=False)[:2]
    np.testing.assert_allclose(np.linalg.norm(display.points, axis=0), largest, rtol=1e-9)
    chosen = ClustersDisplay.from_labels(D, labels, columns=(4, 1), names=list("abcdef"))
    np.testing.assert_array_equal(chosen.points, D[:, [4, 1]])
    assert (chosen.ax_.get_xlabel(), chosen.ax_.get_ylabel()) == ("e", "b")
    with pytest.raises(ValueError, match=r"columns from 0 to 5, got \[1, 9\]"):
        ClustersDisplay.from_labels(D, labels, columns=(1, 9))
    with pytest.raises(ValueError, match="two columns for regions, got 6"):
        ClustersDisplay.from_estimator(KMeans(2).fit(D), D, regions=True)


def test_frames_single_columns_sparse_rows_and_loaded_models() -> None:
    frame = pd.DataFrame(X, columns=["width", "height"])
    model = KMeans(3, random_state=0).fit(frame)
    display = ClustersDisplay.from_estimator(model, frame, regions=True)
    assert display.ax_.get_ylabel() == "height"
    line = ClustersDisplay.from_estimator(KMeans(2).fit(X[:, :1]), X[:, :1])
    assert not len(line.ax_.get_yticks())
    D, _ = blobs(60, 2, d=5)
    rows = sparse.csr_array(D)
    assert len(ClustersDisplay.from_estimator(KMeans(2).fit(rows), rows).points) == 60
    ClustersDisplay.from_estimator(Model(model), frame)


def test_many_rows_become_a_picture_of_their_density() -> None:
    many, _ = blobs(60_000, 2, spread=1.0, seed=1)
    labels = KMeans(2, random_state=0).fit(many).labels_
    far = np.vstack([many, [[40.0, 40.0]]])
    display = ClustersDisplay.from_labels(far, np.append(labels, -1))
    assert len(display.ax_.images) == 1
    assert not any(len(part.get_offsets()) > 100 for part in display.ax_.collections)
    picture = display.ax_.images[0].get_array()
    alpha = np.asarray(picture)[:, :, 3]
    assert alpha.max() == 1.0
    assert alpha[alpha > 0].min() > 0.15  # a single row is still seen


@pytest.mark.parametrize("ending", [".png", ".svg", ".pdf"])
def test_files(tmp_path: Path, ending: str) -> None:
    display = ClustersDisplay.from_labels(X, GROUPS)
    path = display.save(tmp_path / f"clusters{ending}")
    begin = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}[ending]
    assert path.read_bytes().startswith(begin)
    with pytest.raises(ValueError, match=r"ending in .png, .svg, .pdf, got 'a.bmp'"):
        display.save("a.bmp")
    assert display._repr_png_().startswith(b"\x89PNG")


def test_history() -> None:
    model = KMeans(5, init="random", n_init=1, random_state=0).fit(X)
    display = HistoryDisplay.from_estimator(model)
    np.testing.assert_array_equal(
        display.ax_.lines[0].get_ydata(), [record.error for record in model.history_]
    )
    soft = HistoryDisplay.from_estimator(GaussianMixture(3, random_state=0).fit(X))
    assert soft.ax_.get_ylabel() == "soft clustering error"
    with pytest.raises(ValueError, match="a fitted model with a history, got DBSCAN"):
        HistoryDisplay.from_estimator(DBSCAN().fit(X))


def test_choices() -> None:
    choice = choose_k(X, 5)
    upper, lower = KChoiceDisplay.from_choice(choice).ax_
    assert upper.get_title("left") == "3 clusters"
    np.testing.assert_array_equal(upper.lines[0].get_ydata(), [row.error for row in choice.rows])
    assert texts(lower) == ["mean silhouette", "agreement of restarts"]
    soft = KChoiceDisplay.from_data(X, k=4, method="mixture", n_restarts=1)
    assert {"BIC", "ICL"} <= set(texts(soft.ax_[0]))
    near = choose_eps(X)
    upper, lower = EpsChoiceDisplay.from_choice(near).ax_
    np.testing.assert_array_equal(upper.lines[0].get_ydata(), near.distances)
    assert upper.get_title("left") == f"eps {near.eps:.3g}, min_samples 5"
    EpsChoiceDisplay.from_data(np.ones((10, 2)), 3)
    with pytest.raises(ValueError, match="expected two axes, got 1"):
        KChoiceDisplay.from_choice(choice, ax=Figure().subplots())


@pytest.mark.parametrize("toy", [moons, paper_non_convex])
def test_words_about_eps_stay_inside_the_axes(toy: Any) -> None:
    display = EpsChoiceDisplay.from_data(toy()[0])
    display.figure_.draw_without_rendering()
    upper = display.ax_[0]
    words = next(text for text in upper.texts if "core points" in text.get_text())
    assert words.get_window_extent().y1 < upper.get_window_extent().y1


def test_silhouettes() -> None:
    model = KMeans(3, random_state=0).fit(X)
    display = SilhouetteDisplay.from_estimator(model, X)
    assert len(display.ax_.collections) == 3
    mean = display.silhouettes.means[0]
    assert display.ax_.get_title("left") == f"Mean silhouette {mean:.2f}, 3 clusters"
    one = SilhouetteDisplay.from_labels(X, np.zeros(len(X), int))
    assert "fewer than two clusters" in one.ax_.get_title("left")


def test_pictures() -> None:
    stripes = np.repeat([[0.9, 0.1, 0.1], [0.1, 0.2, 0.8]], 8, axis=0)[:, None].repeat(24, axis=1)
    patches = image_patches(stripes, 4)
    model = KMeans(2, random_state=0).fit(patches.features)
    display = SegmentationDisplay.from_estimator(model, patches)
    shown = np.asarray(display.ax_.images[0].get_array())
    assert len(np.unique(shown.reshape(-1, 3).round(6), axis=0)) == 2
    small = image_pixels(stripes)
    SegmentationDisplay.from_labels(small, np.full(len(small), -1))
    four = PatchesDisplay.from_estimator(model, patches)
    assert len(four.ax_) == 4
    with pytest.raises(ValueError, match="four panels"):
        four.plot(Figure().subplots())


def test_comparisons_share_colours() -> None:
    N, _ = paper_non_convex()
    found = compare(N, {"means": KMeans(2, random_state=0), "density": DBSCAN(0.6)})
    display = ComparisonDisplay.from_comparison(N, found)
    assert [axes.get_title("left") for axes in display.ax_] == ["means", "density"]
    assert len(ComparisonDisplay.from_estimators(X, [KMeans(2), KMeans(3)] * 2).ax_) == 4
    with pytest.raises(ValueError, match="expected 2 axes"):
        ComparisonDisplay.from_comparison(N, found, ax=Figure().subplots())


def test_colours_stay_with_their_clusters() -> None:
    """A row of cluster 1 has the same colour, however many clusters there are."""
    from coterie.plots.points import palette_for

    np.testing.assert_array_equal(
        palette_for(np.array([0, 1])), palette_for(np.array([0, 1, 5]))[:2]
    )


def test_no_pyplot_no_display() -> None:
    script = (
        "import sys, numpy as np; from coterie.plots import ClustersDisplay;"
        "assert 'matplotlib' not in sys.modules;"
        "ClustersDisplay.from_labels(np.eye(4), [0, 0, 1, 1])._repr_png_();"
        "assert 'matplotlib.pyplot' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=120)


def test_without_matplotlib_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r'pip install "coterie\[plot\]"'):
        ClustersDisplay.from_labels(X, GROUPS)
