"""Numbers as sentences and tables show them."""

from __future__ import annotations

import pytest

from coterie.formatting import number


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (0.0, "0"),
        (0.53123, "0.531"),
        (-12.44, "-12.4"),
        (999.4, "999"),
        (999.6, "1000"),
        (-21315.4, "-21315"),
        (999_999.0, "999999"),
        (1_234_567.0, "1.23e+06"),
        (float("nan"), "nan"),
    ],
)
def test_numbers_are_short_and_plain(value: float, told: str) -> None:
    assert number(value) == told
