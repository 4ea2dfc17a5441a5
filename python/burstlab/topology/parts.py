"""The nodes and links of a file, as each reader returns them, and the errors of readers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from burstlab.errors import ScenarioError


@dataclass(slots=True)
class Part:
    """A node or a link of a file.

    Parameters
    ----------
    where
        Its place in the file, such as ``"line 7"`` or ``"node 3"``.
    ends
        The identifier of a node, or the two of a link.
    attributes
        Its further attributes.
    one_way
        Of a link: whether it leads from its first end to its second only.
    """

    where: str
    ends: tuple[str, ...]
    attributes: Mapping[str, Any] = field(default_factory=dict)
    one_way: bool = False


@dataclass(slots=True)
class Parts:
    """The nodes and links of a file, in its order.

    Parameters
    ----------
    nodes, links
        The parts.
    exact
        Whether the file is in our own format: a part that is missing or doubled is an error then,
        as its author can mend it. Of files of other programs, known attributes are read and others
        ignored.
    plane
        Whether all coordinates are of a plane, not of the globe.
    """

    nodes: list[Part]
    links: list[Part]
    exact: bool = False
    plane: bool = False


def refuse(file: str, where: str, value: object, problem: str, fix: str) -> ScenarioError:
    """Build the error for a mistake in a file.

    Parameters
    ----------
    file
        The file.
    where
        The place in it, such as a line; may be empty.
    value
        The value there; may be empty.
    problem
        Why it is wrong.
    fix
        The correction.
    """
    return ScenarioError(f"{file}, {where}" if where else file, value, problem, fix)


def decoded(file: str, content: bytes) -> str:
    """Read the content of a file as text, without a byte order mark."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        problem = f"not UTF-8 text (byte {error.start})"
        raise refuse(file, "", "", problem, "save it as UTF-8") from None


def given(part: Part, names: tuple[str, ...]) -> tuple[str, Any] | None:
    """Find the first of some attributes that is there, in whatever case it is written."""
    folded = {str(key).lower(): key for key in part.attributes}
    for name in names:
        if name in folded and part.attributes[folded[name]] not in (None, ""):
            return folded[name], part.attributes[folded[name]]
    return None


def number(file: str, where: str, value: object) -> float:
    """Read a finite number, written as one or as text."""
    try:
        found = float(value) if isinstance(value, (int, float, str)) else math.nan
    except (ValueError, OverflowError):
        found = math.nan
    if isinstance(value, bool) or not math.isfinite(found):
        raise refuse(file, where, value, "it is no number", "write a number, such as 120.5")
    return found


def whole(file: str, link: Part, names: tuple[str, ...]) -> int | None:
    """Read a whole number of at least 1, where an attribute is given."""
    found = given(link, names)
    if found is None:
        return None
    place = f"{link.where}, {found[0]}"
    count = number(file, place, found[1])
    if count < 1 or count != int(count):
        fix = "write a whole number of at least 1"
        raise refuse(file, place, found[1], f"no number of {found[0]}", fix)
    return int(count)
