"""cli/option_names.py: messages of the library with options for parameters."""

from __future__ import annotations

import pytest

pytest.importorskip("click")

from coterie.cli.option_names import as_options


@pytest.mark.parametrize(
    ("library", "command_line"),
    [
        ("pass missing='drop' to leave", "pass --missing drop to leave"),
        ("pass max_memory='8 GB' to allow it", "pass --max-memory '8 GB' to allow it"),
        ("set n_clusters=3, or empty_clusters='relocate'", "set -k 3"),
        ("with max_iter=1000, accelerate=True", "with --max-iter 1000, --accelerate"),
        ("every=0.5, larger patches", "--every 0.5, larger patches"),
        ("separator=';' gives [1, 2]", "--separator ';' gives [1, 2]"),
        ("scale them, for example with StandardScaler", "add --scaling standard"),
        ("nothing to change", "nothing to change"),
    ],
)  # fmt: skip
def test_messages_name_options(library: str, command_line: str) -> None:
    assert as_options(library) == command_line
