"""The test of bits, tested: it finds one changed bit, and a sample of fits matches its list."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bits
import numpy as np
import pytest
from fit_bits import fit, running, stored

from coterie import KMeans
from coterie.kernels import _native

PROMISED = [each for each in running.all_fits() if each.group == fit.EXACT]
SAMPLE = 30  # of them, at even distances
ONE = "kmeans/blobs-8d/k=6/float64/weights=none"
OF_LEVELS = "mixture/constant-3d/k=4/diag/float64/weights=none"


@pytest.fixture
def listing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A stored list of one fit, whose bits are those of this machine."""
    monkeypatch.setattr(running, "THREADS", (1, 2))
    path = tmp_path / "list.json"
    assert bits.main(["record", "--only", ONE, "--list", str(path)]) == 0
    return path


@pytest.fixture(scope="module")
def stored_bits() -> stored.Bits:
    """The stored list of promised bits."""
    return stored.Listing.read(stored.STORED).exact


def with_one_bit_more(monkeypatch: pytest.MonkeyPatch, where: Callable[[KMeans], bool]) -> None:
    """Let fits of k-means find one mean that is off by its last bit, where `where` says."""
    plain = KMeans.fit

    def changed(self: KMeans, *data: Any, **named: Any) -> KMeans:
        plain(self, *data, **named)
        if where(self):
            first = self.cluster_centers_[0, 0]
            self.cluster_centers_[0, 0] = np.nextafter(first, np.inf)
        return self

    monkeypatch.setattr(KMeans, "fit", changed)


def check(path: Path, only: str = ONE) -> int:
    return bits.main(["check", "--only", only, "--list", str(path)])


def test_same_bits_pass(listing: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert check(listing) == 0
    assert "1 answers of 1 fits are the same bits." in capsys.readouterr().out


def test_one_changed_bit_is_found(
    listing: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with_one_bit_more(monkeypatch, lambda model: True)
    assert check(listing) == 1
    assert f"changed  {ONE}\n" in capsys.readouterr().out
    assert bits.main(["record", "--only", ONE, "--list", str(listing)]) == 0
    assert f"changed  {ONE}\n" in capsys.readouterr().out
    assert check(listing) == 0


def test_threads_that_disagree_are_found_and_not_stored(
    listing: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = listing.read_text()
    with_one_bit_more(monkeypatch, lambda model: model.n_jobs == 2)
    for command in ("check", "record"):
        assert bits.main([command, "--only", ONE, "--list", str(listing)]) == 1
        assert "with 1 threads differs from " in capsys.readouterr().out
    assert listing.read_text() == before


@pytest.mark.skipif(len(_native.simd_levels()) == 1, reason="this machine has one level")
def test_levels_that_disagree_are_found(
    listing: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with_one_bit_more(monkeypatch, lambda model: _native.simd_level() == "baseline")
    assert check(listing) == 1
    assert "baseline with 1 threads differs from " in capsys.readouterr().out


def test_added_and_missing_answers_are_found(
    listing: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = json.loads(listing.read_text())
    hashes = text["exact"]
    hashes["kmeans/gone"] = hashes.pop(ONE)
    listing.write_text(json.dumps(text))
    one = next(each for each in PROMISED if each.name == ONE)
    monkeypatch.setattr(bits, "all_fits", lambda: [one])
    assert bits.main(["check", "--list", str(listing)]) == 1
    said = capsys.readouterr().out
    assert f"added    {ONE}\n" in said
    assert "missing  kmeans/gone\n" in said


def test_a_fit_that_fails_is_named(
    listing: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(self: KMeans, *data: Any, **named: Any) -> KMeans:
        raise RuntimeError("no means today")

    monkeypatch.setattr(KMeans, "fit", fail)
    assert check(listing) == 1
    assert "RuntimeError: no means today" in capsys.readouterr().out


def test_bits_of_other_libraries_are_not_compared(
    listing: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record = ["record", "--only", OF_LEVELS, "--list", str(listing)]
    assert bits.main(record) == 0
    text = json.loads(listing.read_text())
    assert f"{OF_LEVELS} @{_native.simd_level()}" in text["libraries"]
    text["libraries"] = dict.fromkeys(text["libraries"], "0" * fit.DIGITS)
    listing.write_text(json.dumps(text))
    assert check(listing, OF_LEVELS) == 1
    text["recorded with"]["numpy"] = "1.0"
    listing.write_text(json.dumps(text))
    capsys.readouterr()
    assert check(listing, OF_LEVELS) == 0
    assert "are not compared" in capsys.readouterr().out


def test_answers_of_levels_that_are_not_here_are_no_differences() -> None:
    kept = {"mixture/a @baseline": "1", "mixture/a @avx1024": "2"}
    found = {"mixture/a @baseline": "1"}
    difference = stored.Difference.between(kept, found, ["baseline"])
    assert not difference
    assert difference.skipped == ["mixture/a @avx1024"]


def test_level_is_left_as_it_was() -> None:
    before = _native.simd_level()
    running.answer(next(each for each in PROMISED if each.name == ONE))
    assert _native.simd_level() == before


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (0.0, -0.0),
        (1, 1.0),
        (True, 1),
        (np.float32(1), np.zeros(1)),
        (np.zeros(2), np.zeros((2, 1))),
        (np.zeros(2), np.zeros(2, dtype=np.int64)),
        ([1.0, [2.0]], [[1.0], 2.0]),
    ],
)
def test_different_values_have_different_hashes(a: Any, b: Any) -> None:
    assert fit.digest(a) != fit.digest(b)


def test_hashes_see_through_the_layout_of_arrays() -> None:
    values = np.arange(12.0).reshape(3, 4)
    other = np.asfortranarray(values.astype(">f8"))
    assert fit.digest(values) == fit.digest(other)


@pytest.mark.parametrize("each", PROMISED[:: len(PROMISED) // SAMPLE], ids=lambda each: each.name)
def test_a_sample_matches_the_stored_list(
    each: fit.Fit, monkeypatch: pytest.MonkeyPatch, stored_bits: stored.Bits
) -> None:
    """Those that are promised on every machine; `make bits` compares all."""
    monkeypatch.setattr(running, "THREADS", (2,))
    answer = running.answer(each)
    assert not answer.broken
    assert answer.bits == {each.name: stored_bits.get(each.name)}
