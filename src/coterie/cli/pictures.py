"""Pictures for --plot: of each kind of data its own."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coterie.cli.options import FILMS
from coterie.files import write_whole

if TYPE_CHECKING:
    from coterie.cli.run.result import Result


def draw(result: Result, path: Path) -> None:
    """Draw clusters over a picture, or rows in the plane, or the iterations of the fit."""
    if path.suffix.lower() in FILMS:
        animated(result, path)
    else:
        write_figure(display(result).figure_, path)


def display(result: Result) -> Any:
    """Return the Display of clusters: the paper's view of patches, a segmentation, or points."""
    from coterie.data import Patches, Pixels
    from coterie.plots import ClustersDisplay, PatchesDisplay, SegmentationDisplay

    origin, labels = result.data.origin, result.labels
    if isinstance(origin, Pixels):
        return SegmentationDisplay.from_labels(origin, labels)
    if isinstance(origin, Patches) and result.data.scaling is None and (labels >= 0).all():
        return PatchesDisplay.from_estimator(result.model, origin)
    if isinstance(origin, Patches):
        return SegmentationDisplay.from_labels(origin, labels)
    return ClustersDisplay.from_estimator(
        result.model, result.data.X, names=result.data.columns, diagnoses=False
    )


def animated(result: Result, path: Path) -> None:
    """Write the iterations of a fit that was traced."""
    from coterie.plots import animate

    with tempfile.TemporaryDirectory(prefix="coterie-") as folder, _any_letters():
        film = animate(
            result.model, result.data.X, Path(folder) / f"film{path.suffix}",
            names=result.data.columns,
        )  # fmt: skip
        write_whole(path, [film.read_bytes()])


@contextmanager
def _any_letters() -> Iterator[None]:
    """Let letters that the font lacks be boxes, without a warning of matplotlib for each."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph", UserWarning)
        yield


def write_figure(figure: Any, path: Path, dpi: int = 150) -> None:
    """Write a figure as PNG, SVG or PDF, by the ending, whole or not at all."""
    import io

    buffer = io.BytesIO()
    with _any_letters():
        figure.savefig(buffer, format=path.suffix.lower().lstrip("."), dpi=dpi)
    write_whole(path, [buffer.getvalue()])
