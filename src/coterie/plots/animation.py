"""The iterations of a fit as a moving picture: GIF by Pillow, MP4 by PyAV."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.arrays import Floats
from coterie.choosing.sampling import checked_rows, unwrapped
from coterie.data.errors import required
from coterie.formatting import number, plural
from coterie.plots.clusters import ClustersDisplay
from coterie.plots.points import WAITING
from coterie.plots.projection import Projection
from coterie.plots.style import new_figure, require_matplotlib

Labels = NDArray[np.intp]
Picture = NDArray[np.uint8]
DPI = 100
MOST_FRAMES = 240
FILM_RATE = 30  # pictures in a second of MP4; players stutter at fewer
Draw = Callable[[int], Picture]


@dataclass(frozen=True, eq=False)
class Scene:
    """One frame: the labels and the model at that moment, and the words above."""

    labels: Labels
    means: Floats | None  # (k, d)
    covariances: Floats | None  # (k, 2, 2), as the view shows them
    words: str
    kind: NDArray[np.uint8] | None = None


def animate(
    model: Any,
    X: Any,
    path: str | os.PathLike[str],
    *,
    columns: Sequence[int] | None = None,
    names: Sequence[str] | None = None,
    fps: float = 2.0,
    width: int = 640,
    height: int = 480,
    title: str | None = None,
) -> Path:
    """Make a moving picture of the iterations of a fit.

    Parameters
    ----------
    model : KMeans, GaussianMixture or DBSCAN
        Fitted with ``trace=True``. The means wander, the ellipses turn, the clusters grow.
    X : array-like or CSR matrix of shape (n_samples, n_features)
        The rows of the fit.
    path : str or path
        The file to write: ``.gif``, or ``.mp4`` (needs PyAV, ``pip install "coterie[media]"``).
    columns, names
        As for :meth:`ClustersDisplay.from_estimator`.
    fps : float, default=2.0
        Iterations shown in a second. The last is shown for two seconds.
    width, height : int, default=640, 480
        In pixels.
    title : str or None, default=None

    Returns
    -------
    path : Path
    """
    target = Path(path)
    if target.suffix.lower() not in WRITERS:
        raise ValueError(
            f"expected a name ending in {' or '.join(WRITERS)}, got {str(path)!r}; "
            "add one of these endings"
        )
    if not (0 < fps <= 60 and 160 <= width <= 4096 and 120 <= height <= 4096):
        raise ValueError(
            f"expected fps up to 60 and a size from 160 x 120 to 4096 x 4096 pixels, got "
            f"fps={fps:g} and {width} x {height}"
        )
    require_matplotlib()
    model, X = unwrapped(model, X)
    trace = getattr(model, "trace_", None)
    if not trace:
        raise ValueError(
            f"expected a {type(model).__name__} that was fitted with trace=True, got one without "
            "a trace; set trace=True and fit again"
        )
    rows = checked_rows(X)
    view = Projection.of(rows, columns, names or getattr(model, "feature_names_in_", None))
    scenes = _thinned(list(_scenes(model, trace, rows, view)))
    flat = view.points(rows)

    def draw(place: int) -> Picture:
        return _picture(scenes[place], flat, view, title, width, height)

    WRITERS[target.suffix.lower()](target, draw, len(scenes), fps)
    return target


def _scenes(model: Any, trace: Sequence[Any], X: Any, view: Projection) -> Iterator[Scene]:
    """Yield the frames of a trace, one after the other."""
    if hasattr(trace[0], "covariances"):
        yield from _mixture_scenes(model, trace, X, view)
    elif hasattr(trace[0], "means"):
        yield from _means_scenes(model, trace, X)
    else:
        yield from _density_scenes(model, trace)


def _means_scenes(model: Any, trace: Sequence[Any], X: Any) -> Iterator[Scene]:
    labels = np.full(X.shape[0], -1, dtype=np.intp)
    for step, frame in enumerate(trace, start=1):
        labels = labels.copy()
        labels[frame.rows] = frame.labels
        if step == 1:  # a trace holds changes only, from label 0 on
            labels[labels < 0] = 0
        moved = plural(len(frame.rows), "row") + " moved" if step > 1 else "the start"
        yield Scene(labels, frame.means, None, f"iteration {step}: {moved}")
    error = number(model.clustering_error_)
    words = f"{plural(len(trace), 'iteration')}, clustering error {error}"
    yield Scene(np.asarray(model.labels_, dtype=np.intp), model.cluster_centers_, None, words)


def _mixture_scenes(model: Any, trace: Sequence[Any], X: Any, view: Projection) -> Iterator[Scene]:
    last = type(trace[0])(model.weights_, model.means_, model.covariances_)
    for step, mixture in enumerate([*trace, last]):
        now = _with_mixture(model, mixture)
        if step < len(model.history_):
            error = model.history_[step].error
        else:
            error = model.soft_clustering_error_
        words = f"iteration {step}: soft clustering error {error:.6g}"
        seen = view.covariances(model, mixture.covariances)
        yield Scene(np.asarray(now.predict(X), dtype=np.intp), mixture.means, seen, words)


def _with_mixture(model: Any, mixture: Any) -> Any:
    """Return a copy of the model with the parameters of another moment."""
    now = copy(model)
    now.weights_, now.means_, now.covariances_ = (
        mixture.weights,
        mixture.means,
        mixture.covariances,
    )
    del now.precisions_cholesky_  # of the last moment
    return now


def _density_scenes(model: Any, trace: Sequence[Any]) -> Iterator[Scene]:
    labels = np.full(len(model.labels_), -1, dtype=np.intp)
    for step, wave in enumerate(trace):
        labels = labels.copy()
        labels[wave.rows] = wave.labels
        kind = np.where(labels >= 0, model.kind_, WAITING).astype(np.uint8)
        reached = f"{int((labels >= 0).sum()):,} rows reached"
        yield Scene(labels, None, None, f"wave {step}: {reached}", kind)
    noise = plural(int((model.labels_ < 0).sum()), "row")
    words = f"{plural(model.n_clusters_, 'cluster')}; {noise} never reached: noise"
    yield Scene(np.asarray(model.labels_, dtype=np.intp), None, None, words, model.kind_)


def _thinned(scenes: list[Scene]) -> list[Scene]:
    """Thin frames out to at most so many; the first and the last stay."""
    if len(scenes) <= MOST_FRAMES:
        return scenes
    places = np.unique(np.linspace(0, len(scenes) - 1, MOST_FRAMES).astype(int))
    return [scenes[place] for place in places]


def _picture(
    scene: Scene, flat: Floats, view: Projection, title: str | None, width: int, height: int
) -> Picture:
    """(height, width, 3) as bytes."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    figure = new_figure(width / DPI, height / DPI)
    canvas: Any = FigureCanvasAgg(figure)
    figure.set_dpi(DPI)
    display = ClustersDisplay(flat, scene.labels, view, kind=scene.kind)
    display.numbered = scene.kind is None  # numbers would move about with clusters that grow
    if scene.means is not None:
        display.means = view.points(scene.means)
    display.covariances = scene.covariances
    display.title = scene.words if title is None else f"{title} — {scene.words}"
    display.plot(figure.subplots())
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())[:, :, :3].copy()


def _write_gif(path: Path, draw: Draw, count: int, fps: float) -> None:
    required("PIL.Image", "writing GIF files", "media")
    from PIL import Image

    # One palette for all frames, that of the last, so that nothing flickers.
    palette = Image.new("P", (1, 1))
    shades = Image.fromarray(draw(count - 1)).quantize(colors=255).getpalette() or []
    palette.putpalette([*shades[: 3 * 255], 255, 255, 255])  # white stays white
    pages = [_page(Image.fromarray(draw(place)), palette) for place in range(count)]
    durations = [int(1000 / fps)] * (count - 1) + [2000]
    pages[0].save(path, save_all=True, append_images=pages[1:], duration=durations, loop=0)


def _page(frame: Any, palette: Any) -> Any:
    """Return a frame in the palette's colours; white, its last one, stays exactly white."""
    from PIL import Image

    page = frame.quantize(palette=palette, dither=Image.Dither.NONE)
    places = np.array(page)
    places[(np.asarray(frame) == 255).all(axis=2)] = 255
    page.putdata(places.ravel().tolist())
    return page


def _write_mp4(path: Path, draw: Draw, count: int, fps: float) -> None:
    av = required("av", "writing MP4 files", "media")
    with av.open(str(path), "w") as container:
        stream = None
        for place in range(count):
            picture = draw(place)
            tall, wide = (side - side % 2 for side in picture.shape[:2])  # as the format wants it
            if stream is None:
                stream = container.add_stream("libx264", rate=FILM_RATE)
                stream.pix_fmt, stream.options = "yuv420p", {"crf": "18"}
                stream.height, stream.width = tall, wide
            frame = np.ascontiguousarray(picture[:tall, :wide])
            seconds = 2.0 if place == count - 1 else 1 / fps
            for _ in range(max(1, round(FILM_RATE * seconds))):
                container.mux(stream.encode(av.VideoFrame.from_ndarray(frame, format="rgb24")))
        assert stream is not None
        container.mux(stream.encode())


WRITERS = {".gif": _write_gif, ".mp4": _write_mp4}
