"""Sound as data points: short frames of it, as samples or as the strengths of frequencies.

A recording is cut into frames of a few hundredths of a second. Similar frames sound alike, and a
cluster of them is a kind of sound: a note, a vowel, silence.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.data.dataset import Dataset, Labels
from coterie.data.errors import DataError, naming, required
from coterie.data.memory_limits import MAX_EXPANSION, Limits
from coterie.data.memory_shortage import reports_shortage
from coterie.data.options import check_choice, check_number, check_path, check_whole

Array = NDArray[np.float64]
FLOOR = 1e-10  # power of silence: -100 dB
FORMATS = ("WAV", "WAVEX", "FLAC", "OGG")
BANDS = 32
BLOCK = 1 << 16  # samples read at once
UNKNOWN_LENGTH = 0x7FFFF000  # bytes; programs that write WAV into a pipe declare at least this
UNKNOWN_FRAMES = 2**62  # the decoder's word for FLAC from a pipe
_SAMPLE_BYTES = {"PCM_S8": 1, "PCM_U8": 1, "PCM_16": 2, "PCM_24": 3, "PCM_32": 4, "FLOAT": 4,
                 "DOUBLE": 8}  # fmt: skip


class Segment(NamedTuple):
    """A stretch of sound in one cluster; seconds."""

    start: float
    end: float
    cluster: int


@dataclass(frozen=True, eq=False)
class Sound:
    """The frames of one recording.

    Attributes
    ----------
    rate : int
        Samples per second.
    frame, hop : int
        Length of a frame, and the distance from one to the next, in samples.
    n_frames : int
    """

    rate: int
    frame: int
    hop: int
    n_frames: int

    def ids(self) -> dict[str, NDArray[Any]]:
        """Return the start and the end of every frame, in seconds."""
        start = np.arange(self.n_frames) * self.hop
        return {"start": start / self.rate, "end": (start + self.frame) / self.rate}

    def put_back(self, labels: Labels) -> list[Segment]:
        """Return stretches of frames in one cluster; where frames overlap, the later one counts."""
        if not len(labels):
            return []
        changes = np.flatnonzero(np.diff(labels)) + 1
        begins = np.concatenate([[0], changes])
        starts = begins * self.hop / self.rate
        last = ((self.n_frames - 1) * self.hop + self.frame) / self.rate
        ends = [*starts[1:].tolist(), last]
        return [
            Segment(start, end, int(labels[row]))
            for start, end, row in zip(starts.tolist(), ends, begins, strict=True)
        ]


@reports_shortage
def read_sound(
    path: str | os.PathLike[str],
    *,
    features: Literal["spectrum", "samples"] = "spectrum",
    frame: float = 0.046,
    hop: float | None = None,
    bands: int | None = BANDS,
    max_memory: int | str | None = None,
    max_expansion: float = MAX_EXPANSION,
) -> Dataset:
    """Read a WAV, FLAC or OGG file as frames.

    Parameters
    ----------
    path : path
    features : {"spectrum", "samples"}, default="spectrum"
        The logarithm of the power of each band of frequencies in the frame, in decibels below
        full scale, at least -100; or the samples themselves, in [-1, 1].
    frame : float, default=0.046
        Seconds of a frame.
    hop : float or None
        Seconds from one frame to the next. None: half a frame for the spectrum, a frame for
        samples. A rest at the end, shorter than a frame, is not used.
    bands : int or None, default=32
        Bands of frequencies, each wider than the one below by the same factor, as ears hear; fewer
        where a short frame has fewer frequencies. None: every frequency of the Fourier transform
        by itself.
    max_memory, max_expansion
        As for `read_table`.

    Channels are averaged.
    """
    check_path(path)
    where = Path(path)
    limits = Limits.of(max_memory, max_expansion)
    _check_options(features, frame, hop, bands)
    with naming(where):
        signal, rate = _read(where, limits)
        length, step = _lengths(frame, hop, rate, features, len(signal))
        if features == "spectrum":
            _check_bands(bands, length)
        frames = np.lib.stride_tricks.sliding_window_view(signal, length)[::step]
        limits.check(
            8 * len(frames) * (length if features == "samples" or not bands else bands),
            where.stat().st_size,
            f"{len(frames):,} frames",
            "use a longer hop",
        )
    if features == "samples":
        X, names = np.array(frames), tuple(f"sample_{i}" for i in range(length))
    else:
        X, names = _spectra(frames, rate, bands)
    provenance = {
        "source": str(where),
        "features": features,
        "rate": rate,
        "frame": length,
        "hop": step,
        "bands": bands,
    }
    origin = Sound(rate, length, step, len(X))
    return Dataset(X, names, "sound", str(where), origin, provenance)


def _check_options(features: Any, frame: Any, hop: Any, bands: Any) -> None:
    check_choice("features", features, ("spectrum", "samples"), "'spectrum' suits most sounds")
    check_number("frame", frame, 0, "pass seconds, such as 0.046")
    if hop is not None:
        check_number("hop", hop, 0, "pass seconds, or None for half a frame")
    if bands is not None:
        check_whole("bands", bands, 1, f"{BANDS} suits most sounds")


def _read(path: Path, limits: Limits) -> tuple[Array, int]:
    """Return the samples, channels averaged, and the number of samples per second."""
    soundfile = required("soundfile", "reading sound files", "media")
    stored = path.stat().st_size
    try:
        with path.open("rb") as raw, soundfile.SoundFile(raw) as file:
            if file.format not in FORMATS:
                raise DataError(f"expected WAV, FLAC or OGG, got {file.format}; convert it first")
            if file.format.startswith("WAV"):
                _check_length(path, stored)
                _check_declared(int(file.frames), file.channels, file.subtype, stored)
            signal, rate = _samples(file, stored, limits), int(file.samplerate)
    except (soundfile.LibsndfileError, RuntimeError, TypeError) as error:
        said = re.sub(r"Error opening <.*?>: ", "", str(error)).rstrip(".")
        raise DataError(
            f"expected a complete WAV, FLAC or OGG file, but it cannot be decoded ({said}); "
            "convert it, for example with: ffmpeg -i recording sound.wav"
        ) from error
    if not np.isfinite(signal).all():
        raise DataError("expected finite samples, got NaN or infinity; convert it to 16 bits")
    return signal, rate


def _samples(file: Any, stored: int, limits: Limits) -> Array:
    """Return as many samples as the file declares, channels averaged."""
    declared, filled = int(file.frames), 0
    if declared >= UNKNOWN_FRAMES:
        raise DataError(
            f"expected a {file.format} file that says how long it is, got one without a length, as "
            "programs write into pipes; convert it, for example with: ffmpeg -i recording sound.wav"
        )
    limits.check(8 * declared, stored, f"{declared:,} samples", "cut it into pieces")
    signal = np.empty(declared)
    while filled < declared:
        part = file.read(min(BLOCK, declared - filled), always_2d=True)
        if not len(part):
            break
        signal[filled : filled + len(part)] = part.mean(axis=1)
        filled += len(part)
    if not declared:
        raise DataError("expected sound, got none; the file is empty or cut off: copy it again")
    if filled != declared:
        raise DataError(
            f"expected {declared:,} samples, as the file declares, got {filled:,}; "
            "the file is cut off: copy it again"
        )
    return signal


def _check_length(path: Path, stored: int) -> None:
    """Refuse a WAV file that is cut off: the decoder would take its part for the whole."""
    with path.open("rb") as file:
        file.seek(12)
        while len(head := file.read(8)) == 8:
            name, size = head[:4], int.from_bytes(head[4:], "little")
            there = stored - file.tell()
            if name == b"data":
                if there < size < UNKNOWN_LENGTH:
                    raise DataError(
                        f"expected {size:,} bytes of samples, as the file declares, got {there:,}; "
                        "the file is cut off: copy it again"
                    )
                return
            file.seek(size + size % 2, os.SEEK_CUR)


def _check_declared(frames: int, channels: int, subtype: str, stored: int) -> None:
    """Refuse plain samples that cannot all be in the file."""
    needed = frames * channels * _SAMPLE_BYTES.get(subtype, 0)
    if needed > stored:
        raise DataError(
            f"expected {needed:,} bytes for the {frames:,} samples it declares, got {stored:,}; "
            "the file is cut off: copy it again"
        )


def _lengths(frame: float, hop: float | None, rate: int, features: str, n: int) -> tuple[int, int]:
    """Return frame and hop in samples."""
    length = round(frame * rate)
    step = round(hop * rate) if hop is not None else length // (2 if features == "spectrum" else 1)
    if length < 2 or step < 1:
        raise ValueError(
            f"expected a frame of at least 2 samples and a hop of at least 1, got {length} and "
            f"{step} at {rate:,} samples per second; use a longer frame and hop"
        )
    if n < length:
        raise DataError(
            f"expected at least one frame of {frame:g} s, got a recording of {n / rate:.3g} s; "
            "use a shorter frame"
        )
    return length, step


def _check_bands(bands: int | None, length: int) -> None:
    """Refuse more bands than a frame has frequencies; the usual number always goes."""
    if bands is None:
        return
    most = length // 2  # without the constant
    if bands > max(most, BANDS):
        raise ValueError(
            f"expected at most {most:,} bands, one for each frequency of a frame of {length:,} "
            f"samples, got {bands:,}; ask for fewer, or for longer frames"
        )


def _spectra(frames: Array, rate: int, bands: int | None) -> tuple[Array, tuple[str, ...]]:
    """Return the power of each band of each frame in decibels, (n, bands), and their names."""
    length = frames.shape[1]
    window = np.hanning(length + 1)[:-1]
    unit = 2.0 / window.sum()  # a full-scale tone gets power 1
    frequencies = np.fft.rfftfreq(length, 1.0 / rate)
    edges = _band_edges(len(frequencies), bands)
    X = np.empty((len(frames), len(edges)))
    for start in range(0, len(frames), 1024):
        spectrum = np.abs(np.fft.rfft(frames[start : start + 1024] * window, axis=1)) * unit
        power = np.add.reduceat(spectrum**2, edges, axis=1)
        X[start : start + 1024] = 10.0 * np.log10(np.maximum(power, FLOOR))
    return X, tuple(f"{frequencies[edge]:.0f} Hz" for edge in edges)


def _band_edges(n: int, bands: int | None) -> NDArray[np.intp]:
    """Return the first of n frequencies in each band: distinct, and wider towards the top."""
    if bands is None:
        return np.arange(n)
    return np.unique(np.geomspace(1, n, bands + 1)[:-1].astype(np.intp))
