"""Colours for clusters: distinct for all eyes, stable as clusters are added, plainly named."""

from __future__ import annotations

import numpy as np
import pytest

from coterie.colours import _as_seen, cluster_colours, colour_name, matching_colours


def test_a_longer_palette_begins_with_the_shorter_one() -> None:
    np.testing.assert_array_equal(cluster_colours(30)[:9], cluster_colours(9))
    assert cluster_colours(0).shape == (0, 3)


@pytest.mark.parametrize(("count", "apart"), [(7, 0.06), (16, 0.06), (40, 0.03)])
def test_colours_stay_apart_for_every_kind_of_eye(count: int, apart: float) -> None:
    seen = _as_seen(cluster_colours(count))
    distance = np.linalg.norm(seen[:, :, None] - seen[:, None, :], axis=3)
    pairs = ~np.eye(count, dtype=bool)
    assert distance[:, pairs].min() > apart


def test_any_number_of_clusters_has_colours() -> None:
    many = cluster_colours(5000)
    assert many.shape == (5000, 3)
    assert many.min() >= 0.0
    assert many.max() <= 1.0


def test_a_negative_number_is_refused() -> None:
    with pytest.raises(ValueError, match="zero or more, got -1; pass"):
        cluster_colours(-1)


def test_colours_are_dealt_out_to_suit_the_means() -> None:
    water, grass, sun = (0.2, 0.5, 0.8), (0.1, 0.5, 0.3), (0.9, 0.8, 0.2)
    names = [colour_name(c) for c in matching_colours([water, grass, sun])]
    assert names == ["blue", "green", "pale yellow"]
    assert len(np.unique(matching_colours(np.full((9, 3), 0.5)), axis=0)) == 9


@pytest.mark.parametrize(
    ("colour", "name"),
    [
        ((0.0, 0.0, 0.0), "black"),
        ((1.0, 1.0, 1.0), "white"),
        ((0.5, 0.5, 0.5), "grey"),
        ((1.0, 0.0, 0.0), "red"),
        ((0.0, 0.0, 0.5), "deep blue"),
        ((0.53, 0.81, 0.92), "pale blue"),
        ((0.13, 0.30, 0.13), "deep green"),
        ((0.40, 0.25, 0.10), "dark brown"),
        ((0.67, 0.72, 0.77), "pale blue grey"),
    ],
)
def test_plain_names(colour: tuple[float, float, float], name: str) -> None:
    assert colour_name(colour) == name
