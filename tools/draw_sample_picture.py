"""Draw the sample picture that ships with Coterie: a mountain lake on a summer day.

The paper's first figure is a snapshot of a mountain lake. We draw one instead of shipping a
photograph, so that its licence is ours and anybody can draw it again, in about a minute:

    python tools/draw_sample_picture.py src/coterie/data/pictures/lake.jpg

The mountains are a height field lit by the sun and veiled by air; the lake shows the same scene
from a camera mirrored at the water; the meadow is some thousands of painted blades and flowers.
The drawing is twice as large as the saved picture, which smooths all edges.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from PIL import Image
from sample_picture.foreground import meadow, spruces
from sample_picture.landscape import HEIGHT, WIDTH, Camera, lake, landscape
from sample_picture.noise import Array, Noise
from scipy import ndimage


def expose(light: Array) -> Array:
    """Turn linear light into display values in [0, 1] by a film-like curve."""
    x = 1.2 * light
    film = x * (2.51 * x + 0.03) / (x * (2.43 * x + 0.59) + 0.14)
    display: Array = np.clip(film, 0.0, 1.0) ** (1.0 / 2.2)
    return display


def snapshot(picture: Image.Image, random: np.random.Generator) -> Image.Image:
    """Give the drawing the look of a small camera: fewer pixels, darker corners, some grain."""
    picture = picture.resize((WIDTH, HEIGHT), Image.Resampling.BOX)
    pixels = np.asarray(picture, dtype=np.float64)
    row, column = np.mgrid[-1 : 1 : HEIGHT * 1j, -1 : 1 : WIDTH * 1j]
    grey = pixels.mean(axis=2, keepdims=True)
    pixels = grey + 1.10 * (pixels - grey)
    pixels *= (1.0 - 0.10 * (row**2 + column**2) / 2.0)[..., None]
    sharp = pixels + 0.35 * (pixels - ndimage.gaussian_filter(pixels, (0.8, 0.8, 0)))
    grain = ndimage.gaussian_filter(random.normal(0.0, 4.0, (HEIGHT, WIDTH, 3)), (0.6, 0.6, 0))
    return Image.fromarray(np.uint8(np.clip(sharp + grain + 0.5, 0, 255)))


def main() -> int:
    """Draw the picture and save it to the path of the command line."""
    parser = argparse.ArgumentParser(description="Draw Coterie's sample picture.")
    parser.add_argument("output", type=Path, help="a .jpg or .png file to write")
    parser.add_argument("--seed", type=int, default=31, help="another number, another landscape")
    options = parser.parse_args()
    noise, random = Noise(options.seed), np.random.default_rng(options.seed)
    scene = lake(noise, *landscape(noise, Camera()))
    picture = Image.fromarray(np.uint8(255 * expose(scene) + 0.5))
    spruces(picture, random)
    meadow(noise, picture, random)
    snapshot(picture, random).save(options.output, quality=90)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
