"""Sky, mountains and lake: a height field seen through a pinhole camera, in linear light.

Lengths are metres; x points right, y up from the lake, z ahead.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from .noise import Array, Noise, mix, smoothstep

WIDTH, HEIGHT, OVERSAMPLING = 480, 320, 2
EYE = 60.0  # height of the camera above the lake
SUN = np.array([-0.80, 0.46, -0.16]) / np.linalg.norm([-0.80, 0.46, -0.16])
SUNLIGHT, SKYLIGHT = np.array([1.22, 1.10, 0.90]), np.array([0.10, 0.16, 0.28])
HAZE = np.array([0.24, 0.39, 0.66])


@dataclass(frozen=True)
class Camera:
    """A pinhole camera; a mirrored one sees the reflection in the lake for each pixel."""

    mirrored: bool = False
    width: int = WIDTH * OVERSAMPLING
    height: int = HEIGHT * OVERSAMPLING
    horizon: float = 0.505
    zoom: float = 0.84

    @property
    def eye(self) -> float:
        """Height of the camera above the lake."""
        return -EYE if self.mirrored else EYE

    def columns(self) -> Array:
        """Return the sideways slope of the ray through each column."""
        column = np.arange(self.width, dtype=np.float64)
        return (column + 0.5 - self.width / 2) / (self.zoom * self.width)

    def rows(self) -> Array:
        """Return the upward slope of the ray through each row."""
        row = np.arange(self.height, dtype=np.float64)
        up = (self.horizon * self.height - row - 0.5) / (self.zoom * self.width)
        return -up if self.mirrored else up


def terrain(noise: Noise, x: Array, z: Array, octaves: int) -> Array:
    """Return the height of the ground; below zero is lake."""
    rock = noise.eroded(x / 2400.0 + 3.7, z / 2400.0 + 11.2, octaves)
    peak = np.exp(-(((x - 1100.0) / 2300.0) ** 2) - ((z - 8200.0) / 2300.0) ** 2)
    second = np.exp(-(((x + 2600.0) / 1900.0) ** 2) - ((z - 9200.0) / 2200.0) ** 2)
    left = smoothstep(300.0, 2800.0, -x + 0.05 * z) * smoothstep(9000.0, 3000.0, z)
    right = smoothstep(900.0, 3200.0, x + 0.02 * z) * smoothstep(9000.0, 3500.0, z)
    lift = 300.0 + 1750.0 * peak + 1150.0 * second + 500.0 * left + 500.0 * right
    from_eye = np.hypot(z, 1.75 * x) + 1700.0 * (
        noise.layered(x / 520.0 + 6.0, z / 1000.0, 3) - 0.5
    )
    slope = smoothstep(2100.0, 6000.0, from_eye)
    crags = 70.0 * (noise.layered(x / 190.0, z / 190.0, min(octaves, 4)) - 0.5) * slope
    return slope * lift * (0.34 + rock) + crags - 9.0 + 15.0 * smoothstep(2000.0, 2150.0, from_eye)


def forest(noise: Noise, x: Array, z: Array, y: Array) -> Array:
    """Return the density of trees, in [0, 1]: low slopes, with clearings."""
    clearing = noise.layered(x / 420.0, z / 420.0, 5)
    return smoothstep(0.0, 0.10, 0.50 + (360.0 - y) / 900.0 - clearing) * smoothstep(
        0.8, 9.0 * clearing, y
    )


def surface(noise: Noise, x: Array, z: Array, octaves: int) -> Array:
    """Return the height of the ground with its trees."""
    ground = terrain(noise, x, z, octaves)
    trees = np.maximum(noise.cones(x, z, 15.0), noise.cones(x + 7.0, z + 5.0, 11.0))
    return ground + 25.0 * trees * forest(noise, x, z, ground)


def sky(noise: Noise, camera: Camera) -> Array:
    """Paint a blue gradient that pales towards the horizon, with sunlit fair-weather clouds."""
    up = np.maximum(camera.rows(), 0.0)[:, None] + np.zeros(camera.width)
    side = camera.columns()[None, :] + np.zeros((camera.height, 1))
    colour = mix(np.array([0.018, 0.085, 0.36]), np.array([0.17, 0.34, 0.64]), np.exp(-up * 4.4))
    glow = np.exp(-((side + 0.55) ** 2 + (up - 0.1) ** 2) / 0.14)
    colour += glow[..., None] * np.array([0.10, 0.085, 0.05])

    # Clouds hang in a flat layer, so their pattern shrinks towards the horizon.
    depth = 1.0 / (up + 0.16)
    x, y = side * depth * 1.15, depth * 1.5
    bend = noise.layered(x * 1.3 + 5.0, y * 1.3, 4)

    def thickness(shift: float) -> Array:
        field = noise.layered(x * 1.5 + 0.7 * bend + 31.0 + shift, y * 1.5 + 2.0 + shift, 7)
        return smoothstep(0.50, 0.74, field)

    here, sunward = thickness(0.0), thickness(-0.10)
    light = np.clip(0.78 + 0.55 * (here - sunward), 0.35, 1.15)
    cloud = mix(np.array([0.50, 0.57, 0.69]), np.array([1.04, 1.00, 0.95]), light)
    return mix(colour, cloud, 0.93 * here * smoothstep(0.0, 0.08, up))


def trace(noise: Noise, camera: Camera) -> tuple[Array, NDArray[np.bool_]]:
    """Return the depth at which each pixel's ray meets land, (h, w), and flags of rays that do."""
    ahead = np.geomspace(700.0, 16000.0, 2200)
    z = ahead[:, None]
    height = surface(noise, z * camera.columns(), z, 9)
    shore = np.argmax(height > 0.0, axis=0)  # the first depth with land, per column
    rise = np.where(height > 0.0, (height - camera.eye) / z, -1.0)
    lowest = rise[shore, np.arange(camera.width)]
    skyline = np.maximum.accumulate(rise, axis=0)  # near hills hide far ones
    skyline += 1e-9 * np.arange(len(ahead))[:, None]  # strictly rising, so that it inverts
    up = camera.rows()
    distance = np.stack([np.interp(up, column, ahead) for column in skyline.T], axis=1)
    land = up[:, None] <= skyline[-1]
    return distance, land if camera.mirrored else land & (up[:, None] >= lowest)


def sun_reaches(noise: Noise, x: Array, y: Array, z: Array) -> Array:
    """Return the share of sunlight that passes the mountains to each point; 0 is shadow."""
    clear = np.ones_like(x)
    for step in np.geomspace(60.0, 4000.0, 28):
        px, py, pz = (p + step * s for p, s in zip((x, y, z), SUN, strict=True))
        clear = np.minimum(clear, 0.5 + (py - terrain(noise, px, pz, 6)) / (0.07 * step))
    return smoothstep(0.0, 1.0, clear)


def ground_colour(noise: Noise, x: Array, y: Array, z: Array, flat: Array) -> Array:
    """Choose rock, alpine meadow, forest or snow from height and steepness; flat is 1 if level."""
    patchy = noise.layered(x / 420.0, z / 420.0, 5)
    fine = noise.layered(x / 60.0, z / 60.0 + y / 50.0, 4)
    strata = noise.layered(x / 900.0, y / 45.0, 3)
    rock = mix(np.array([0.20, 0.18, 0.165]), np.array([0.36, 0.32, 0.28]), (fine + strata) / 2)
    grass = mix(np.array([0.12, 0.17, 0.035]), np.array([0.21, 0.24, 0.06]), patchy)
    green = smoothstep(0.62, 0.86, flat + 0.25 * (patchy - 0.5)) * smoothstep(1150.0, 700.0, y)
    colour = mix(rock, grass, green)
    high = smoothstep(700.0, 1300.0, y + 700.0 * (patchy - 0.5))
    snow = high * smoothstep(0.90 - 0.56 * high, 0.98 - 0.44 * high, flat + 0.12 * (fine - 0.5))
    return mix(colour, np.array([0.88, 0.91, 0.96]), smoothstep(0.12, 0.6, snow))


def landscape(noise: Noise, camera: Camera) -> tuple[Array, NDArray[np.bool_]]:
    """Draw sky and mountains in linear light; also return where there is land."""
    picture = sky(noise, camera)
    distance, land = trace(noise, camera)
    z = distance[land]
    x = (camera.columns()[None, :] * distance)[land]
    y = terrain(noise, x, z, 10)
    reach = 0.0011 * z
    slope_x = (terrain(noise, x + reach, z, 10) - terrain(noise, x - reach, z, 10)) / (2 * reach)
    slope_z = (terrain(noise, x, z + reach, 10) - terrain(noise, x, z - reach, 10)) / (2 * reach)
    flat = 1.0 / np.sqrt(1.0 + slope_x**2 + slope_z**2)
    facing = (SUN[1] - slope_x * SUN[0] - slope_z * SUN[2]) * flat

    colour = ground_colour(noise, x, y, z, flat)
    crown = np.clip((surface(noise, x, z, 10) - y) / 25.0, 0.0, 1.0)
    needles = noise.layered(x / 9.0, z / 14.0 + y / 9.0, 2)
    trees = mix(np.array([0.016, 0.036, 0.016]), np.array([0.085, 0.125, 0.04]), crown * needles)
    colour = mix(colour, trees, forest(noise, x, z, y))
    sunlit = np.clip(facing, 0.0, None) * sun_reaches(noise, x, y, z)
    light = sunlit[:, None] * SUNLIGHT + (0.45 + 0.55 * flat[:, None]) * SKYLIGHT
    haze = 1.0 - np.exp(-((z / 19000.0) ** 1.5) * np.exp(-y / 3200.0))
    picture[land] = mix(colour * light, HAZE, haze)
    return picture, land


def lake(noise: Noise, picture: Array, land: NDArray[np.bool_]) -> Array:
    """Fill in the water: a rippled mirror, and turquoise water in steep views."""
    camera = Camera()
    reflection, _ = landscape(noise, Camera(mirrored=True))
    down = np.maximum(-camera.rows(), 1e-4)[:, None] + np.zeros(camera.width)
    z = EYE / down
    x = z * camera.columns()
    swell = noise.layered(x / 16.0, z / 42.0, 3) + noise.layered(x / 5.0, z / 13.0, 3) - 1.0
    calm = smoothstep(0.40, 0.62, noise.layered(x / 500.0 + 3.0, z / 260.0, 4))
    strength = (0.25 + 0.75 * (1.0 - calm)) * smoothstep(0.0, 0.12, down)
    row, column = np.indices(down.shape)
    at = [row + strength * 46.0 * swell, column + strength * 9.0 * np.roll(swell, 7, axis=1)]
    mirror = np.stack(
        [
            ndimage.map_coordinates(reflection[..., c], at, order=1, mode="nearest")
            for c in range(3)
        ],
        axis=-1,
    )
    depth = smoothstep(250.0, 900.0, z + 260.0 * (noise.layered(x / 160.0, z / 160.0, 4) - 0.5))
    below = mix(np.array([0.030, 0.23, 0.25]), np.array([0.006, 0.080, 0.145]), depth)
    shine = np.clip(0.24 + 0.70 * (1.0 - 1.3 * down) ** 4 + 0.10 * swell, 0.0, 1.0)
    water = mix(below, 0.92 * mirror, shine)
    wet = (camera.rows()[:, None] < 0.0) & ~land
    return np.where(wet[..., None], water, picture)
