"""Video: frames one after the other, patches and pixels, labels back onto frames."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.data_files import video, written

from coterie import KMeans
from coterie.data import DataError, read_video, video_frames

av = pytest.importorskip("av")


@pytest.fixture(scope="module")
def clip(tmp_path_factory: Any) -> Path:
    """Eight frames in two seconds: the left half is red, the right one blue, then all green."""
    pictures = np.zeros((8, 32, 48, 3), dtype=np.uint8)
    pictures[:4, :, :24, 0] = 255
    pictures[:4, :, 24:, 2] = 255
    pictures[4:, :, :, 1] = 255
    return video(tmp_path_factory.mktemp("video") / "clip.mp4", pictures)


def test_frames_come_one_at_a_time_with_their_times(clip: Path) -> None:
    frames = list(video_frames(clip, every=0.5))
    assert [time for time, _ in frames] == [0.0, 0.5, 1.0, 1.5]
    assert frames[0][1].shape == (32, 48, 3)
    np.testing.assert_allclose(frames[0][1][5, 5], [1, 0, 0], atol=0.1)
    assert len(list(video_frames(clip, every=0))) == 8
    assert len(list(video_frames(clip, every=0, max_frames=3))) == 3


def test_patches_cluster_by_colour_and_go_back(clip: Path) -> None:
    data = read_video(clip, size=8, every=1.0)
    assert data.X.shape == (2 * 4 * 6, 3)
    labels = KMeans(3, random_state=0).fit(data.X).labels_
    maps = data.put_back(labels)
    assert maps.shape == (2, 32, 48)
    left, right, green = maps[0, 0, 0], maps[0, 0, 47], maps[1, 0, 0]
    assert len({left, right, green}) == 3
    assert (maps[0, :, :24] == left).all()
    assert (maps[0, :, 24:] == right).all()
    assert (maps[1] == green).all()
    assert {name: at[-1] for name, at in data.ids.items()} == {"time": 1.0, "top": 24, "left": 40}


def test_pixels_with_their_place(clip: Path) -> None:
    data = read_video(clip, features="pixels", position=1.0, max_frames=1)
    assert data.X.shape == (32 * 48, 5)
    assert data.columns == ("red", "green", "blue", "down", "right")
    np.testing.assert_array_equal(data.put_back(np.zeros(32 * 48, int)), np.zeros((1, 32, 48)))


def test_limits(clip: Path) -> None:
    with pytest.raises(DataError, match=r"at most 1,000 pixels, got 48 x 32; .*max_pixels=1536"):
        read_video(clip, max_pixels=1000)
    with pytest.raises(DataError, match=r"at most 50\.0 KB of memory, got more after .*every=2,"):
        read_video(clip, features="pixels", max_memory=50_000)


def test_other_files_are_never_given_to_the_decoder(tmp_path: Path) -> None:
    playlist = b"#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n"
    with pytest.raises(DataError, match=r"MP4, MOV, MKV, WebM, AVI or OGG video, got .*EXTM3U"):
        read_video(written(tmp_path / "t.mp4", playlist))


def test_damaged_videos_give_one_kind_of_error(tmp_path: Path, clip: Path) -> None:
    whole = clip.read_bytes()
    random = np.random.default_rng(0)
    complaints = []
    for _ in range(40):
        damaged = bytearray(whole[: random.integers(9, len(whole) + 1)])
        for at in random.integers(8, len(damaged), 3):
            damaged[at] = random.integers(256)
        try:
            read_video(written(tmp_path / "t.mp4", bytes(damaged)), every=0, max_memory="50 MB")
        except DataError as error:
            complaints.append(str(error))
    assert len(complaints) > 10
    assert all("t.mp4: expected" in said for said in complaints)
