"""Where the nodes of a file are, and how long its links are for that reason.

Coordinates are degrees on the globe, or points of a plane, as SNDlib has both. A node without
coordinates is placed between its neighbours where that is asked for.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TypeAlias

from burstlab.topology.parts import Part, Parts, given, number, refuse

_EARTH_RADIUS_KM = 6371.0  # the mean radius of IUGG, rounded

_LATITUDES = ("latitude", "lat")
_LONGITUDES = ("longitude", "lon", "lng")

Point: TypeAlias = tuple[float, float]


@dataclass(slots=True)
class Places:
    """The coordinates of nodes.

    Parameters
    ----------
    points
        Latitude and longitude in degrees, or two coordinates of a plane, by identifier.
    plane
        Whether they are of a plane.
    placed
        Identifiers of nodes that had no coordinates and were placed, in the order of the file.
    """

    points: dict[str, Point]
    plane: bool = False
    placed: list[str] = field(default_factory=list)

    def km(self, a: str, b: str) -> float | None:
        """Return the distance between two nodes; a unit of a plane is taken for 1 km."""
        if a not in self.points or b not in self.points:
            return None
        if self.plane:
            return math.dist(self.points[a], self.points[b])
        return great_circle_km(self.points[a], self.points[b])


def find(file: str, parts: Parts) -> Places:
    """Read the coordinates that a file gives.

    Degrees are taken where any node has them; else points of a plane, ``x`` and ``y``.
    """
    globe = {node.ends[0]: _pair(file, node, _LATITUDES, _LONGITUDES) for node in parts.nodes}
    found = {name: point for name, point in globe.items() if point is not None}
    if parts.plane:
        return Places(found, plane=True)
    if not found:
        flat = {node.ends[0]: _point(file, node) for node in parts.nodes}
        flatly = {name: point for name, point in flat.items() if point is not None}
        return Places(flatly, plane=bool(flatly))
    return Places(found)


def check(file: str, parts: Parts, places: Places) -> None:
    """Refuse degrees that lie outside the globe."""
    if places.plane:
        return
    for node in parts.nodes:
        if node.ends[0] not in places.points:
            continue
        for names, limit in ((_LATITUDES, 90.0), (_LONGITUDES, 360.0)):
            name, value = given(node, names) or ("", 0.0)
            if abs(number(file, f"{node.where}, {name}", value)) > limit:
                fix = (
                    f"write degrees from -{limit:g} to {limit:g}, give each link a length_km, or "
                    "call the coordinates of a plane x and y"
                )
                problem = "it lies outside the globe"
                raise refuse(file, f"{node.where}, {name}", value, problem, fix)


def fill(places: Places, parts: Parts) -> None:
    """Place nodes without coordinates at the mean of their neighbours that have some.

    A node needs two such neighbours at least, or it would lie on top of the only one. Nodes that
    were placed count for the next ones, in rounds, so that the order of the file does not matter.
    """
    neighbours: dict[str, list[str]] = {node.ends[0]: [] for node in parts.nodes}
    for link in parts.links:
        a, b = link.ends
        if a != b and a in neighbours and b in neighbours:
            neighbours[a].append(b)
            neighbours[b].append(a)
    while True:
        found: dict[str, Point] = {}
        for name, others in neighbours.items():
            if name in places.points:
                continue
            points = {other: places.points[other] for other in others if other in places.points}
            if len(points) > 1:
                found[name] = _middle(list(points.values()), places.plane)
        if not found:
            return
        places.points.update(found)
        places.placed.extend(found)


def great_circle_km(a: Point, b: Point) -> float:
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


def _pair(file: str, node: Part, first: tuple[str, ...], second: tuple[str, ...]) -> Point | None:
    both: list[float] = []
    for names in (first, second):
        found = given(node, names)
        if found is None:
            return None
        both.append(number(file, f"{node.where}, {found[0]}", found[1]))
    return both[0], both[1]


def _point(file: str, node: Part) -> Point | None:
    """Find ``x`` and ``y`` of a node, or of its ``graphics``, as GML has them."""
    graphics = node.attributes.get("graphics")
    inner = Part(node.where, node.ends, graphics) if isinstance(graphics, dict) else node
    return _pair(file, inner, ("x",), ("y",))


def _middle(points: list[Point], plane: bool) -> Point:
    """Return the mean of some points; on the globe that of the directions they lie in."""
    if plane:
        x, y = (math.fsum(values) / len(points) for values in zip(*points, strict=True))
        return x, y
    x = y = z = 0.0
    for latitude, longitude in points:
        lat, lon = math.radians(latitude), math.radians(longitude)
        x += math.cos(lat) * math.cos(lon)
        y += math.cos(lat) * math.sin(lon)
        z += math.sin(lat)
    return math.degrees(math.atan2(z, math.hypot(x, y))), math.degrees(math.atan2(y, x))
