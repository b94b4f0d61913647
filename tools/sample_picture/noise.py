"""Smooth random functions of the plane, from which sky, mountains and meadow are made."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def smoothstep(low: Array | float, high: Array | float, x: Array) -> Array:
    """Go smoothly from 0 at low to 1 at high; low may be the larger one."""
    t = np.clip((x - low) / (high - low), 0.0, 1.0)
    return t * t * (3.0 - 2.0 * t)


def mix(a: Array, b: Array, t: Array) -> Array:
    """Blend the colours a and b, (..., 3), by the amounts t, (...)."""
    return a + (b - a) * t[..., None]


class Noise:
    """Smooth random functions of the plane; one table of random numbers serves all of them."""

    def __init__(self, seed: int) -> None:
        self.table = np.random.default_rng(seed).random((256, 256))

    def value_and_slopes(self, x: Array, y: Array) -> tuple[Array, Array, Array]:
        """Return value noise in [0, 1] and its two partial derivatives."""
        i, j = np.floor(x).astype(np.int64), np.floor(y).astype(np.int64)
        u, v = x - i, y - j
        i0, i1, j0, j1 = i & 255, (i + 1) & 255, j & 255, (j + 1) & 255
        a, b = self.table[i0, j0], self.table[i1, j0]
        c, d = self.table[i0, j1], self.table[i1, j1]
        su, sv = (w * w * w * (w * (w * 6.0 - 15.0) + 10.0) for w in (u, v))
        du, dv = (30.0 * w * w * (w * (w - 2.0) + 1.0) for w in (u, v))
        twist = a - b - c + d
        value = a + (b - a) * su + (c - a) * sv + twist * su * sv
        return value, du * ((b - a) + twist * sv), dv * ((c - a) + twist * su)

    def layered(self, x: Array, y: Array, octaves: int) -> Array:
        """Sum octaves of noise, each turned, twice as fine and half as strong; in [0, 1]."""
        total, weight = np.zeros(np.broadcast(x, y).shape), 0.5
        for _ in range(octaves):
            total += weight * self.value_and_slopes(x, y)[0]
            x, y = 1.6 * x - 1.2 * y + 17.3, 1.2 * x + 1.6 * y - 9.1
            weight *= 0.5
        return total / (1.0 - 0.5**octaves)

    def eroded(self, x: Array, y: Array, octaves: int) -> Array:
        """Layer noise that fades where the sum is steep: sharp crests, smooth valleys."""
        total, weight = np.zeros(np.broadcast(x, y).shape), 1.0
        slope_x, slope_y = np.zeros_like(total), np.zeros_like(total)
        for _ in range(octaves):
            value, dx, dy = self.value_and_slopes(x, y)
            slope_x, slope_y = slope_x + dx, slope_y + dy
            total += weight * value / (1.0 + slope_x * slope_x + slope_y * slope_y)
            x, y = 1.6 * x - 1.2 * y, 1.2 * x + 1.6 * y
            weight *= 0.5
        return total

    def cones(self, x: Array, z: Array, cell: float) -> Array:
        """Return one cone per cell of a jittered grid, 1 at its tip and 0 at its rim."""
        i, j = np.floor(x / cell).astype(np.int64), np.floor(z / cell).astype(np.int64)
        a, b = self.table[i & 255, j & 255], self.table[(i + 91) & 255, (j + 37) & 255]
        middle_x, middle_z = (i + 0.3 + 0.4 * a) * cell, (j + 0.3 + 0.4 * b) * cell
        radius = np.hypot(x - middle_x, z - middle_z) / (0.42 * cell)
        height: Array = np.clip(1.0 - radius, 0.0, 1.0) * (0.55 + 0.45 * np.abs(a - b))
        return height
