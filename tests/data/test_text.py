"""Texts as TF-IDF rows, and words back from clusters."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from support.data_files import written

from coterie import KMeans
from coterie.data import DataError, read_texts

LINES = "cats purr softly\ndogs bark loudly\n\ncats and kittens purr\ndogs and puppies bark\n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return written(tmp_path / "lines.txt", LINES)


def test_lines_become_sparse_rows_of_length_one(path: Path) -> None:
    data = read_texts(path)
    assert sparse.issparse(data.X)
    assert data.X.shape == (4, len(data.columns))
    np.testing.assert_allclose(data.X.multiply(data.X).sum(axis=1), 1.0)
    assert "purr" in data.columns
    assert data.ids["document"].tolist() == [1, 2, 4, 5]  # lines, the empty one left out


def test_clusters_have_their_words_and_documents(path: Path) -> None:
    data = read_texts(path, stop_words=["and"])
    labels = KMeans(2, random_state=0, metric="cosine").fit(data.X).labels_
    words = data.origin.top_words(labels, 2)  # type: ignore[attr-defined]
    assert {frozenset(top) for top in words.values()} == {
        frozenset(["cats", "purr"]),
        frozenset(["bark", "dogs"]),
    }
    assert sorted(data.put_back(labels).values()) == [[1, 4], [2, 5]]


def test_reduced_rows_and_new_texts(path: Path) -> None:
    data = read_texts(path, components=2)
    assert data.X.shape == (4, 2)
    np.testing.assert_allclose(np.linalg.norm(data.X, axis=1), 1.0)
    np.testing.assert_allclose(data.origin.rows(["cats purr softly"]), data.X[:1])  # type: ignore[attr-defined]
    with pytest.raises(DataError, match=r"components from 1 to 3 for 4 texts and 9 words, got 9"):
        read_texts(path, components=9)


def test_a_folder_of_files(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    written(tmp_path / "b.txt", "dogs bark")
    written(tmp_path / "sub" / "a.md", "cats purr")
    written(tmp_path / "c.bin", b"\0\1")
    data = read_texts(tmp_path)
    assert data.ids["document"].tolist() == ["b.txt", "sub/a.md"]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"caf\xe9\nok\n", r"UTF-8, got the byte 0xe9 in line 1; save it again"),
        (b"ok\na\0b\n", r"got a NUL character in line 2"),
        (b"\n \n", r"expected one text per line, got no line with a word"),
        (b"a b c\n", r"expected some words, but none are left"),
    ],
)
def test_files_that_are_no_texts(tmp_path: Path, content: bytes, says: str) -> None:
    with pytest.raises(DataError, match=says):
        read_texts(written(tmp_path / "t.txt", content))


def test_a_folder_without_texts_and_a_small_budget(tmp_path: Path, path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match=r"expected text files \(\.txt.*in the folder, got none"):
        read_texts(tmp_path / "empty")
    with pytest.raises(DataError, match=r"at most 100 bytes of memory"):
        read_texts(path, max_memory=100)


def test_options_reach_the_vectorizer(path: Path) -> None:
    options: Any = {"ngrams": 2, "min_df": 2}
    assert read_texts(path, **options).columns == ("and", "bark", "cats", "dogs", "purr")


@pytest.mark.parametrize("components", [None, 2])
def test_texts_read_like_an_earlier_collection_get_the_same_bits(
    tmp_path: Path, components: int | None
) -> None:
    rng = np.random.default_rng(0)
    letters = [f"word{i}" for i in range(200)]
    lines = "\n".join(" ".join(rng.choice(letters, 30)) for _ in range(40))
    path = written(tmp_path / "many.txt", lines)
    data = read_texts(path, components=components)
    known = data.provenance
    again = read_texts(
        path,
        words=known.get("vocabulary", data.columns),
        rarities=known["rarities"],
        directions=known.get("directions"),
    )
    if components is None:
        assert (data.X != again.X).nnz == 0
    else:
        np.testing.assert_array_equal(data.X, again.X)
        np.testing.assert_array_equal(data.X, data.origin.rows(lines.split("\n")))  # type: ignore[attr-defined]
    assert data.columns == again.columns


def test_directions_of_another_collection(path: Path) -> None:
    words, rarities = ["cats", "dogs"], [1.0, 1.0]
    with pytest.raises(ValueError, match=r"shape \(components, 2\).*got shape \(1, 3\)"):
        read_texts(path, words=words, rarities=rarities, directions=[[1.0, 0.0, 0.0]])
