"""Distributions of sizes from CSV files: rows of bytes and probability, ``#`` begins a comment.

A row says with what probability a size is at most that many bytes. The engine judges the points;
what is judged here is whether the file has any.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from burstlab.errors import ScenarioError
from burstlab.files import named_text

#: Tables of a scenario that hold a distribution of sizes: a list, and the field of its entries.
_PLACES = (("demand", "size"), ("bursts", "length"), ("batches", "size"))

#: What may stand in the first row, in place of numbers.
_HEAD = ["bytes", "probability"]


def read(path: str | os.PathLike[str]) -> list[list[Any]]:
    """Read the points of a cumulative distribution function.

    Parameters
    ----------
    path
        A CSV file: each row a whole number of bytes and a probability, rising, the last
        probability 1. A first row ``bytes,probability``, empty rows and comments are skipped.

    Returns
    -------
    list
        The points as ``cdf`` of a distribution has them, such as ``["10000 B", 0.15]``.

    Raises
    ------
    ScenarioError
        If the file cannot be read or is no such table; the error names the file and the line.
    """
    where = Path(path)
    text = named_text(where)
    points: list[list[Any]] = []
    last = (0, 0.0)
    for line, cells in _rows(text):
        if not points and [cell.lower() for cell in cells] == _HEAD:
            continue
        place = f"{where}, line {line}"
        if len(cells) != len(_HEAD):
            fix = "write bytes,probability, such as 10000,0.15"
            raise ScenarioError(place, ",".join(cells), f"{len(cells)} columns", fix)
        point = (_bytes(place, cells[0]), _probability(place, cells[1]))
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


def expand(document: dict[str, Any], base: Path) -> None:
    """Put the points of each ``file`` of sizes in the place of the name of the file.

    Parameters
    ----------
    document
        A scenario; changed in place. Left alone where the engine has to refuse it anyway.
    base
        The directory from which a relative path counts.
    """
    for table, field in _PLACES:
        entries = document.get(table)
        for index, entry in enumerate(entries if isinstance(entries, list) else []):
            size = entry.get(field) if isinstance(entry, dict) else None
            if not isinstance(size, dict) or not isinstance(size.get("file"), str):
                continue
            if size.get("distribution") != "empirical":
                continue
            if "cdf" in size:
                path = f"{table}[{index}].{field}.file"
                raise ScenarioError(path, size["file"], "cdf is given too", "keep one of the two")
            size["cdf"] = read(base / size.pop("file"))


def _rows(text: str) -> Iterator[tuple[int, list[str]]]:
    for line, row in enumerate(text.splitlines(), start=1):
        content = row.partition("#")[0].strip()
        if content:
            yield line, [cell.strip() for cell in content.split(",")]


def _bytes(place: str, cell: str) -> int:
    if cell.isascii() and cell.isdigit() and len(cell) <= 15:
        return int(cell)
    fix = "write bytes as a whole number below 10^15, without a unit"
    raise ScenarioError(place, cell, "no size in bytes", fix)


def _probability(place: str, cell: str) -> float:
    try:
        found = float(cell)
    except ValueError:
        found = math.nan
    if 0.0 <= found <= 1.0:
        return found
    raise ScenarioError(place, cell, "no probability", "write a number from 0 to 1")
