"""Columns become rows: the bits of NumPy, for every type and every memory layout."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from support.kmeans_cases import LEVELS, level, thorough

from coterie.kernels import _native, reference
from coterie.kernels.columns import interleave

DTYPES = ("f8", "f4", "f2", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1", "?", ">f8", ">i4")
ODD = (0.0, -0.0, np.nan, np.inf, -np.inf, 5e-324, 1.7e308, -1.7e308, 1e-45)


def column(rng: np.random.Generator, m: int, dtype: str, stride: int, odd: bool) -> NDArray[Any]:
    """m numbers of a type, every `stride`-th of an array or backwards, from some place on."""
    kind = np.dtype(dtype)
    start = int(rng.integers(0, 5))
    size = start + m * abs(stride)
    if kind.kind == "f":
        values = rng.normal(size=size).astype(kind)
        if odd and size:
            with np.errstate(over="ignore", invalid="ignore"):
                values[rng.integers(0, size, 3)] = rng.choice(ODD, 3)
    elif kind.kind == "b":
        values = rng.integers(0, 2, size).astype(kind)
    else:
        limits = np.iinfo(kind)
        values = rng.integers(limits.min, limits.max, size, kind.newbyteorder("="), endpoint=True)
        values = values.astype(kind)
    return values[start:][::stride][:m]


@thorough(400)
@given(
    seed=st.integers(0, 2**32 - 1),
    m=st.sampled_from([0, 1, 2, 3, 5, 31, 255, 256, 257, 600]),
    dtypes=st.lists(st.sampled_from(DTYPES), min_size=1, max_size=19),
    alike=st.booleans(),
    stride=st.sampled_from([1, 1, 1, 2, 3, -1, -2]),
    out=st.sampled_from(["f8", "f8", "f4"]),
    beside=st.sampled_from([0, 0, 1, 3]),
    odd=st.booleans(),
    simd=st.sampled_from(LEVELS),
)
def test_rows_are_those_of_numpy(
    seed: int,
    m: int,
    dtypes: list[str],
    alike: bool,
    stride: int,
    out: str,
    beside: int,
    odd: bool,
    simd: str,
) -> None:
    rng = np.random.default_rng(seed)
    d = len(dtypes)
    kinds = [out] * d if alike else dtypes
    columns = [column(rng, m, kind, stride, odd) for kind in kinds]
    whole = np.full((m + 2, d + 2 * beside), 7.0, dtype=out)
    right = whole.copy()
    place = np.s_[1 : m + 1, beside : beside + d]
    with np.errstate(over="ignore", invalid="ignore"):
        finite = reference.interleave(columns, right[place])
    with level(simd):
        assert interleave(columns, whole[place]) == finite
    assert whole.tobytes() == right.tobytes()


@pytest.mark.parametrize("simd", LEVELS)
@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_large_results_from_any_place_on(dtype: str, simd: str) -> None:
    """So large that they bypass the caches, where rows begin at multiples of a vector."""
    rng = np.random.default_rng(0)
    for d, wide in ((4, 4), (8, 8), (8, 12), (7, 8), (13, 16), (13, 13), (3, 4)):
        m = (1 << 20) // d // np.dtype(dtype).itemsize + 3
        columns = list(rng.normal(size=(d, m)).astype(dtype))
        memory = np.zeros((m + 1) * wide + 8, dtype=dtype)
        begin = -memory.ctypes.data // memory.itemsize % 8
        for shift in (0, 1):
            rows = memory[begin + shift :][: m * wide].reshape(m, wide)
            for place in (slice(0, d), slice(wide - d, wide)):
                rows[:] = 7.0
                with level(simd):
                    assert interleave(columns, rows[:, place])
                np.testing.assert_array_equal(rows[:, place], np.column_stack(columns))
                assert (np.delete(rows, np.s_[place], axis=1) == 7.0).all()


@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("wrong", [np.nan, -np.nan, np.inf, -np.inf])
def test_one_number_that_is_not_finite_is_noticed_anywhere(dtype: str, wrong: float) -> None:
    for m, d in ((1, 1), (9, 3), (300, 8), (257, 13)):
        for row, column in {(0, 0), (m - 1, d - 1), (m // 2, d // 2), (m - 1, 0)}:
            values = np.full((d, m), np.finfo(dtype).max, dtype=dtype)
            out = np.empty((m, d), dtype=dtype)
            assert interleave(list(values), out)  # though sums overflow
            values[column, row] = wrong
            assert not interleave(list(values), out)
            np.testing.assert_array_equal(out, values.T)


def test_large_whole_numbers_become_the_nearest_float() -> None:
    values = np.array([2**53 + 1, 2**64 - 1, 2**63 + 1025, 0, 2**63], dtype=np.uint64)
    negative = np.array([-(2**53) - 1, -(2**63), 2**63 - 1, 0, -1], dtype=np.int64)
    out = np.empty((5, 2))
    assert interleave([values, negative], out)
    np.testing.assert_array_equal(out[:, 0], [float(int(v)) for v in values])
    np.testing.assert_array_equal(out[:, 1], [float(int(v)) for v in negative])


def test_shapes_and_types_that_do_not_fit_are_refused() -> None:
    column = np.zeros(3)
    with pytest.raises(ValueError, match="as long as the rows are many"):
        _native.interleave([column, np.zeros(2)], np.empty((3, 2)))
    with pytest.raises(ValueError, match="as many columns as a row has"):
        _native.interleave([column], np.empty((3, 2)))
    with pytest.raises(ValueError, match="side by side"):
        _native.interleave([column, column], np.empty((3, 2), order="F"))
    with pytest.raises(ValueError, match="columns of integers, float32 or float64"):
        _native.interleave([column.astype(np.float16)], np.empty((3, 1)))
    read_only = np.empty((3, 1))
    read_only.flags.writeable = False
    with pytest.raises(TypeError):
        _native.interleave([column], read_only)
