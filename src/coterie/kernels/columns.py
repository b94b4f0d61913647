"""Columns of numbers become rows of one array.

The file imports NumPy alone, since every reader of files loads it before anything else.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.kernels import _native

# The types that the kernel reads, by the type of the rows. NumPy converts all others first:
# float16, bool, other byte orders.
_INTEGERS = (np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64)
_READ = {
    np.dtype(np.float64): frozenset(map(np.dtype, (np.float64, np.float32, *_INTEGERS))),
    np.dtype(np.float32): frozenset({np.dtype(np.float32)}),
}


def interleave(columns: Sequence[NDArray[Any]], out: NDArray[Any]) -> bool:
    """Write columns, (m,) each, into the rows of out, (m, d), of float64 or float32.

    Numbers become the nearest of out's type. Returns True if all of them are finite. Other Python
    threads run meanwhile.
    """
    read = _READ[out.dtype]
    with np.errstate(over="ignore", invalid="ignore"):
        known = [c if c.dtype in read else c.astype(out.dtype) for c in columns]
    return _native.interleave(known, out)
