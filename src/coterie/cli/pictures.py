"""--plot: the picture that suits the data."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coterie.files import write_whole

if TYPE_CHECKING:
    from coterie.cli.run.outcome import Outcome

FILMS = (".gif", ".mp4")


def films(path: Path | None) -> bool:
    """Whether a file of this name shows iterations."""
    return path is not None and path.suffix.lower() in FILMS


def draw(outcome: Outcome, path: Path) -> None:
    """Clusters laid over a picture, or rows on paper; or the iterations of the fit."""
    if films(path):
        animated(outcome, path)
    else:
        write_figure(display(outcome).figure_, path)


def display(outcome: Outcome) -> Any:
    """The Display of clusters: the paper's view of patches, a segmentation, or points."""
    from coterie.data import Patches, Pixels
    from coterie.plots import ClustersDisplay, PatchesDisplay, SegmentationDisplay

    origin, labels = outcome.data.origin, outcome.labels
    if isinstance(origin, Pixels):
        return SegmentationDisplay.from_labels(origin, labels)
    if isinstance(origin, Patches) and outcome.data.scaling is None and (labels >= 0).all():
        return PatchesDisplay.from_estimator(outcome.model, origin)
    if isinstance(origin, Patches):
        return SegmentationDisplay.from_labels(origin, labels)
    return ClustersDisplay.from_estimator(
        outcome.model, outcome.data.X, names=outcome.data.columns, diagnoses=False
    )


def animated(outcome: Outcome, path: Path) -> None:
    """The iterations of a fit that was traced."""
    from coterie.plots import animate

    with tempfile.TemporaryDirectory(prefix="coterie-") as folder, _any_letters():
        film = animate(
            outcome.model, outcome.data.X, Path(folder) / f"film{path.suffix}",
            names=outcome.data.columns,
        )  # fmt: skip
        write_whole(path, [film.read_bytes()])


@contextmanager
def _any_letters() -> Iterator[None]:
    """Letters that the font has not are drawn as boxes, without a word of matplotlib for each."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph", UserWarning)
        yield


def write_figure(figure: Any, path: Path, dpi: int = 150) -> None:
    """A figure as PNG, SVG or PDF, by the ending, whole or not at all."""
    import io

    buffer = io.BytesIO()
    with _any_letters():
        figure.savefig(buffer, format=path.suffix.lower().lstrip("."), dpi=dpi)
    write_whole(path, [buffer.getvalue()])
