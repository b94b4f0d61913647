"""The demonstration from the command line: its table, its picture, its answers to mistakes."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from coterie.cli.demo import main

Image = pytest.importorskip("PIL.Image")
pytest.importorskip("matplotlib")


@pytest.fixture
def flag(tmp_path: Path) -> Path:
    """Three stripes, white, blue and red: clusters that can be checked by eye."""
    stripes = np.repeat(np.array([[[255, 255, 255]], [[0, 0, 160]], [[200, 0, 0]]], np.uint8), 8, 0)
    path = tmp_path / "flag.png"
    Image.fromarray(np.repeat(stripes, 32, axis=1)).save(path)
    return path


def test_a_picture_of_three_colours(
    flag: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "out.png"
    options = ["--picture", str(flag), "--patch", "4", "--clusters", "3", "--output", str(output)]
    assert main(options) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    assert "\x1b" not in printed.out  # no colour unless on a terminal
    assert "flag.png  32 x 24 pixels, 8 x 6 = 48 patches of 4 x 4" in printed.out
    for name in ("white", "deep blue", "red"):
        row = next(line for line in printed.out.splitlines() if line.endswith(f" {name}"))
        assert " 16 " in row
        assert "33.3%" in row
    assert f"picture written   {output}" in printed.out
    with Image.open(output) as drawn:
        assert drawn.size[0] > 1000


def test_json_holds_the_same_findings(
    flag: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--picture", str(flag), "--patch", "4", "--clusters", "3", "--json"]
    assert main([*options, "--output", str(tmp_path / "out.png")]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["patches"] == 48
    assert [row["patches"] for row in found["clusters"]] == [16, 16, 16]
    assert {row["colour"] for row in found["clusters"]} == {"white", "deep blue", "red"}
    assert found["errors"][-1] == pytest.approx(0.0, abs=1e-20)


def test_the_sample_picture_falls_into_five_named_colours(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--json", "--output", str(tmp_path / "lake.png")]) == 0
    found = json.loads(capsys.readouterr().out)
    assert sum(row["patches"] for row in found["clusters"]) == 2400
    assert len({row["colour"] for row in found["clusters"]}) == 5
    assert found["errors"] == sorted(found["errors"], reverse=True)  # it never rises


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--clusters", "0"], "--clusters: expected a whole number of 1 or more, got '0'"),
        (["--patch", "big"], "--patch: expected a whole number of 1 or more, got 'big'"),
        (["--picture", "nowhere.jpg"], "expected a picture file, found none at 'nowhere.jpg'"),
        (["--output", "demo.txt"], "expected a name ending in .png, .jpg"),
        (["--output", "missing/demo.png"], "found none at 'missing'; create it first"),
        (["--colour"], "unrecognized arguments: --colour"),
    ],
)
def test_wrong_options_end_with_2_and_a_reason(
    options: list[str], says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        main(options)
    assert ended.value.code == 2
    assert says in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_failures_end_with_1_and_one_line(
    flag: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = ["--output", str(tmp_path / "out.png")]
    no_picture = tmp_path / "notes.png"
    no_picture.write_text("not a picture at all")
    assert main(["--picture", str(no_picture), *output]) == 1
    assert "expected a picture in one of the formats PNG" in capsys.readouterr().err
    assert main(["--picture", str(flag), "--patch", "99", *output]) == 1
    assert "expected a patch size from 1 pixel to the whole picture" in capsys.readouterr().err
    assert main(["--picture", str(flag), "--patch", "24", "--clusters", "9", *output]) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("coterie demo: ")
    assert "Traceback" not in printed.err
    assert not (tmp_path / "out.png").exists()


def test_without_matplotlib_the_extra_to_install_is_named(
    flag: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    options = ["--picture", str(flag), "--clusters", "2", "--output", str(tmp_path / "out.png")]
    assert main(options) == 1
    assert 'pip install "coterie[plot]"' in capsys.readouterr().err


def test_help_begins_with_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    assert ended.value.code == 0
    printed = capsys.readouterr().out
    assert printed.startswith("usage: python -m coterie.cli.demo")
    assert "example:" in printed
