"""What every format consists of, and how it becomes the tables of a scenario."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from burstlab.errors import ScenarioError

_EARTH_RADIUS_KM = 6371.0  # the mean radius of IUGG, rounded

_ROLES = ("edge", "core", "both")
_LENGTHS = ("length_km", "length", "distance", "dist")
_LATITUDES = ("latitude", "lat")
_LONGITUDES = ("longitude", "lon", "lng")


@dataclass(slots=True)
class Part:
    """A node or a link as a file has it.

    Parameters
    ----------
    where
        Its place in the file, such as ``"line 7"`` or ``"node 3"``.
    ends
        The identifier of a node, or the two of a link.
    attributes
        What else is said of it.
    one_way
        Of a link: whether it leads from its first end to its second only.
    """

    where: str
    ends: tuple[str, ...]
    attributes: Mapping[str, Any] = field(default_factory=dict)
    one_way: bool = False


@dataclass(slots=True)
class Parts:
    """The nodes and links of a file, in its order."""

    nodes: list[Part]
    links: list[Part]


def refuse(file: str, where: str, value: object, problem: str, fix: str) -> ScenarioError:
    """Build the error for a mistake in a file.

    Parameters
    ----------
    file
        The file.
    where
        The place in it, such as a line; may be empty.
    value
        What stands there; may be empty.
    problem
        What is wrong with it.
    fix
        What to write instead.
    """
    return ScenarioError(f"{file}, {where}" if where else file, value, problem, fix)


def decoded(file: str, content: bytes) -> str:
    """Read what is in a file as text."""
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        problem = f"not UTF-8 text (byte {error.start})"
        raise refuse(file, "", "", problem, "save it as UTF-8") from None


def tables(file: str, parts: Parts) -> dict[str, list[dict[str, Any]]]:
    """Turn nodes and links into the tables ``node`` and ``link`` of a scenario."""
    if not parts.nodes:
        raise refuse(file, "", "", "there are no nodes", "list at least two, and links")
    names = _names(file, parts.nodes)
    positions = {node.ends[0]: _position(file, node) for node in parts.nodes}
    nodes = [{"name": names[node.ends[0]], **_role(file, node)} for node in parts.nodes]
    links: list[dict[str, Any]] = []
    taken: dict[tuple[str, str], str] = {}
    for link in parts.links:
        a, b = link.ends
        for end in (a, b):
            if end not in names:
                fix = "name nodes that the file lists"
                raise refuse(file, link.where, end, "there is no such node", fix)
        if a == b:
            raise refuse(file, link.where, names[a], "it leads to where it begins", "remove it")
        one_way = _flag(file, link, link.one_way)
        for pair in [(a, b)] if one_way else [(a, b), (b, a)]:
            if pair in taken:
                raise refuse(
                    file,
                    link.where,
                    f"{names[a]} to {names[b]}",
                    f"{taken[pair]} joins the two already",
                    "remove one; a thicker link has more wavelengths",
                )
            taken[pair] = link.where
        entry: dict[str, Any] = {"from": names[a], "to": names[b]}
        entry |= _extent(file, link, positions[a], positions[b])
        entry |= _capacity(file, link)
        links.append(entry | ({"one_way": True} if one_way else {}))
    return {"node": nodes, "link": links}


def places(file: str, parts: Parts) -> dict[str, tuple[float, float]]:
    """Return latitude and longitude of the nodes that have both, by name."""
    names = _names(file, parts.nodes)
    found = {names[node.ends[0]]: _position(file, node) for node in parts.nodes}
    return {name: place for name, place in found.items() if place is not None}


def number(file: str, where: str, value: object) -> float:
    """Read a finite number, written as one or as text."""
    try:
        found = float(value) if isinstance(value, (int, float, str)) else math.nan
    except (ValueError, OverflowError):
        found = math.nan
    if isinstance(value, bool) or not math.isfinite(found):
        raise refuse(file, where, value, "it is no number", "write a number, such as 120.5")
    return found


def _names(file: str, nodes: list[Part]) -> dict[str, str]:
    """Name nodes by their labels where each has one of its own, else by their identifiers."""
    seen: dict[str, str] = {}
    for node in nodes:
        (identifier,) = node.ends
        if identifier in seen:
            problem = f"{seen[identifier]} has the same name"
            raise refuse(file, node.where, identifier, problem, "rename one of the two")
        seen[identifier] = node.where
    labels = [node.attributes.get("label") for node in nodes]
    texts = [str(label).strip() if isinstance(label, (str, int)) else "" for label in labels]
    if all(texts) and len(set(texts)) == len(texts):
        return dict(zip(seen, texts, strict=True))
    return {identifier: identifier for identifier in seen}


def _given(part: Part, names: tuple[str, ...]) -> tuple[str, Any] | None:
    """Find the first of some attributes that is there, in whatever case it is written."""
    folded = {str(key).lower(): key for key in part.attributes}
    for name in names:
        if name in folded and part.attributes[folded[name]] not in (None, ""):
            return folded[name], part.attributes[folded[name]]
    return None


def _role(file: str, node: Part) -> dict[str, str]:
    found = _given(node, ("role",))
    if found is None:
        return {}
    role = str(found[1]).strip().lower()
    if role not in _ROLES:
        fix = f"use one of {', '.join(_ROLES)}"
        raise refuse(file, f"{node.where}, {found[0]}", found[1], "no such role", fix)
    return {"role": role}


def _position(file: str, node: Part) -> tuple[float, float] | None:
    """Find latitude and longitude in degrees."""
    both: list[float] = []
    for names, limit in ((_LATITUDES, 90.0), (_LONGITUDES, 360.0)):
        found = _given(node, names)
        if found is None:
            return None
        place = f"{node.where}, {found[0]}"
        value = number(file, place, found[1])
        if abs(value) > limit:
            fix = f"write degrees from -{limit:g} to {limit:g}, or give each link a length_km"
            raise refuse(file, place, found[1], "it lies outside the globe", fix)
        both.append(value)
    return both[0], both[1]


def _extent(
    file: str,
    link: Part,
    a: tuple[float, float] | None,
    b: tuple[float, float] | None,
) -> dict[str, Any]:
    """Find how long a link is: as it says, or along the great circle between its ends."""
    delay, length = _given(link, ("delay",)), _given(link, _LENGTHS)
    if delay and length:
        problem = f"{length[0]} is given too"
        raise refuse(file, f"{link.where}, {delay[0]}", delay[1], problem, "keep one of the two")
    if delay:
        return {"delay": _text(file, link, delay, "5 ms")}
    if length:
        place = f"{link.where}, {length[0]}"
        km = number(file, place, length[1])
        if km < 0:
            raise refuse(file, place, length[1], "it is negative", "write km of at least 0")
        return {"length_km": km}
    if a is None or b is None:
        problem = "it has no length, and its ends have no coordinates"
        fix = "give it length_km or delay, or both ends latitude and longitude"
        raise refuse(file, link.where, "", problem, fix)
    return {"length_km": round(great_circle_km(a, b), 3)}


def great_circle_km(a: tuple[float, float], b: tuple[float, float]) -> float:
    """Distance between two points on the globe, taken as a sphere.

    Parameters
    ----------
    a, b
        Latitude and longitude in degrees.
    """
    (lat_a, lon_a), (lat_b, lon_b) = (tuple(map(math.radians, point)) for point in (a, b))
    # The haversine formula: exact for near points too.
    h = (
        math.sin((lat_b - lat_a) / 2) ** 2
        + math.cos(lat_a) * math.cos(lat_b) * math.sin((lon_b - lon_a) / 2) ** 2
    )
    return 2 * _EARTH_RADIUS_KM * math.asin(math.sqrt(min(1.0, h)))


def _capacity(file: str, link: Part) -> dict[str, Any]:
    entry: dict[str, Any] = {}
    if found := _given(link, ("wavelengths",)):
        place = f"{link.where}, {found[0]}"
        count = number(file, place, found[1])
        if count < 1 or count != int(count):
            fix = "write a whole number of at least 1"
            raise refuse(file, place, found[1], "no number of wavelengths", fix)
        entry["wavelengths"] = int(count)
    return entry


def _text(file: str, link: Part, found: tuple[str, Any], example: str) -> str:
    """Read a quantity with its unit; the engine checks it further."""
    if isinstance(found[1], str):
        return found[1]
    place = f"{link.where}, {found[0]}"
    fix = f"write a text with a unit, such as {example!r}"
    raise refuse(file, place, found[1], "it has no unit", fix)


def _flag(file: str, link: Part, otherwise: bool) -> bool:
    found = _given(link, ("one_way",))
    if found is None:
        return otherwise
    words = {"true": True, "1": True, "false": False, "0": False}
    word = str(found[1]).strip().lower()
    if word not in words:
        place = f"{link.where}, {found[0]}"
        raise refuse(file, place, found[1], "it is neither true nor false", "write true or false")
    return words[word]
