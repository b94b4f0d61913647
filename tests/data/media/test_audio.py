"""Sound as frames: tones fall into their bands, and files that lie are refused."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.data_files import wav, written

from coterie import KMeans
from coterie.data import DataError, Segment, read_sound

soundfile = pytest.importorskip("soundfile")
RATE = 8000


def tone(hertz: float, seconds: float = 1.0) -> Any:
    return 0.5 * np.sin(2 * np.pi * hertz * np.arange(int(RATE * seconds)) / RATE)


@pytest.fixture
def two_tones(tmp_path: Path) -> Path:
    return written(tmp_path / "t.wav", wav(np.concatenate([tone(250), tone(2000)])))


def test_the_strongest_frequency_is_that_of_the_tone(two_tones: Path) -> None:
    data = read_sound(two_tones, frame=0.064, bands=None)
    assert data.columns[:3] == ("0 Hz", "16 Hz", "31 Hz")
    assert data.columns[int(data.X[3].argmax())] == "250 Hz"
    assert data.columns[int(data.X[-3].argmax())] == "2000 Hz"
    assert data.X.min() >= -100.0
    assert data.X[3].max() == pytest.approx(20 * np.log10(0.5), abs=0.1)


def test_two_tones_are_two_clusters_and_two_stretches(two_tones: Path) -> None:
    data = read_sound(two_tones, frame=0.05, hop=0.05)
    assert data.X.shape == (40, len(data.columns))
    labels = KMeans(2, random_state=0).fit(data.X).labels_
    first, second = data.put_back(labels)
    assert first == Segment(0.0, 1.0, labels[0])
    assert second == Segment(1.0, 2.0, labels[-1])
    assert data.ids["start"][:2].tolist() == [0.0, 0.05]


def test_samples_are_the_samples(tmp_path: Path) -> None:
    signal = np.linspace(-0.9, 0.9, 100)
    data = read_sound(written(tmp_path / "t.wav", wav(signal)), features="samples", frame=0.003)
    assert data.X.shape == (4, 24)
    np.testing.assert_allclose(data.X.ravel(), signal[:96], atol=1e-4)


@pytest.mark.parametrize("form", ["FLAC", "OGG", "WAV"])
def test_formats_and_channels(tmp_path: Path, form: str) -> None:
    left_right = np.column_stack([tone(500), np.zeros(RATE)])
    soundfile.write(tmp_path / "t", left_right, RATE, format=form)
    data = read_sound(tmp_path / "t", features="samples", frame=0.01)
    assert data.X.shape == (100, 80)
    assert np.abs(data.X).max() == pytest.approx(0.25, abs=0.05)  # the mean of both channels


def test_a_file_that_declares_more_than_it_has(tmp_path: Path) -> None:
    lying = bytearray(wav(tone(250)))
    lying[40:44] = struct.pack("<I", 2**32 - 100)
    lying[4:8] = struct.pack("<I", 2**32 - 64)
    data = read_sound(written(tmp_path / "lying.wav", bytes(lying)), features="samples")
    assert data.X.size <= RATE  # the decoder counts for itself; SciPy asks for 4 GiB


def test_silence_that_unpacks_to_too_much(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "t.flac", np.zeros(4_000_000), RATE)
    with pytest.raises(DataError, match=r"100 bytes in memory per byte .* max_expansion=\d+"):
        read_sound(tmp_path / "t.flac")
    with pytest.raises(DataError, match=r"at most 1\.0 MB of memory, got 4,000,000 samples"):
        read_sound(tmp_path / "t.flac", max_memory="1 MB")


@pytest.mark.parametrize("form", ["WAV", "FLAC", "OGG"])
def test_damaged_files_give_one_kind_of_error(tmp_path: Path, form: str) -> None:
    soundfile.write(tmp_path / "whole", tone(250, 0.3), RATE, format=form)
    whole = (tmp_path / "whole").read_bytes()
    random = np.random.default_rng(0)
    complaints = []
    for _ in range(60):
        damaged = bytearray(whole[: random.integers(1, len(whole) + 1)])
        for at in random.integers(0, len(damaged), 3):
            damaged[at] = random.integers(256)
        try:
            data = read_sound(written(tmp_path / "damaged", bytes(damaged)), max_memory="20 MB")
            assert np.isfinite(data.X).all()
        except DataError as error:
            complaints.append(str(error))
    assert len(complaints) > 5
    assert all("expected" in said and ";" in said for said in complaints)


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"features": "mfcc"}, ValueError, "expected features out of 'spectrum', 'samples'"),
        ({"frame": 0.0001}, ValueError, "frame of at least 2 samples"),
        ({"frame": 5.0}, DataError, r"at least one frame of 5 s, got a recording of 2 s"),
        ({"bands": 0}, ValueError, "expected bands of at least 1"),
        (
            {"bands": 10**18, "frame": 0.1},
            ValueError,
            r"at most 400 bands, one for each frequency of a frame of 800 samples, got 1,000,000,",
        ),
    ],
)
def test_options_that_make_no_sense(two_tones: Path, options: Any, error: Any, says: str) -> None:
    with pytest.raises(error, match=says):
        read_sound(two_tones, **options)
