"""Arithmetic on one block: native kernels, and their readable NumPy twin in `reference`.

The files `*_steps.py` list the questions to a block, by method: begin with `scan_steps.py`, for
first looks, and `kmeans_steps.py`. `block.py` is a block, `exact.py` turns integer sums into
numbers, and `_native.pyi` lists the native module. Kernels do not know that there are other blocks.
``COTERIE_SIMD=baseline|avx2|avx512`` chooses a lower instruction-set level than the machine's best.
"""

from __future__ import annotations

import os

from coterie.kernels import _native


def _use_requested_level() -> None:
    wanted = os.environ.get("COTERIE_SIMD")
    if wanted and not _native.use_simd_level(wanted):
        raise ImportError(
            f"COTERIE_SIMD={wanted!r}: expected one of {', '.join(_native.simd_levels())} on this "
            "machine. Unset the variable to use the best of them."
        )


_use_requested_level()
