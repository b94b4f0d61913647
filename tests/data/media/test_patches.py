"""Patches as data points, and labels back onto the picture."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from coterie.data import Patches, image_patches


@pytest.fixture
def ragged() -> Patches:
    """A picture of 5 x 7 pixels in patches of 2 x 3: the last row and column are narrower."""
    codes = np.random.default_rng(0).integers(0, 256, (5, 7, 3), dtype=np.uint8)
    return image_patches(codes, (2, 3))


def test_hand_computed_means() -> None:
    black, white, red = [0, 0, 0], [255, 255, 255], [255, 0, 0]
    picture = np.array([[black, white, red], [white, white, red]], dtype=np.uint8)
    patches = image_patches(picture, 2)
    np.testing.assert_array_equal(patches.features, [[0.75, 0.75, 0.75], [1.0, 0.0, 0.0]])
    assert patches.feature_names == ("red", "green", "blue")


def test_ragged_edges_are_means_over_their_own_pixels(ragged: Patches) -> None:
    assert (ragged.rows, ragged.columns, len(ragged)) == (3, 3, 9)
    assert ragged.box(8) == (4, 6, 5, 7)
    np.testing.assert_array_equal(ragged.features[8], ragged.picture[4, 6])
    for patch in range(len(ragged)):
        top, left, bottom, right = ragged.box(patch)
        mean = ragged.picture[top:bottom, left:right].mean(axis=(0, 1))
        np.testing.assert_allclose(ragged.features[patch], mean, rtol=1e-14)


@pytest.mark.parametrize("largest", [255, 65535])
def test_means_of_integer_pictures_are_the_exact_ones_rounded_once(largest: int) -> None:
    dtype = np.uint8 if largest == 255 else np.uint16
    codes = np.random.default_rng(1).integers(0, largest + 1, (11, 13, 3)).astype(dtype)
    for picture in (codes, codes / largest):  # the same from codes and from floats
        features = image_patches(picture, (11, 13)).features
        exact = [float(Fraction(int(t), 143 * largest)) for t in codes.sum(axis=(0, 1), dtype=int)]
        np.testing.assert_array_equal(features, [exact])


def test_float_pictures_off_the_integer_grid_are_averaged_too() -> None:
    picture = np.full((4, 4, 3), 1.0 / 3.0)
    np.testing.assert_allclose(image_patches(picture, 3).features, 1.0 / 3.0, rtol=1e-15)


def test_patches_of_one_pixel_are_the_pixels(ragged: Patches) -> None:
    pixels = image_patches(ragged.picture, 1)
    np.testing.assert_array_equal(pixels.features, ragged.picture.reshape(-1, 3))


@pytest.mark.parametrize("size", [2.5, (2,), (1, 2, 3), "8", None])
def test_sizes_that_are_no_numbers_say_what_a_size_is(ragged: Patches, size: Any) -> None:
    with pytest.raises(ValueError, match=r"a patch size as an integer or as .*; pass size=8"):
        image_patches(ragged.picture, size)


@pytest.mark.parametrize("size", [0, -1, 6, (2, 8)])
def test_impossible_sizes_say_what_is_possible(ragged: Patches, size: Any) -> None:
    with pytest.raises(ValueError, match=r"expected a patch size .* 5 x 7.* got .*; pass size=5"):
        image_patches(ragged.picture, size)


def test_max_pixels_is_passed_on() -> None:
    picture = np.zeros((3, 4, 3))
    with pytest.raises(ValueError, match="at most 11 pixels, got 4 x 3 = 12"):
        image_patches(picture, 2, max_pixels=11)
    assert len(image_patches(picture, 2, max_pixels=12)) == 4


def test_segmentation_gives_every_pixel_the_label_of_its_patch(ragged: Patches) -> None:
    labels = np.arange(9)
    expected = [[0, 0, 0, 1, 1, 1, 2]] * 2 + [[3, 3, 3, 4, 4, 4, 5]] * 2 + [[6, 6, 6, 7, 7, 7, 8]]
    np.testing.assert_array_equal(ragged.segmentation(labels), expected)


def test_paint_uses_the_means_and_keeps_outliers(ragged: Patches) -> None:
    labels = np.array([0, 1, 1, 1, 1, 1, 1, 1, -1])
    painted = ragged.paint([[0.1, 0.2, 0.3], [1.5, 0.0, -0.5]], labels)
    np.testing.assert_array_equal(painted[1, 2], [0.1, 0.2, 0.3])
    np.testing.assert_array_equal(painted[0, 3], [1.0, 0.0, 0.0])  # clipped to what can be shown
    np.testing.assert_array_equal(painted[4, 6], ragged.picture[4, 6])


def test_overlay_goes_from_the_picture_to_the_colours(ragged: Patches) -> None:
    labels = np.array([0, 1, 2, 0, 1, 2, 0, 1, -1])
    colours = np.eye(3)
    np.testing.assert_array_equal(ragged.overlay(labels, alpha=0.0), ragged.picture)
    full = ragged.overlay(labels, colours, alpha=1.0)
    np.testing.assert_array_equal(full[0, :, :].argmax(axis=1), [0, 0, 0, 1, 1, 1, 2])
    np.testing.assert_array_equal(full[4, 6], ragged.picture[4, 6])
    half = ragged.overlay(labels)
    assert half.shape == ragged.picture.shape
    assert half.min() >= 0.0
    assert half.max() <= 1.0


def test_a_result_of_outliers_only_leaves_the_picture(ragged: Patches) -> None:
    np.testing.assert_array_equal(ragged.overlay(np.full(9, -1)), ragged.picture)


@pytest.mark.parametrize(
    ("labels", "says"),
    [
        (np.zeros(8, dtype=int), r"shape \(9,\), got shape \(8,\).* labels_"),
        (np.zeros(9), r"got shape \(9,\) of dtype float64"),
        (np.full(9, -2), r"-1 \(outlier\) or more, got -2; number"),
    ],
)
def test_labels_that_do_not_fit_are_refused(ragged: Patches, labels: Any, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        ragged.segmentation(labels)


def test_colours_that_do_not_fit_are_refused(ragged: Patches) -> None:
    labels = np.arange(9) % 3
    with pytest.raises(ValueError, match=r"means of shape \(3, 3\) or more.* got shape \(2, 3\)"):
        ragged.paint(np.zeros((2, 3)), labels)
    with pytest.raises(ValueError, match="finite colours, got NaN"):
        ragged.overlay(labels, np.full((3, 3), np.nan))
    with pytest.raises(ValueError, match=r"alpha in \[0, 1\], got 2"):
        ragged.overlay(labels, alpha=2.0)


def test_box_names_the_range_of_patches(ragged: Patches) -> None:
    with pytest.raises(IndexError, match=r"from 0 to 8, got 9; .*top left"):
        ragged.box(9)


def test_repr_gives_numbers_and_sizes(ragged: Patches) -> None:
    assert repr(ragged) == "Patches(3 x 3 = 9 patches of 2 x 3 pixels, from a picture of 5 x 7)"
