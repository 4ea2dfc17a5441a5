"""The fields of a scenario that Burstlab wrote, by path, without reading each file anew.

Compared results have nearly the same scenarios, and most of their tables are equal word for word.
So each text of a table is parsed once; in tables that differ each line is.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

from burstlab import classes

#: A field that stands on one line.
_LINE = re.compile(r"[A-Za-z0-9_-]+ = .*[^\[{,]$")

#: The text before a table.
_TABLE = re.compile(r"\n(?=\[)")

#: The head of a table, or of an entry of a list of tables.
_HEAD = re.compile(r"\[\[?([A-Za-z0-9_.-]+)\]\]?")


class Fields:
    """Reads the fields of scenarios, and remembers the tables that it has parsed."""

    def __init__(self) -> None:
        self._whole: dict[str, Mapping[str, Any]] = {}
        self._before: dict[str, tuple[Mapping[str, Any], Mapping[str, int]] | None] = {}
        self._tables: dict[tuple[str, str], Mapping[str, Any]] = {}
        self._lines: dict[tuple[str, str], tuple[str, Any]] = {}

    def of(self, text: str) -> Mapping[str, Any]:
        """Return the fields of a scenario by their paths.

        Parameters
        ----------
        text
            The text of ``scenario.toml`` of a result.
        """
        known = self._whole.get(text)
        if known is None:
            known = self._whole[text] = self._read(text)
        return known

    def _read(self, text: str) -> Mapping[str, Any]:
        # The seed is in the last table; the text before it is the same in other runs.
        before, bracket, last = text.rpartition("\n[")
        if before not in self._before:
            self._before[before] = self._tables_of(before, {}) if bracket else ({}, {})
        known = self._before[before]
        found = known and self._tables_of(f"{bracket}{last}".lstrip("\n"), dict(known[1]))
        if known is None or found is None:
            return dict(leaves(tomllib.loads(text)))
        return {**known[0], **found[0]}

    def _tables_of(
        self, text: str, counts: dict[str, int]
    ) -> tuple[Mapping[str, Any], Mapping[str, int]] | None:
        """Return the fields of tables, and how many of each there are; None where one is odd.

        Parameters
        ----------
        text
            The tables.
        counts
            How many of each there were before.
        """
        found: dict[str, Any] = {}
        for part in _TABLE.split(f"\n{text}"):
            head, _, body = part.lstrip("\n").partition("\n")
            path = ""
            if head.startswith("["):
                matched = _HEAD.fullmatch(head)
                if matched is None:
                    return None
                path = _path(matched[1], head.startswith("[["), counts)
            else:
                body = f"{head}\n{body}"
            found.update(self._table(path, body))
        return found, counts

    def _table(self, path: str, body: str) -> Mapping[str, Any]:
        known = self._tables.get((path, body))
        if known is None:
            known = self._tables[path, body] = dict(self._fields(path, body))
        return known

    def _fields(self, path: str, body: str) -> Iterator[tuple[str, Any]]:
        lines = [line for line in body.splitlines() if line]
        if not all(map(_LINE.match, lines)):
            yield from leaves(tomllib.loads(body), path)
            return
        for line in lines:
            known = self._lines.get((path, line))
            if known is None:
                fields = list(leaves(tomllib.loads(line), path))
                if len(fields) != 1:
                    yield from fields
                    continue
                known = self._lines[path, line] = fields[0]
            yield known


def _path(name: str, is_entry: bool, counts: dict[str, int]) -> str:
    """Return the path of a table, with the places in lists that it is in."""
    path = ""
    *outer, last = name.split(".")
    for step in outer:
        path = f"{path}.{step}" if path else step
        if path in counts:
            path = f"{path}[{counts[path]}]"
    path = f"{path}.{last}" if path else last
    if not is_entry:
        return path
    counts[path] = counts.get(path, -1) + 1
    return f"{path}[{counts[path]}]"


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Return the values within nested tables, by path; a list without tables is one value."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from leaves(inner, f"{path}.{name}" if path else str(name))
    elif isinstance(value, (list, tuple)) and any(isinstance(one, Mapping) for one in value):
        for index, inner in enumerate(value):
            yield from leaves(inner, f"{path}[{index}]")
    else:
        yield path, list(value) if isinstance(value, tuple) else classes.brief(path, value)
