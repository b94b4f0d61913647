"""Texts as data points: frequencies of words, weighed by their rarity in other texts (TF-IDF)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coterie.data.dataset import Dataset, Labels, check_labels
from coterie.data.errors import DataError, naming
from coterie.data.file_types import check_is_text, first_bytes
from coterie.data.memory_limits import MAX_EXPANSION, Limits
from coterie.data.memory_shortage import reports_shortage
from coterie.data.options import check_path, check_whole

Array = NDArray[np.float64]
SUFFIXES = (".txt", ".md", ".text", ".rst")
BLOCK = 1 << 20  # bytes looked through at once
NEWLINE = b"\n"


@dataclass(frozen=True, eq=False)
class Texts:
    """A collection of texts and its numbers.

    Attributes
    ----------
    names : array (n,)
        Names of the files, or numbers of the lines, from 1.
    weights : CSR matrix (n, words)
        TF-IDF, each row of length one.
    vectorizer : scikit-learn's TfidfVectorizer
        It gives weights; `rows` scales them to length one.
    directions : array (components, words) or None
        Singular vectors that rows were reduced to, the strongest first.
    """

    names: NDArray[Any]
    weights: Any
    vectorizer: Any
    directions: Array | None = None

    def ids(self) -> dict[str, NDArray[Any]]:
        """Return the name of every document."""
        return {"document": self.names}

    def put_back(self, labels: Labels) -> dict[int, list[Any]]:
        """Return the names of the documents of each cluster."""
        return {int(c): self.names[labels == c].tolist() for c in np.unique(labels)}

    def rows(self, texts: Sequence[str]) -> Any:
        """Return new texts as rows that a model of this collection can label."""
        return _reduced(_of_length_one(self.vectorizer.transform(texts)), self.directions)

    def top_words(self, labels: ArrayLike, n_words: int = 10) -> dict[int, list[str]]:
        """Return the words with the largest mean weight in each cluster, the largest first."""
        checked = check_labels(labels, len(self.names))
        words = self.vectorizer.get_feature_names_out()
        top: dict[int, list[str]] = {}
        for cluster in np.unique(checked):
            mean = np.asarray(self.weights[checked == cluster].mean(axis=0)).ravel()
            order = np.argsort(-mean, kind="stable")[:n_words]
            top[int(cluster)] = [str(words[i]) for i in order if mean[i] > 0.0]
        return top


@reports_shortage
def read_texts(
    path: str | os.PathLike[str],
    *,
    components: int | None = None,
    stop_words: str | list[str] | None = None,
    min_df: int | float = 1,
    max_df: int | float = 1.0,
    ngrams: int = 1,
    words: Sequence[str] | None = None,
    rarities: Sequence[float] | None = None,
    directions: ArrayLike | None = None,
    max_memory: int | str | None = None,
    max_expansion: float = MAX_EXPANSION,
) -> Dataset:
    """Read a folder of text files, or a file with one text per line, as TF-IDF rows.

    Parameters
    ----------
    path : path
        A folder is searched for .txt, .md, .text and .rst files, its folders too. Of a file, lines
        that are empty are left out.
    components : int or None
        None: sparse rows, one column per word. Otherwise rows are reduced to so many columns by a
        singular value decomposition, and scaled to length one again.
    stop_words, min_df, max_df
        Words to leave out, as in scikit-learn's TfidfVectorizer.
    ngrams : int, default=1
        Up to so many words in a row count as a word too.
    words, rarities : sequences of equal length, or None
        Of an earlier collection, whose weights these texts get: the columns of its rows, and
        ``provenance["rarities"]``, the inverse document frequencies. None: found in the texts.
    directions : array (components, words), or None
        Of an earlier collection that was reduced: ``provenance["directions"]``; its words are then
        ``provenance["vocabulary"]``.
    max_memory, max_expansion
        As for `read_table`; they limit the texts in memory, and the rows.
    """
    check_path(path)
    where = Path(path)
    check_whole("ngrams", ngrams, 1, "1 counts single words")
    if components is not None:
        check_whole("components", components, 1, "None keeps a column for each word")
    limits = Limits.of(max_memory, max_expansion)
    with naming(where):
        names, texts, stored = _folder(where, limits) if where.is_dir() else _lines(where, limits)
        vectorizer = _vectorizer(stop_words, min_df, max_df, ngrams, words, rarities)
        weights = _weights(vectorizer, texts, words is None)
        known = tuple(map(str, vectorizer.get_feature_names_out()))
        kept = None if directions is None else _checked_directions(directions, len(known))
        if components is not None and kept is None:
            limits.check(8 * len(texts) * components, stored, "reduced rows", "fewer components")
            kept = _directions(weights, components)
        X = _reduced(weights, kept)
    columns = known if kept is None else tuple(f"component_{i}" for i in range(len(kept)))
    provenance: dict[str, Any] = {
        "source": str(where),
        "documents": len(texts),
        "words": len(known),
        "components": None if kept is None else len(kept),
        "ngrams": ngrams,
        "rarities": vectorizer.idf_.tolist(),  # with the words, they turn new texts into such rows
    }
    if kept is not None:  # else the words are the columns
        provenance |= {"vocabulary": list(known), "directions": kept}
    origin = Texts(names, weights, vectorizer, kept)
    return Dataset(X, columns, "text", str(where), origin, provenance)


def _vectorizer(
    stop_words: str | list[str] | None,
    min_df: int | float,
    max_df: int | float,
    ngrams: int,
    words: Sequence[str] | None,
    rarities: Sequence[float] | None,
) -> Any:
    """Return scikit-learn's vectorizer, with the words and rarities of an earlier collection."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectorizer = TfidfVectorizer(
        stop_words=stop_words, min_df=min_df, max_df=max_df, ngram_range=(1, ngrams), norm=None
    )
    if words is not None and rarities is not None:
        vectorizer.set_params(vocabulary=list(words))
        vectorizer.idf_ = np.asarray(rarities, dtype=np.float64)
    return vectorizer


def _weights(vectorizer: Any, texts: Sequence[str], new: bool) -> Any:
    """Return TF-IDF rows of length one; `new` finds the words in these texts."""
    try:
        return _of_length_one((vectorizer.fit_transform if new else vectorizer.transform)(texts))
    except ValueError as error:
        raise DataError(
            f"expected some words, but none are left ({error}); check stop_words, min_df and max_df"
        ) from error


def _checked_directions(directions: ArrayLike, n_words: int) -> Array:
    checked = np.asarray(directions, dtype=np.float64)
    if checked.shape[1:] != (n_words,):
        raise ValueError(
            f"expected directions of shape (components, {n_words}), as there are words, got "
            f"shape {checked.shape}; pass words and directions of the same collection"
        )
    return checked


def _folder(folder: Path, limits: Limits) -> tuple[NDArray[Any], list[str], int]:
    files = sorted(p for p in folder.rglob("*") if p.suffix.lower() in SUFFIXES and p.is_file())
    if not files:
        raise DataError(
            f"expected text files ({', '.join(SUFFIXES)}) in the folder, got none; "
            "check the path, or give a file with one text per line"
        )
    stored = sum(file.stat().st_size for file in files)
    limits.check(4 * stored, stored, f"{len(files):,} texts", "take fewer files")
    texts = [_text(file, f" in {file.name}") for file in files]
    names = np.array([file.relative_to(folder).as_posix() for file in files], dtype=object)
    return names, texts, stored


def _lines(path: Path, limits: Limits) -> tuple[NDArray[Any], list[str], int]:
    stored = path.stat().st_size
    limits.check(4 * stored, stored, "a text", "cut it into pieces")
    lines = _text(path, "").splitlines()
    kept = [(number, line) for number, line in enumerate(lines, start=1) if line.strip()]
    if not kept:
        raise DataError("expected one text per line, got no line with a word; check the file")
    return np.array([number for number, _ in kept]), [line for _, line in kept], stored


def _text(path: Path, where: str) -> str:
    """Return the content of a text file; refuse another file before much of it is in memory."""
    check_is_text(path, first_bytes(path), where)
    line = 1
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            at = block.find(b"\0")
            if at >= 0:
                raise DataError(
                    "expected text, got a NUL character in line "
                    f"{line + block.count(NEWLINE, 0, at)}{where}; "
                    "the file is damaged, or not a text: give another"
                )
            line += block.count(NEWLINE)
    raw = path.read_bytes()
    try:
        return raw.decode().removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = raw.count(NEWLINE, 0, error.start) + 1
        raise DataError(
            f"expected text in UTF-8, got the byte {raw[error.start]:#04x} in line {line}{where}; "
            "save it again as UTF-8, for example with: iconv -f latin1 -t utf8"
        ) from None


def _of_length_one(counted: Any) -> Any:
    """Return weights, (n, words), as rows of length one.

    Words are put in order first, so that lengths are summed in the same order, to the same bits,
    whether the words were known before or not.
    """
    from sklearn.preprocessing import normalize

    weights = counted.tocsr()
    weights.sort_indices()
    return normalize(weights, copy=False)


def _directions(weights: Any, components: int) -> Array:
    """Return the strongest singular vectors, (components, words)."""
    from sklearn.decomposition import TruncatedSVD

    most = min(weights.shape) - 1
    if not 1 <= components <= most:
        raise DataError(
            f"expected components from 1 to {most} for {weights.shape[0]} texts and "
            f"{weights.shape[1]} words, got {components}; 100 suits large collections"
        )
    svd = TruncatedSVD(components, algorithm="arpack", random_state=0).fit(weights)
    return np.ascontiguousarray(svd.components_)


def _reduced(weights: Any, directions: Array | None) -> Any:
    """Return rows along the directions, scaled to length one again; rows of zeros stay."""
    if directions is None:
        return weights
    rows = weights @ directions.T
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.ascontiguousarray(rows / np.where(lengths > 0.0, lengths, 1.0))
