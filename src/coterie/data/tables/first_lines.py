"""The first lines of a text, as each separator would divide them into cells.

Two kinds of lines above the table do not count: Excel's `sep=;`, and comments that begin with
`#`. The last comment holds the names if it has a cell for each column, as NumPy writes it.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain

from coterie.data.tables.cells import is_missing, is_number

NOTHING = "\x1f"  # the separator of a text that has none
ABOVE = re.compile(r'"?sep=(?P<sign>[^\r\n])"?(?:\r\n|\r|\n)', re.IGNORECASE)
COMMENTS = re.compile(r"(?:(?:#[^\r\n]*)?(?:\r\n|\r|\n))*")  # and empty lines
HEAD = re.compile(rb'(?:\xef\xbb\xbf)?(?:"?[Ss][Ee][Pp]=[^\r\n]"?(?:\r\n|\r|\n))?'
                  rb"(?:(?:#[^\r\n]*)?(?:\r\n|\r|\n))*")  # fmt: skip
_HASH = re.compile(r"(?:^|(?<=[\r\n]))# +")
_LINE_END = re.compile(r"\r\n|\r|\n")

Record = list[str]


@dataclass
class Lines:
    """The cells of all lines that are not empty, as one separator divides them."""

    records: list[Record]
    numbers: list[int]  # the first line of each record, in the file, from 1
    ends: list[int]  # the last line of each record

    @cached_property
    def widths(self) -> Counter[int]:
        """The number of lines for each number of cells."""
        return Counter(len(record) for record in self.records)

    @property
    def even(self) -> bool:
        """True if all lines have the same number of cells, and more than one."""
        return len(self.widths) == 1 and self.width > 1

    @cached_property
    def width(self) -> int:
        """The commonest number of cells, of lines with several cells if there are any."""
        several = Counter({width: n for width, n in self.widths.items() if width > 1})
        return (several or self.widths).most_common(1)[0][0]

    @property
    def agreement(self) -> float:
        """The share of lines with `width` cells; 0 if the width is 1."""
        return self.widths[self.width] / len(self.records) if self.width > 1 else 0.0

    @cached_property
    def whole(self) -> list[Record]:
        """The lines with `width` cells."""
        width = self.width
        return [record for record in self.records if len(record) == width]

    @property
    def odd(self) -> int | None:
        """The first line of the file with more or fewer than `width` cells."""
        sizes = zip(self.numbers, map(len, self.records), strict=True)
        return next((number for number, size in sizes if size != self.width), None)

    def last_with(self, below: Lines) -> Lines:
        """Return the last of these lines, and the lines below."""
        return Lines(
            [self.records[-1], *below.records],
            [self.numbers[-1], *below.numbers],
            [self.ends[-1], *below.ends],
        )


@dataclass
class FirstLines:
    """The first lines of a file."""

    text: str  # below a line that names the separator
    separator: str | None  # that this line names
    skipped: int  # 1 if there is such a line
    _lines: dict[str, Lines] = field(default_factory=dict)

    @classmethod
    def of(cls, text: str) -> FirstLines:
        """Return the first lines of a text, without a line that names the separator."""
        text = text.removeprefix("\ufeff")
        named = ABOVE.match(text)
        if named is None:
            return cls(text, None, 0)
        return cls(text[named.end() :], named["sign"], 1)

    def lines(self, separator: str) -> Lines:
        """Return the cells that a separator makes of the text, without comments above them."""
        if separator not in self._lines:
            self._lines[separator] = self._without_comments(separator)
        return self._lines[separator]

    def _without_comments(self, separator: str) -> Lines:
        comments = COMMENTS.match(self.text)
        end = comments.end() if comments else 0
        above = _divided(_HASH.sub("", self.text[:end]), separator, self.skipped)
        below = _divided(self.text[end:], separator, self.skipped + _n_lines(self.text[:end]))
        if not above.records or not below.records:
            return _divided(self.text, separator, self.skipped)
        alike = [record for record in above.records if len(record) == below.width]
        if any(map(_any_number, chain.from_iterable(alike))):  # rows of data: colours, for example
            return _divided(self.text, separator, self.skipped)
        named = not any(map(_any_number, below.records[0])) and not any(
            map(is_missing, below.records[0])
        )
        return below if named or above.records[-1] not in alike else above.last_with(below)


def _divided(text: str, separator: str, above: int) -> Lines:
    """Return lines as cells; quotes count."""
    lines = Lines([], [], [])
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    begin = 1
    try:
        for record in reader:
            if record:
                lines.records.append(record)
                lines.numbers.append(above + begin)
                lines.ends.append(above + reader.line_num)
            begin = reader.line_num + 1
    except csv.Error:  # a cell too long for the module, as a wrong separator makes them
        whole = [(i, line) for i, line in enumerate(_LINE_END.split(text), above + 1) if line]
        numbers = [i for i, _ in whole]
        return Lines([[line] for _, line in whole], numbers, numbers)
    return lines


def _any_number(cell: str) -> bool:
    return is_number(cell) or is_number(cell, ",")


def _n_lines(text: str) -> int:
    return len(_LINE_END.findall(text))
