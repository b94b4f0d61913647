"""Video as data points: patches or pixels of its frames, decoded one after the other."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal

import numpy as np
from numpy.typing import NDArray

from coterie.data.dataset import Dataset, Labels
from coterie.data.errors import DataError, naming, required
from coterie.data.media.images import MAX_PIXELS
from coterie.data.media.patches import Array, Patches, image_patches
from coterie.data.media.pixels import pixel_features
from coterie.data.memory_limits import Limits, readable, roomy
from coterie.data.memory_shortage import reports_shortage
from coterie.data.options import check_choice, check_number, check_path, check_whole


@dataclass(frozen=True, eq=False)
class Frames:
    """Frames of one video that became rows, one frame after the other.

    Attributes
    ----------
    times : array (frames,)
        When each frame is shown, in seconds.
    height, width : int
        Pixels of a frame.
    size : (height, width)
        Of a patch; (1, 1) for pixels.
    """

    times: Array
    height: int
    width: int
    size: tuple[int, int]

    @property
    def _first(self) -> Patches:
        """The grid that every frame is cut into."""
        blank = np.broadcast_to(0.0, (self.height, self.width, 3))
        rows = -(-self.height // self.size[0]) * -(-self.width // self.size[1])
        return Patches(blank, self.size, np.broadcast_to(0.0, (rows, 3)))

    def ids(self) -> dict[str, NDArray[Any]]:
        """Return time (seconds) and top left pixel of every row."""
        place = {name: np.tile(at, len(self.times)) for name, at in self._first.ids().items()}
        return {"time": np.repeat(self.times, len(self._first)), **place}

    def put_back(self, labels: Labels) -> Labels:
        """Return the label of every pixel of every frame, (frames, height, width)."""
        grid = self._first
        return np.stack([grid.segmentation(part) for part in labels.reshape(-1, len(grid))])


@reports_shortage
def read_video(
    path: str | os.PathLike[str],
    *,
    features: Literal["patches", "pixels"] = "patches",
    size: int | tuple[int, int] = 16,
    position: float = 0.0,
    every: float = 1.0,
    max_frames: int | None = None,
    max_pixels: int = MAX_PIXELS,
    max_memory: int | str | None = None,
) -> Dataset:
    """Read frames of an MP4, MOV, MKV, WebM, AVI or OGG video as patches or pixels.

    Parameters
    ----------
    path : path
    features : {"patches", "pixels"}, default="patches"
        Mean colours of rectangles of `size` pixels, or every pixel, with its place if `position`
        is above 0, as in `image_pixels`.
    every : float, default=1.0
        Seconds from one frame that is taken to the next. 0 takes all.
    max_frames : int or None
        Stop after so many frames.
    max_pixels, max_memory
        Larger frames, and more rows than fit, are refused.

    To go through a video that does not fit into memory, use `video_frames`.
    """
    check_path(path)
    where = Path(path)
    check_choice("features", features, ("patches", "pixels"), "'patches' are fewer rows")
    limits = Limits.of(max_memory)
    parts: list[Array] = []
    times: list[float] = []
    stored, shape, grid = 0, (0, 0), (1, 1)
    for time, picture in _frames(where, every, max_frames, max_pixels, limits):
        if features == "patches":
            patches = image_patches(picture, size, max_pixels=max_pixels)
            rows, grid = patches.features, patches.size
        else:
            rows = pixel_features(picture, position)
        parts.append(rows)
        stored += rows.nbytes
        with naming(where):
            _check_memory(stored, time, every, limits)
            if times and picture.shape[:2] != shape:
                raise DataError(
                    f"expected frames of one size, got {shape} and {picture.shape[:2]} at "
                    f"{time:g} s; convert the video first"
                )
        shape = picture.shape[:2]
        times.append(time)
    provenance = {
        "source": str(where),
        "features": features,
        "size": list(grid),
        "position": position,
        "every": every,
        "frames": len(times),
    }
    place = ("down", "right") if features == "pixels" and position else ()
    columns, origin = ("red", "green", "blue", *place), Frames(np.array(times), *shape, grid)
    return Dataset(np.concatenate(parts), columns, "video", str(where), origin, provenance)


def _check_memory(stored: int, time: float, every: float, limits: Limits) -> None:
    """Raise if the rows of the frames so far, and a copy of them, do not fit into memory."""
    needed, apart = 2 * stored, 2 * every or 1
    if needed > limits.memory:
        raise DataError(
            f"expected rows that need at most {readable(limits.memory)} of memory, "
            f"got more after {time:g} s of video; take fewer frames with every={apart:g}, "
            f"larger patches, or pass max_memory={roomy(4 * needed)!r}"
        )


def video_frames(
    path: str | os.PathLike[str],
    *,
    every: float = 1.0,
    max_frames: int | None = None,
    max_pixels: int = MAX_PIXELS,
) -> Iterator[tuple[float, Array]]:
    """Yield frames as (seconds, picture of shape (height, width, 3) in [0, 1]), one at a time."""
    check_path(path)
    return _frames(Path(path), every, max_frames, max_pixels, Limits.of(None))


def _frames(
    where: Path, every: float, max_frames: int | None, max_pixels: int, limits: Limits
) -> Iterator[tuple[float, Array]]:
    check_number("every", every, 0, "1 takes a frame for each second, 0 takes all")
    check_whole("max_pixels", max_pixels, 1, "it is the largest frame that is read")
    if max_frames is not None:
        check_whole("max_frames", max_frames, 1, "None takes all frames")
    taken, due = 0, -np.inf
    with where.open("rb") as file, _decoder_errors(where), _open_container(file) as container:
        stream = _stream(container)
        _check_size(stream.width, stream.height, max_pixels, limits)
        for frame in container.decode(stream):
            time = float(frame.time or 0.0)
            if time < due:
                continue
            _check_size(frame.width, frame.height, max_pixels, limits)
            if frame.is_corrupt:  # the decoder fills the unread parts with other pixels
                raise DataError(
                    f"expected whole frames, got a damaged one at {time:g} s; "
                    "get the video again, or convert it: ffmpeg -i input video.mp4"
                )
            yield time, frame.to_ndarray(format="rgb24").astype(np.float64) / 255.0
            taken, due = taken + 1, time + every - 1e-9
            if taken == max_frames:
                break
        if not taken:
            raise DataError(
                "expected frames, got none; the file is damaged or cut off: get the video again"
            )


def _stream(container: Any) -> Any:
    """Return the first stream of pictures."""
    streams = container.streams.video
    if not streams:
        raise DataError("expected a video, got a file without pictures; check the path")
    if not hasattr(streams[0], "width"):  # PyAV has none without a decoder
        raise DataError("expected a known codec, got another one; convert the video")
    return streams[0]


@contextmanager
def _open_container(file: IO[bytes]) -> Iterator[Any]:
    """Open a video by its content, as one of few formats.

    The decoder gets the open file and the name of the format, never a path: some formats list other
    files and addresses, which it would open too.
    """
    av = required("av", "reading videos", "media")
    start = file.read(16)
    file.seek(0)
    container = av.open(file, format=video_format(start))
    try:
        yield container
    finally:
        container.close()


def video_format(start: bytes) -> str:
    """Return the decoder's name for a video that begins with these bytes."""
    if start[4:8] in (b"ftyp", b"moov", b"mdat", b"wide", b"free"):
        return "mp4"
    if start.startswith(b"\x1a\x45\xdf\xa3"):
        return "matroska"
    if start.startswith(b"RIFF") and start[8:12] == b"AVI ":
        return "avi"
    if start.startswith(b"OggS"):
        return "ogg"
    raise DataError(
        f"expected an MP4, MOV, MKV, WebM, AVI or OGG video, got a file that starts with "
        f"{start!r}; convert it first, for example with: ffmpeg -i input video.mp4"
    )


@contextmanager
def _decoder_errors(path: Path) -> Iterator[None]:
    """Name the file in every error, and turn the decoder's errors into one kind."""
    av = required("av", "reading videos", "media")
    try:
        yield
    except DataError as error:
        raise DataError(f"{path}: {error}") from error.__cause__
    except (av.FFmpegError, ValueError, OverflowError) as error:
        said = getattr(error, "strerror", None) or error
        raise DataError(
            f"{path}: expected a complete video, but it cannot be decoded ({said}); "
            "convert it, for example with: ffmpeg -i input video.mp4"
        ) from error


def _check_size(width: int, height: int, max_pixels: int, limits: Limits) -> None:
    if width * height > max_pixels:
        raise DataError(
            f"expected frames of at most {max_pixels:,} pixels, got {width} x {height}; "
            f"shrink the video, or pass max_pixels={width * height} to allow it"
        )
    needed = 3 * 8 * width * height
    if needed > limits.memory:
        raise DataError(
            f"expected frames that need at most {readable(limits.memory)} of memory, got {width} x "
            f"{height}, which need {readable(needed)}; shrink the video, or pass "
            f"max_memory={roomy(4 * needed)!r}"
        )
