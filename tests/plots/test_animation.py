"""Moving pictures: every iteration once, the last as the model is, GIF and MP4."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import coterie
from coterie import DBSCAN, GaussianMixture, KMeans
from coterie.data import blobs, paper_non_convex
from coterie.plots import animation
from coterie.plots.projection import Projection

pytest.importorskip("matplotlib")
Image = pytest.importorskip("PIL.Image")

X, _ = blobs(90, 3, spread=2.0, seed=2)
SMALL: dict[str, Any] = {"width": 240, "height": 180}


def scenes(model: Any, rows: Any) -> list[animation.Scene]:
    return list(animation._scenes(model, model.trace_, rows, Projection.of(rows, None, None)))


def test_scenes_of_kmeans_are_its_iterations() -> None:
    model = KMeans(3, init="random", n_init=1, random_state=1, trace=True, tol=0).fit(X)
    told = scenes(model, X)
    assert len(told) == len(model.trace_) + 1
    for frame, scene in zip(model.trace_, told, strict=False):
        nearest = np.linalg.norm(X[:, None] - frame.means, axis=2).argmin(axis=1)
        np.testing.assert_array_equal(scene.labels, nearest)
    np.testing.assert_array_equal(told[-2].labels, model.labels_)
    np.testing.assert_array_equal(told[-1].labels, model.labels_)


def test_scenes_of_mixtures_and_density() -> None:
    soft = GaussianMixture(3, random_state=1, trace=True, init_params="random_from_data").fit(X)
    told = scenes(soft, X)
    assert len(told) == len(soft.trace_) + 1
    np.testing.assert_array_equal(told[-1].labels, soft.predict(X))
    first = soft.trace_[0]
    np.testing.assert_allclose(told[0].covariances, first.covariances)  # the view is the plane
    precisions = np.linalg.inv(first.covariances)
    entered = GaussianMixture(3, weights_init=first.weights, precisions_init=precisions, max_iter=0)
    entered.set_params(means_init=first.means).fit(X)
    np.testing.assert_array_equal(told[0].labels, entered.predict(X))
    N, _ = paper_non_convex()
    dense = DBSCAN(0.6, trace=True).fit(N)
    waves = scenes(dense, N)
    np.testing.assert_array_equal(waves[-2].labels, dense.labels_)
    reached = [int((scene.labels >= 0).sum()) for scene in waves]
    assert reached == sorted(reached)


def test_gif(tmp_path: Path) -> None:
    model = KMeans(3, init="random", n_init=1, random_state=1, trace=True).fit(X)
    path = coterie.animate(model, X, tmp_path / "fit.gif", fps=4, **SMALL)
    with Image.open(path) as film:
        assert film.size == (240, 180)
        assert film.n_frames <= len(model.trace_) + 1  # equal frames become one
        assert film.n_frames >= 2
        assert film.info["duration"] == 250
        assert film.convert("RGB").getpixel((1, 1)) == (255, 255, 255)


def test_mp4(tmp_path: Path) -> None:
    av = pytest.importorskip("av")
    model = GaussianMixture(2, random_state=1, trace=True).fit(X)
    path = coterie.animate(model, X, tmp_path / "fit.mp4", fps=10, width=241, height=181)
    with av.open(str(path)) as film:
        stream = film.streams.video[0]
        frames = sum(1 for _ in film.decode(stream))
        assert (stream.width, stream.height) == (240, 180)
    assert frames == 3 * len(model.trace_) + 60


def test_long_fits_are_thinned() -> None:
    scene = animation.Scene(np.zeros(1, np.intp), None, None, "")
    many = [animation.Scene(scene.labels, None, None, str(i)) for i in range(1000)]
    kept = animation._thinned(many)
    assert len(kept) == animation.MOST_FRAMES
    assert (kept[0], kept[-1]) == (many[0], many[-1])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"path": "fit.avi"}, "ending in .gif or .mp4, got 'fit.avi'"),
        ({"fps": 0.0}, "fps up to 60"),
        ({"width": 10}, "from 160 x 120 to 4096 x 4096 pixels"),
    ],
)
def test_mistakes_are_named(options: dict[str, Any], message: str) -> None:
    model = KMeans(3, random_state=1, trace=True).fit(X)
    with pytest.raises(ValueError, match=message):
        coterie.animate(model, X, **{"path": "fit.gif", **options})


def test_a_trace_is_needed(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="KMeans that was fitted with trace=True"):
        coterie.animate(KMeans(3).fit(X), X, tmp_path / "fit.gif")
    assert not list(tmp_path.iterdir())
