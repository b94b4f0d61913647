"""The near bank, painted with a brush: spruces, grass and flowers, in display colours."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from PIL import Image, ImageDraw

from .noise import Array, Noise, mix, smoothstep

Colour = tuple[int, int, int]
Brush = ImageDraw.ImageDraw
Random = np.random.Generator


class Flower(NamedTuple):
    """The look of one kind of flower."""

    petal: Colour
    middle: Colour
    size: float


BELLFLOWER = Flower((116, 92, 200), (176, 156, 230), 0.90)
DAISY = Flower((248, 246, 238), (240, 190, 48), 1.00)
BUTTERCUP = Flower((252, 212, 44), (230, 164, 22), 0.72)
POPPY = Flower((220, 46, 30), (64, 20, 22), 1.30)
FLOWERS = (BELLFLOWER, DAISY, BUTTERCUP, POPPY)


SHADED_GRASS, SUNNY_GRASS = np.array([44.0, 72.0, 20.0]), np.array([158.0, 178.0, 66.0])
STRAW = np.array([196.0, 182.0, 112.0])
SHADED_NEEDLES, SUNNY_NEEDLES = np.array([14.0, 30.0, 20.0]), np.array([84.0, 104.0, 46.0])
SPRUCES = ((44, 560, 300), (8, 590, 390), (104, 574, 210))  # column, row of the foot, height


def ink(colour: Array | Colour, light: float = 1.0) -> Colour:
    """Return the colour, darker or brighter, as the brush wants it."""
    red, green, blue = (int(np.clip(c * light, 0, 255)) for c in colour)
    return red, green, blue


def bank(x: Array, width: int, height: int) -> Array:
    """Return the row at which the meadow begins."""
    t = x / width
    rise = 0.120 * t**2 - 0.022 * np.sin(5.0 * t + 0.6) - 0.008 * np.sin(17.0 * t)
    return height * (0.868 - rise)


def meadow(noise: Noise, picture: Image.Image, random: Random, blades: int = 26_000) -> None:
    """Paint the near bank from far to near, with grass and flowers of growing size."""
    width, height = picture.size
    brush = ImageDraw.Draw(picture)
    x = np.arange(width, dtype=np.float64)
    outline = list(zip(x, bank(x, width, height), strict=True))
    brush.polygon([(0, height), *outline, (width, height)], fill=(58, 78, 26))

    x = random.uniform(-20, width + 20, blades)
    near = random.random(blades) ** 1.35  # 0 at the water, 1 at our feet
    y = bank(x, width, height) * (1.0 - near) + 1.12 * height * near
    order = np.argsort(y)
    x, y, near = x[order], y[order], near[order]
    length = (4.0 + 32.0 * near) * random.uniform(0.5, 1.15, blades)
    tip_x, tip_y = x + length * random.normal(0.12, 0.26, blades), y - length
    half = 0.5 + 1.1 * near

    gust = noise.layered(x / 90.0, y / 40.0, 4) - 0.5
    light = np.clip(random.normal(0.5, 0.2, blades) + 1.5 * gust, 0.0, 1.0)
    dry = np.where(random.random(blades) < 0.06, 0.6, 0.0)
    grass = mix(mix(SHADED_GRASS, SUNNY_GRASS, light), STRAW, dry)

    # Flowers grow in drifts, and in each drift one kind is the most frequent.
    drift = smoothstep(0.42, 0.66, noise.layered(x / 70.0 + 50.0, y / 34.0, 3))
    flowering = random.random(blades) < 0.16 * drift
    kind = 6.4 * noise.layered(x / 120.0 + 9.0, y / 60.0, 2) + random.normal(-1.2, 0.8, blades)
    kind = np.floor(kind) % len(FLOWERS)
    for i in range(blades):
        tip = (tip_x[i], tip_y[i])
        foot = [(x[i] - half[i], y[i]), (x[i] + half[i], y[i])]
        brush.polygon([*foot, tip], fill=ink(grass[i]))
        if flowering[i]:
            blossom(brush, FLOWERS[int(kind[i])], tip, 1.1 + 5.2 * near[i], random)


def blossom(
    brush: Brush, kind: Flower, at: tuple[float, float], radius: float, random: Random
) -> None:
    """Paint one blossom: a ring of petals seen slightly from above, shaded one by one."""
    radius *= kind.size * random.uniform(0.75, 1.2)
    turn = random.uniform(0.0, np.pi)
    for angle in turn + np.linspace(0.0, 2 * np.pi, 6, endpoint=False):
        x, y = at[0] + 0.58 * radius * np.cos(angle), at[1] + 0.42 * radius * np.sin(angle)
        light = 0.90 - 0.10 * np.cos(angle + 0.7) - 0.10 * random.random()
        dot(brush, x, y, 0.50 * radius, ink(kind.petal, light))
    dot(brush, *at, 0.30 * radius, kind.middle)


def dot(brush: Brush, x: float, y: float, radius: float, colour: Colour) -> None:
    """Paint one flattened dot."""
    brush.ellipse((x - radius, y - 0.8 * radius, x + radius, y + 0.8 * radius), fill=colour)


def spruces(picture: Image.Image, random: Random) -> None:
    """Paint the trees that frame the view."""
    brush = ImageDraw.Draw(picture)
    for x, foot, tall in SPRUCES:
        trunk = [(x - 0.012 * tall, foot), (x + 0.012 * tall, foot), (x, foot - 0.8 * tall)]
        brush.polygon(trunk, fill=(46, 36, 28))
        for level in np.linspace(0.06, 0.995, int(tall / 2.6)):
            whorl(brush, (x, foot - level * tall), level, tall, random)


def whorl(brush: Brush, at: tuple[float, float], level: float, tall: float, random: Random) -> None:
    """Paint the branches at one height of a spruce, brighter towards the sun on the left."""
    reach = tall * (0.20 * (1.0 - level) ** 0.85 + 0.006)
    thick = 0.010 * tall + 0.6
    for side in random.uniform(-1.0, 1.0, 9):
        x, y = at[0], at[1] - 0.02 * tall * random.random()
        tip_x = x + side * reach * random.uniform(0.75, 1.1)
        tip_y = y + reach * random.uniform(0.28, 0.58) * (0.4 + 0.6 * abs(side))
        light = np.clip(0.42 - 0.38 * side + random.normal(0.0, 0.16), 0.0, 1.0)
        colour = ink(mix(SHADED_NEEDLES, SUNNY_NEEDLES, np.asarray(light)))
        brush.polygon([(x, y - thick), (tip_x, tip_y), (x, y + thick)], fill=colour)
