"""The comparison: each reported number with one that was computed again."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any


class Audit:
    """The numbers of one run, and which of them were computed again.

    Parameters
    ----------
    document
        ``summary.json``.
    """

    def __init__(self, document: Mapping[str, Any]) -> None:
        self.document = document
        self.problems: list[str] = []
        self.seen: set[str] = set()
        self.done: set[str] = set()

    def equal(
        self,
        path: str,
        expected: float | None,
        relative: float = 1e-9,
        absolute: float = 1e-12,
    ) -> None:
        """Compare the number at a path, ``flows[0].goodput_bps``, with what it should be."""
        self.done.add(pattern(path))
        found = at(self.document, path)
        if not same(found, expected, relative, absolute):
            self.problems.append(f"{path} = {found}, and the traces say {expected}")

    def claim(self, holds: object, what: str) -> None:
        """Note what does not hold."""
        if not holds:
            self.problems.append(what)

    def within(self, path: str, low: float, high: float) -> None:
        """Compare the number at a path with bounds, where it cannot be computed again."""
        found = at(self.document, path)
        if not low <= found <= high:
            self.problems.append(f"{path} = {found} is not from {low} to {high}")

    def paths(self) -> set[str]:
        """Return the patterns of all numbers in the document."""
        return {pattern(path) for path, _ in numbers(self.document)}


def same(found: Any, expected: Any, relative: float = 1e-9, absolute: float = 1e-12) -> bool:
    """Return whether two numbers are equal, whole ones exactly."""
    if found is None or expected is None:
        return found is expected
    if isinstance(found, int) and float(expected).is_integer():
        return found == expected
    return math.isclose(found, expected, rel_tol=relative, abs_tol=absolute)


def pattern(path: str) -> str:
    """Return a path with ``[]`` for every index."""
    return re.sub(r"\[\d+\]", "[]", path)


def at(document: Any, path: str) -> Any:
    """Return what is at a path."""
    for step in re.findall(r"[^.\[\]]+", path):
        document = document[int(step)] if isinstance(document, list) else document[step]
    return document


def numbers(document: Any, path: str = "") -> Iterator[tuple[str, float]]:
    """Go through all numbers of a document, each with its path."""
    if isinstance(document, Mapping):
        for name, value in document.items():
            yield from numbers(value, f"{path}.{name}" if path else name)
    elif isinstance(document, list):
        for index, value in enumerate(document):
            yield from numbers(value, f"{path}[{index}]")
    elif isinstance(document, (int, float)) and not isinstance(document, bool):
        yield path, document
