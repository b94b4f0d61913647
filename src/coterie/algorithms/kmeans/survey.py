"""The first look at the data: ranges, exact totals, and the exponents of exact sums."""

from __future__ import annotations

import numpy as np

from coterie.arrays import Floats, Integers
from coterie.engines.protocol import Engine
from coterie.kernels import scan_steps
from coterie.kernels.exact import LARGEST_TOP, SMALLEST_EXPONENT, Grid
from coterie.kernels.scan_steps import Extent, Survey


def survey(engine: Engine, extent: Extent | None = None) -> Survey:
    """Two passes: one for the ranges, one for the totals."""
    extent = extent or engine.reduce(scan_steps.extent)
    top = _exponents(np.maximum(np.abs(extent.low), np.abs(extent.high)))
    low = np.where(np.isfinite(extent.tiny), _exponents(extent.tiny) - 53, top)
    mass_grid, weight_top, weight_low = None, 0, 0
    if extent.weight_high != 1.0 or extent.weight_tiny != 1.0:
        weight_top = int(_exponents(np.array(extent.weight_high)))
        weight_low = int(_exponents(np.array(extent.weight_tiny))) - 53
        mass_grid = Grid.covering(np.array([weight_top]), np.array([weight_low]))
        if np.any(low + weight_low < SMALLEST_EXPONENT):
            raise ValueError(
                "X and sample_weight together span more orders of magnitude than float64 can "
                f"multiply exactly: expected products above 1e-290, got values down to "
                f"{extent.tiny.min():.3g} with weights down to {extent.weight_tiny:.3g}. Set tiny "
                "values or weights to zero, or rescale them."
            )
    grid = Grid.covering(top + weight_top, low + weight_low)
    square_top, square_low = 2 * top + weight_top, 2 * low + weight_low
    exact_squares = np.all(square_top <= LARGEST_TOP) and np.all(square_low >= SMALLEST_EXPONENT)
    square_grid = Grid.covering(square_top, square_low) if exact_squares else None
    totals = engine.reduce(scan_steps.totals, grid, mass_grid, square_grid)
    return Survey(extent, totals, grid, mass_grid)


def _exponents(values: Floats) -> Integers:
    """The smallest e with |value| < 2**e; 0 for zero."""
    exponents: Integers = np.frexp(values)[1].astype(np.int64)
    return exponents
