"""Distributions of sizes from text files: rows of bytes and probability, ``#`` begins a comment.

A row gives the probability that a size is at most that many bytes, as a fraction or in percent.
The engine checks the points; this module checks only whether the file has any.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from burstlab.documents.named_files import NamedFiles
from burstlab.errors import ScenarioError
from burstlab.storage.files import Reader, decoded, named_bytes

#: Tables of a scenario that hold a distribution of sizes: a list, and the field of its entries.
_PLACES = (("demand", "size"), ("bursts", "length"), ("batches", "size"))


def read(path: str | os.PathLike[str], reader: Reader = named_bytes) -> list[list[Any]]:
    """Read the points of a cumulative distribution function.

    Parameters
    ----------
    path
        A file with two columns, separated by a comma, a semicolon, a tab or spaces: each row a
        whole number of bytes and a probability, rising. The last probability is 1, or 100 where
        they are in percent. A first row that names the columns, empty rows and comments are
        skipped. A first size of 0 with probability 0 is where the smallest sizes begin.
    reader
        Answers what the file holds.

    Returns
    -------
    list
        The points as ``cdf`` of a distribution has them, such as ``["10000 B", 0.15]``.

    Raises
    ------
    ScenarioError
        If the file cannot be read or holds no points of sizes; the error names the file and the
        line.
    """
    where = Path(path)
    text = decoded(reader(where), where)
    points: list[list[Any]] = []
    last = (0, 0.0)
    rows = list(_rows(text))
    most = 100.0 if _in_percent(rows) else 1.0
    for line, cells in rows:
        if not points and line == rows[0][0] and _is_head(cells):
            continue
        place = f"{where}, line {line}"
        if len(cells) != 2:
            fix = "write bytes,probability, such as 10000,0.15"
            raise ScenarioError(place, ",".join(cells), f"{len(cells)} columns", fix)
        point = (_bytes(place, cells[0]), _probability(place, cells[1], most))
        if point[0] < last[0] or point[1] < last[1]:
            problem = f"it is below the row before, {last[0]},{last[1]:g}"
            raise ScenarioError(place, ",".join(cells), problem, "list both columns rising")
        points.append([f"{point[0]} B", point[1]])
        last = point
    if last[1] != 1.0:
        value = f"{last[0]},{last[1]:g}" if points else ""
        problem = "the last probability is not 1" if points else "there are no points"
        fix = "end with the largest size and probability 1"
        raise ScenarioError(str(where), value, problem, fix)
    return points


def expand(document: dict[str, Any], files: NamedFiles) -> None:
    """Replace the name of each ``file`` of sizes by its points.

    Parameters
    ----------
    document
        A scenario; changed in place. Left unchanged if the engine has to refuse it anyway.
    files
        The files that it names.
    """
    for table, field in _PLACES:
        entries = document.get(table)
        for index, entry in enumerate(entries if isinstance(entries, list) else []):
            size = entry.get(field) if isinstance(entry, dict) else None
            path = f"{table}[{index}].{field}"
            for place, one in [(path, size), *_parts(path, size)]:
                if not isinstance(one, dict) or not isinstance(one.get("file"), str):
                    continue
                if one.get("distribution") != "empirical":
                    continue
                if "cdf" in one:
                    fix = "keep one of the two"
                    raise ScenarioError(f"{place}.file", one["file"], "cdf is given too", fix)
                name = one.pop("file")
                one["cdf"] = read(files.where(name), files.reader(name))


def _parts(path: str, size: Any) -> Iterator[tuple[str, Any]]:
    """Go through the parts of a mixture, each with its path."""
    parts = size.get("parts") if isinstance(size, dict) else None
    for index, part in enumerate(parts if isinstance(parts, list) else []):
        yield f"{path}.parts[{index}]", part


def _rows(text: str) -> Iterator[tuple[int, list[str]]]:
    for line, row in enumerate(text.splitlines(), start=1):
        content = row.partition("#")[0].strip()
        if content:
            separator = next((sign for sign in ",;\t" if sign in content), None)
            yield line, [cell.strip() for cell in content.split(separator)]


def _is_head(cells: list[str]) -> bool:
    """Whether a row names columns: its cells are words."""
    return all(math.isnan(_number(cell)) and cell[:1].isalpha() for cell in cells)


def _in_percent(rows: list[tuple[int, list[str]]]) -> bool:
    """Whether probabilities end with 100."""
    return bool(rows) and len(rows[-1][1]) == 2 and _number(rows[-1][1][1]) == 100.0


def _number(cell: str) -> float:
    try:
        return float(cell)
    except ValueError:
        return math.nan


def whole_bytes(cell: str) -> int | None:
    """Read a whole number of bytes below 10^15, which may be written as ``2.0e4``."""
    if cell.isascii() and cell.isdigit() and len(cell) <= 15:
        return int(cell)
    found = _number(cell)
    written = cell.isascii() and cell[:1].isdigit() and "_" not in cell
    return int(found) if written and found < 1e15 and found == int(found) else None


def _bytes(place: str, cell: str) -> int:
    found = whole_bytes(cell)
    if found is not None:
        return found
    fix = "write bytes as a whole number below 10^15, without a unit"
    raise ScenarioError(place, cell, "no size in bytes", fix)


def _probability(place: str, cell: str, most: float) -> float:
    """Read a probability of which `most` is certain."""
    found = _number(cell) / most
    if 0.0 <= found <= 1.0:
        return found
    fix = "write a number from 0 to 1" if most == 1.0 else "write percent from 0 to 100"
    raise ScenarioError(place, cell, "no probability", fix)
