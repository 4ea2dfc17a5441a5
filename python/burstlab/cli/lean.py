"""Tables of a run in plain text: what draws those of other commands takes longer than most runs."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence

from burstlab.shown import shown

#: The longest word of a column; the end of a longer one is cut off.
_WORD = 40


class Lean:
    """A table without rows, from the titles of its columns.

    Parameters
    ----------
    words, numbers, remarks
        Columns of words, of numbers behind them, and of words behind these.
    """

    def __init__(
        self, words: Iterable[str], numbers: Iterable[str] = (), remarks: Iterable[str] = ()
    ) -> None:
        left, right, behind = list(words), list(numbers), list(remarks)
        self._titles = [*left, *right, *behind]
        self._right = [False] * len(left) + [True] * len(right) + [False] * len(behind)
        self._rows: list[Sequence[str]] = []

    def add_row(self, *cells: str) -> None:
        """Add a row, a text a column."""
        assert len(cells) == len(self._titles), "a cell for each column"
        self._rows.append([_short(shown(cell)) for cell in cells])

    def __str__(self) -> str:
        """Return its lines: titles, a rule, rows, and an empty line on either side."""
        rows = [self._titles, *self._rows]
        widths = [max(_width(row[place]) for row in rows) for place in range(len(self._titles))]
        lines = [" " + "   ".join(self._cells(row, widths)) for row in rows]
        rule = " " + "─" * (sum(widths) + 3 * (len(widths) - 1))
        return "\n".join(["", lines[0].rstrip(), rule, *(line.rstrip() for line in lines[1:]), ""])

    def _cells(self, row: Sequence[str], widths: Sequence[int]) -> Iterable[str]:
        for cell, width, right in zip(row, widths, self._right, strict=True):
            space = " " * (width - _width(cell))
            yield space + cell if right else cell + space


def _short(text: str) -> str:
    return text if _width(text) <= _WORD else text[: _WORD - 1] + "…"


def _width(text: str) -> int:
    """Return how many places of a terminal a text takes."""
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(one) in "WF" for one in text)
    return len(text) + wide - sum(unicodedata.combining(one) > 0 for one in text)
