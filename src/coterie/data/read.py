"""`read`: any file becomes a `Dataset`; its content decides the kind, and then its name."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from coterie.data.dataset import Dataset
from coterie.data.errors import DataError, naming
from coterie.data.file_types import (
    MODEL,
    UTF_16,
    check_extension,
    check_supported,
    first_bytes,
    kind_by_first_bytes,
)
from coterie.data.media.audio import read_sound
from coterie.data.media.images import MAX_PIXELS
from coterie.data.media.patches import image_patches
from coterie.data.media.pixels import image_pixels
from coterie.data.media.video import read_video
from coterie.data.memory_shortage import reports_shortage
from coterie.data.options import check_choice, check_path
from coterie.data.tables import read_table
from coterie.data.text import SUFFIXES as TEXT_SUFFIXES
from coterie.data.text import read_texts


def read(path: str | os.PathLike[str], kind: str | None = None, **options: Any) -> Dataset:
    """Read a table, picture, video, sound or text as rows of numbers.

    Parameters
    ----------
    path : path
        A file; or a folder, of text files.
    kind : {"table", "picture", "video", "sound", "text"} or None
        None: the first bytes of the file decide, and for plain text its name.
    **options
        Those of `read_table`, `read_picture`, `read_video`, `read_sound` or `read_texts`.

    Returns
    -------
    Dataset
        With the rows `X`, the names of `columns`, and the way back from labels.
    """
    check_path(path)
    where = Path(path)
    if kind is None:
        kind = kind_of(where)
    check_choice("kind", kind, tuple(READERS), "leave it out to let the file decide")
    reader = READERS[kind]
    legal = [name for name in inspect.signature(reader).parameters if name != "path"]
    unknown = [name for name in options if name not in legal]
    if unknown:
        raise TypeError(
            f"expected options of a {kind}: {', '.join(legal)}; got {unknown[0]!r}; "
            "pass kind='...' if the file should be read as something else"
        )
    return reader(where, **options)


@reports_shortage
def read_picture(
    path: str | os.PathLike[str],
    *,
    features: Literal["patches", "pixels"] = "patches",
    size: int | tuple[int, int] = 8,
    position: float = 0.0,
    max_pixels: int = MAX_PIXELS,
) -> Dataset:
    """Read a picture as patches of `size` pixels, or as pixels, with their place on request."""
    check_path(path)
    check_choice("features", features, ("patches", "pixels"), "'patches' are fewer rows")
    if features == "patches":
        origin = image_patches(path, size, max_pixels=max_pixels)
    else:
        origin = image_pixels(path, position=position, max_pixels=max_pixels)
    provenance = {
        "source": str(path),
        "features": features,
        "size": list(origin.size),
        "position": position,
    }
    names = origin.feature_names
    return Dataset(origin.features, names, "picture", str(path), origin, provenance)


READERS: dict[str, Callable[..., Dataset]] = {
    "table": read_table,
    "picture": read_picture,
    "video": read_video,
    "sound": read_sound,
    "text": read_texts,
}


def kind_of(path: Path) -> str:
    """Return the kind of data in a file or folder."""
    if path.is_dir():
        return "text"
    start = first_bytes(path)
    kind = kind_by_first_bytes(path, start)
    if start.startswith(MODEL):
        raise DataError(
            f"{path}: expected data, got a model saved by coterie; open it with coterie.load, or "
            f"use it for data with: coterie predict {path.name} INPUT"
        )
    with naming(path):
        check_supported(start)
        check_extension(path, start)
    if kind is not None:
        return kind
    if b"\0" in start and not start.startswith(UTF_16):
        raise DataError(
            f"{path}: expected a table, picture, video, sound or text, got a file that starts with "
            f"{start[:12]!r}; convert it, or pass kind='...' if you know better"
        )
    return "text" if path.suffix.lower() in TEXT_SUFFIXES else "table"
