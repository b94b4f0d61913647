"""Pictures from files and arrays: right colours, or an error with a remedy."""

from __future__ import annotations

import io
import struct
import sys
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from coterie.data import PictureError, load_picture, sample_picture, sample_picture_path
from coterie.data.media import images

Image = pytest.importorskip("PIL.Image")

RED_GREEN = np.array([[[255, 0, 0], [0, 128, 0]]], dtype=np.uint8)  # 1 x 2 pixels


def save(path: Path, pixels: Any, mode: str | None = None, **options: Any) -> Path:
    image = Image.fromarray(pixels)
    (image.convert(mode) if mode else image).save(path, **options)
    return path


def png_declaring(width: int, height: int) -> bytes:
    """A valid header, and far too few pixels after it."""

    def chunk(name: bytes, body: bytes) -> bytes:
        return (
            struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
        )

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    pixels = zlib.compress(bytes(1000))
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")
    )


@pytest.mark.parametrize("suffix", ["png", "bmp", "tiff", "webp", "gif"])
def test_lossless_formats_keep_every_colour(tmp_path: Path, suffix: str) -> None:
    options = {"lossless": True} if suffix == "webp" else {}
    path = save(tmp_path / f"picture.{suffix}", RED_GREEN, **options)
    picture = load_picture(path)
    assert picture.dtype == np.float64
    np.testing.assert_array_equal(picture, RED_GREEN / 255.0)


def test_the_content_decides_about_the_format_not_the_name(tmp_path: Path) -> None:
    save(tmp_path / "a.png", RED_GREEN)
    renamed = (tmp_path / "a.png").rename(tmp_path / "a.jpg")
    np.testing.assert_array_equal(load_picture(str(renamed)), RED_GREEN / 255.0)


def test_grey_pictures_get_three_equal_channels(tmp_path: Path) -> None:
    path = save(tmp_path / "grey.png", np.array([[0, 51, 255]], dtype=np.uint8))
    np.testing.assert_array_equal(load_picture(path)[0, :, 2], [0.0, 0.2, 1.0])


def test_sixteen_bits_are_not_cut_off_at_eight(tmp_path: Path) -> None:
    path = save(tmp_path / "deep.png", np.array([[0, 13107, 65535]], dtype=np.uint16))
    np.testing.assert_array_equal(load_picture(path)[0, :, 0], [0.0, 0.2, 1.0])


def test_transparent_pixels_are_shown_on_white(tmp_path: Path) -> None:
    hidden_red = np.array([[[255, 0, 0, 0], [0, 0, 0, 255]]], dtype=np.uint8)
    picture = load_picture(save(tmp_path / "clear.png", hidden_red))
    np.testing.assert_array_equal(picture, [[[1.0, 1.0, 1.0], [0.0, 0.0, 0.0]]])


def test_photos_are_turned_upright(tmp_path: Path) -> None:
    turned = Image.Exif()
    turned[0x0112] = 6  # the camera was held a quarter turn
    path = save(tmp_path / "phone.png", RED_GREEN, exif=turned)
    np.testing.assert_array_equal(load_picture(path), RED_GREEN.transpose(1, 0, 2) / 255.0)


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        (RED_GREEN, RED_GREEN / 255.0),
        (RED_GREEN.astype(np.uint16), RED_GREEN / 65535.0),
        (RED_GREEN / 255.0, RED_GREEN / 255.0),
        ([[0.0, 1.0]], [[[0.0] * 3, [1.0] * 3]]),
        (np.asfortranarray(RED_GREEN)[:, ::-1], RED_GREEN[:, ::-1] / 255.0),
    ],
    ids=["uint8", "uint16", "float", "grey list", "strided"],
)
def test_arrays_are_scaled_by_their_dtype(array: Any, expected: Any) -> None:
    np.testing.assert_array_equal(load_picture(array), expected)


def test_the_result_is_a_copy_of_an_array() -> None:
    mine = np.zeros((2, 2, 3))
    load_picture(mine)[:] = 1.0
    assert not mine.any()


@pytest.mark.parametrize(
    ("array", "says"),
    [
        (np.zeros((2, 2, 4)), r"expected .*\(height, width, 3\).* got shape \(2, 2, 4\); .*:3"),
        (np.zeros((0, 2, 3)), r"got shape \(0, 2, 3\)"),
        (np.zeros(3), r"got shape \(3,\)"),
        (np.full((1, 1, 3), 200.0), r"expected colours in \[0, 1\], got .* 200 .*picture / 255"),
        (np.full((1, 1, 3), np.nan), r"expected colours in \[0, 1\], got values from nan"),
        (np.ones((1, 1, 3), dtype=np.int64), r"expected .*uint8.* got dtype int64; convert"),
        (np.ones((1, 1, 3), dtype=complex), r"got dtype complex128"),
        (
            np.ma.masked_equal([[[0.0, 0.5, 0.5]]], 0.5),
            r"without masked values, got 2 of them; fill",
        ),
    ],
    ids=["alpha", "empty", "flat", "too large", "nan", "signed", "complex", "masked"],
)
def test_unusable_arrays_say_expected_actual_remedy(array: Any, says: str) -> None:
    with pytest.raises(PictureError, match=says):
        load_picture(array)


def test_a_pillow_image_is_refused_because_its_numbers_may_be_palette_indices() -> None:
    with pytest.raises(TypeError, match=r"got a Pillow image; pass numpy\.asarray"):
        load_picture(Image.new("P", (2, 2)))


def test_a_picture_bomb_is_refused_before_decoding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def decoded(*_: object) -> None:
        pytest.fail("the picture was decoded")

    monkeypatch.setattr(images, "_decode", decoded)
    bomb = tmp_path / "bomb.png"
    bomb.write_bytes(png_declaring(30_000, 30_000))
    with pytest.raises(PictureError) as caught:
        load_picture(bomb)
    message = str(caught.value)
    assert "bomb.png: expected at most 64,000,000 pixels" in message
    assert "got 30000 x 30000 = 900,000,000" in message
    assert "max_pixels=900000000" in message


def test_a_small_file_may_not_become_a_large_picture_unless_trusted(tmp_path: Path) -> None:
    path = tmp_path / "blank.png"
    path.write_bytes(png_declaring(5_000, 5_000))
    with pytest.raises(PictureError, match=r"at most 100 decoded bytes .* max_expansion=\d+"):
        load_picture(path)
    with pytest.raises(PictureError, match="cannot be decoded"):  # the header lies as well
        load_picture(path, max_expansion=1e9)


def test_max_pixels_holds_for_arrays_and_files_and_can_be_set(tmp_path: Path) -> None:
    path = save(tmp_path / "two.png", RED_GREEN)
    for source in (path, RED_GREEN):
        with pytest.raises(PictureError, match=r"at most 1 pixels, got 2 x 1 = 2; .*max_pixels=2"):
            load_picture(source, max_pixels=1)
        assert load_picture(source, max_pixels=2).shape == (1, 2, 3)


def test_other_formats_are_not_even_tried(tmp_path: Path) -> None:
    path = tmp_path / "picture.ppm"
    path.write_bytes(b"P6 1 1 255 abc")
    with pytest.raises(PictureError, match=r"one of the formats PNG, JPEG.* starts with b'P6 1"):
        load_picture(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"nowhere\.png"):
        load_picture(tmp_path / "nowhere.png")


def test_32_bit_pictures_are_refused_since_their_white_is_unknown(tmp_path: Path) -> None:
    path = save(tmp_path / "float.tiff", np.zeros((2, 2), dtype=np.float32))
    with pytest.raises(PictureError, match="expected 8 or 16 bits per channel, got 32"):
        load_picture(path)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("suffix", ["png", "jpg", "gif", "bmp", "webp"])
def test_damaged_files_give_a_picture_or_one_kind_of_error(tmp_path: Path, suffix: str) -> None:
    random = np.random.default_rng(0)
    buffer = io.BytesIO()
    pixels = random.integers(0, 256, (9, 7, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(buffer, {"jpg": "jpeg"}.get(suffix, suffix))
    whole = np.frombuffer(buffer.getvalue(), dtype=np.uint8)
    path = tmp_path / "damaged"
    complaints = []
    for _ in range(60):
        damaged = whole[: random.integers(1, len(whole) + 1)].copy()
        damaged[random.integers(0, len(damaged), 3)] = random.integers(0, 256, 3)
        path.write_bytes(damaged.tobytes())
        try:
            picture = load_picture(path, max_pixels=100_000)
            assert picture.min() >= 0.0
            assert picture.max() <= 1.0
        except PictureError as error:
            complaints.append(str(error))
    assert len(complaints) > 10
    assert all("expected" in said and ";" in said for said in complaints)  # with a remedy


def test_without_pillow_the_extra_to_install_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PIL", "PIL.Image"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=r'pip install "coterie\[media\]"'):
        sample_picture()
    assert load_picture(RED_GREEN).shape == (1, 2, 3)  # arrays need no Pillow


def test_the_sample_picture_is_small_and_colourful() -> None:
    assert sample_picture_path().stat().st_size < 150_000
    picture = sample_picture()
    assert picture.shape == (320, 480, 3)
    sky, meadow = picture[:30, 380:400].mean(axis=(0, 1)), picture[290:, 100:].mean(axis=(0, 1))
    assert sky.argmax() == 2
    assert meadow.argmax() == 1
