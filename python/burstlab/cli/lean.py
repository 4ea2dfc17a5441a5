"""Tables of a run in plain text: what draws those of other commands takes longer than most runs."""

from __future__ import annotations

import itertools
import os
import re
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

from burstlab.printable import shown

#: A cell, or a title.
Lines: TypeAlias = list[str]

#: Where titles may be broken, and how many places lie between columns; the first that fits holds.
_STEPS = (("", 3), (" ", 3), (" ", 2), (" ", 1), (r" |(?<=-)(?=\w)", 1))

#: Where cells may be broken if that is not enough: before an interval, then within one, too.
_INTERVALS = ("", r" (?=±|\(.* to )", r" (?=±|\(.* to )|(?<= to) ")

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
        """Return its lines: titles, a rule, rows, and an empty line on either side.

        On a terminal that is too narrow for it, titles are broken and gaps shrink until it fits.
        """
        room = terminal_width()
        steps = itertools.product(_INTERVALS, _STEPS)
        drawn = (self._drawn(parts, breaks, gap) for parts, (breaks, gap) in steps)
        text, wide = next(drawn)
        while room is not None and wide >= room and (another := next(drawn, None)):
            text, wide = another
        return text

    def _drawn(self, parts: str, breaks: str, gap: int) -> tuple[str, int]:
        """Return the table with cells and titles that are broken so, and how wide it is."""
        cells = [[_broken(cell, parts, 0) for cell in row] for row in self._rows]
        heads, widths = self._laid(cells, breaks)
        wide = sum(widths) + gap * (len(widths) - 1)
        titles = self._lines(heads, widths, gap, top=False)
        rows = [line for row in cells for line in self._lines(row, widths, gap, top=True)]
        return "\n".join(["", *titles, " " + "─" * wide, *rows, ""]), wide

    def _laid(self, rows: Sequence[Sequence[Lines]], breaks: str) -> tuple[list[Lines], list[int]]:
        """Return the lines of each title, and how wide each column is."""
        heads: list[Lines] = []
        widths: list[int] = []
        for place, title in enumerate(self._titles):
            least = max((_width(line) for row in rows for line in row[place]), default=0)
            heads.append(_broken(title, breaks, least))
            widths.append(max(least, *map(_width, heads[-1])))
        return heads, widths

    def _lines(
        self, row: Sequence[Lines], widths: Sequence[int], gap: int, *, top: bool
    ) -> Iterator[str]:
        """Return the lines of a row, of which cells with fewer have theirs at the top or below."""
        high = max(map(len, row))
        filled = [
            [*cell, *[""] * (high - len(cell))] if top else [*[""] * (high - len(cell)), *cell]
            for cell in row
        ]
        for line in zip(*filled, strict=True):
            yield (" " + (" " * gap).join(self._cells(line, widths))).rstrip()

    def _cells(self, row: Sequence[str], widths: Sequence[int]) -> Iterable[str]:
        for cell, width, right in zip(row, widths, self._right, strict=True):
            space = " " * (width - _width(cell))
            yield space + cell if right else cell + space


def terminal_width() -> int | None:
    """Return how many places a line of the terminal has; a pipe or a file has no such number."""
    if not sys.stdout.isatty():
        return None
    given = os.environ.get("COLUMNS", "")
    if given.isdecimal() and int(given) > 0:
        return int(given)
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or None
    except (OSError, ValueError):
        return None


def _broken(title: str, breaks: str, least: int) -> Lines:
    """Return the lines of a title: one, or as few as are no longer than they have to be.

    Parameters
    ----------
    title
        It.
    breaks
        Where it may be broken, as a regular expression; empty: nowhere.
    least
        How wide its column is anyway.
    """
    words = re.split(breaks, title) if breaks else [title]
    width = max(least, *map(_width, words))
    lines = words[:1]
    for word in words[1:]:
        joined = lines[-1] + ("" if lines[-1].endswith("-") else " ") + word
        if _width(joined) <= width:
            lines[-1] = joined
        else:
            lines.append(word)
    return lines


def _short(text: str) -> str:
    return text if _width(text) <= _WORD else text[: _WORD - 1] + "…"


def _width(text: str) -> int:
    """Return how many places of a terminal a text takes."""
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(one) in "WF" for one in text)
    return len(text) + wide - sum(unicodedata.combining(one) > 0 for one in text)
