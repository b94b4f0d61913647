"""Pixels as data points, with and without their place, and labels back onto the picture."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from coterie.data import image_patches, image_pixels

CODES = np.random.default_rng(0).integers(0, 256, (3, 5, 3), dtype=np.uint8)


def test_colours_only_are_patches_of_one_pixel() -> None:
    pixels = image_pixels(CODES)
    np.testing.assert_array_equal(pixels.features, image_patches(CODES, 1).features)
    assert pixels.feature_names == ("red", "green", "blue")
    assert repr(pixels) == "Pixels(3 x 5 = 15 pixels, position 0)"


def test_the_place_goes_from_zero_to_the_weight_along_the_longer_side() -> None:
    pixels = image_pixels(CODES, position=2.0)
    assert pixels.feature_names == ("red", "green", "blue", "down", "right")
    np.testing.assert_array_equal(pixels.features[:, :3], CODES.reshape(-1, 3) / 255.0)
    np.testing.assert_array_equal(pixels.features[14, 3:], [1.0, 2.0])
    np.testing.assert_array_equal(pixels.features[6, 3:], [0.5, 0.5])


def test_labels_go_back_to_their_pixels() -> None:
    pixels = image_pixels(CODES, position=1.0)
    labels = np.arange(15) % 3
    np.testing.assert_array_equal(pixels.segmentation(labels), labels.reshape(3, 5))
    np.testing.assert_array_equal(pixels.put_back(labels), labels.reshape(3, 5))
    means = np.column_stack([np.eye(3), np.full((3, 2), 7.0)])  # the place is no colour
    np.testing.assert_array_equal(pixels.paint(means, labels)[1, 1], np.eye(3)[labels[6]])
    assert pixels.overlay(labels).shape == (3, 5, 3)
    assert {name: at[7] for name, at in pixels.ids().items()} == {"top": 1, "left": 2}
    with pytest.raises(ValueError, match="one integer label per patch"):
        pixels.segmentation(labels[:3])


def test_patches_say_where_they_begin() -> None:
    ids = image_patches(CODES, (2, 3)).ids()
    assert ids["top"].tolist() == [0, 0, 2, 2]
    assert ids["left"].tolist() == [0, 3, 0, 3]


@pytest.mark.parametrize("position", [-1.0, np.nan, np.inf, "1", None])
def test_weights_that_make_no_sense(position: Any) -> None:
    with pytest.raises(ValueError, match=r"position weight of 0 or more.*1 makes it as important"):
        image_pixels(CODES, position=position)


def test_a_picture_of_one_pixel() -> None:
    pixels = image_pixels(np.zeros((1, 1, 3)), position=1.0)
    np.testing.assert_array_equal(pixels.features, [[0, 0, 0, 0, 0]])
