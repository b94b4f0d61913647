"""Options without sense: our own errors, before any reading."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from coterie.data import read, read_picture, read_sound, read_table, read_texts, read_video

NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("reader", "options", "says"),
    [
        (read_table, {"header": "yes"}, "expected header True or False, got 'yes'; leave it out"),
        (read_table, {"header": 0}, "expected header True or False, got 0"),
        (read_table, {"columns": 2.5}, r"expected columns as names or positions, got 2\.5"),
        (read_table, {"columns": True}, "expected columns as names or positions, got True"),
        (read_table, {"columns": b"a"}, "expected columns as names or positions, got b'a'"),
        (read_table, {"ids": True}, "expected columns as names or positions, got True"),
        (read_table, {"separator": 3}, "expected a separator of one character, got 3"),
        (read_table, {"missing": ["drop"]}, r"expected missing out of .*, got \['drop'\]"),
        (read_table, {"scaling": 3}, "expected scaling out of 'standard', .*, got 3"),
        (read_table, {"array": 3}, "expected array as the name of one in an NPZ file, got 3"),
        (read_table, {"max_memory": [1]}, r"expected a number of bytes, .* got \[1\]"),
        (read_table, {"max_memory": INF}, "expected a number of bytes, .* got inf"),
        (read_table, {"max_expansion": "x"}, "expected max_expansion as a number, got 'x'"),
        (read_table, {"max_expansion": NAN}, "expected max_expansion of at least 1, got nan"),
        (read_sound, {"frame": NAN}, "expected frame of at least 0, got nan; pass seconds"),
        (read_sound, {"frame": "x"}, "expected frame as a number, got 'x'"),
        (read_sound, {"hop": INF}, "expected hop of at least 0, got inf"),
        (read_sound, {"bands": 2.5}, r"expected bands as a whole number, got 2\.5; 32 suits"),
        (read_sound, {"bands": True}, "expected bands as a whole number, got True"),
        (read_video, {"every": NAN}, "expected every of at least 0, got nan; 1 takes a frame"),
        (read_video, {"every": "1"}, "expected every as a number, got '1'"),
        (read_video, {"max_frames": 0}, "expected max_frames of at least 1, got 0; None takes all"),
        (read_video, {"max_pixels": 2.5}, "expected max_pixels as a whole number"),
        (read_video, {"features": "colours"}, "expected features out of 'patches', 'pixels'"),
        (read_picture, {"max_pixels": "x"}, "expected max_pixels as a whole number"),
        (read_texts, {"ngrams": 1.5}, r"expected ngrams as a whole number, got 1\.5; 1 counts"),
        (read_texts, {"components": 0}, "expected components of at least 1, got 0; None keeps"),
        (read, {"kind": ["table"]}, r"expected kind out of 'table', .*, got \['table'\]; leave"),
    ],
)
def test_options_are_refused_by_name(
    tmp_path: Path, reader: Callable[..., Any], options: dict[str, Any], says: str
) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2\n3,4\n")
    with pytest.raises((TypeError, ValueError), match=says):
        reader(path, **options)


@pytest.mark.parametrize("reader", [read, read_table, read_sound, read_video, read_texts])
@pytest.mark.parametrize("path", [None, 3, b"x", np.zeros((300, 3))])
def test_arrays_and_numbers_are_no_paths(reader: Callable[..., Any], path: Any) -> None:
    with pytest.raises(TypeError, match=r"expected a path as str or os\.PathLike, got .*; pass"):
        reader(path)


def test_numbers_of_numpy_are_numbers(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2\n3,4\n")
    data = read_table(path, columns=np.int64(1), header=np.True_, max_memory=np.int64(10**6))  # type: ignore[arg-type]
    np.testing.assert_array_equal(data.X, [[2], [4]])
