"""How nodes and links of a file become the tables of a scenario.

Files of other programs are read as far as they make sense. Each thing that was assumed, left out
or put together is said in a warning that names the nodes.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from burstlab.topology import places
from burstlab.topology.parts import Part, Parts, given, number, refuse, whole

#: How the lengths of links are found that a file does not give.
LENGTHS = ("placed", "hop", "given")

_ROLES = ("edge", "core", "both")
_LENGTHS = ("length_km", "length", "distance", "dist", "km")

#: Length of a link where nothing in a file says how long any of its links is.
_HOP_KM = 100.0

#: Names that a warning lists.
_NAMED = 8


@dataclass(slots=True)
class Fibres:
    """The connection of two nodes: parallel fibres of equal properties.

    Parameters
    ----------
    ends
        Identifiers of the two nodes.
    one_way
        Whether they lead from the first to the second only.
    links
        The links of the file; there is at least one.
    """

    ends: tuple[str, str]
    one_way: bool
    links: list[Part] = field(default_factory=list)


def tables(
    file: str, parts: Parts, lengths: str = "placed"
) -> tuple[dict[str, list[dict[str, Any]]], list[str]]:
    """Turn nodes and links into the tables ``node`` and ``link`` of a scenario.

    Returns
    -------
    tuple
        The tables, and warnings: what was assumed, left out or put together.
    """
    if not parts.nodes:
        raise refuse(file, "", "", "there are no nodes", "list at least two, and links")
    return _Joining(file, parts, names(file, parts.nodes), lengths).tables()


def positions(file: str, parts: Parts) -> dict[str, tuple[float, float]]:
    """Return latitude and longitude of the nodes that have both, by name."""
    called = names(file, parts.nodes)
    found = places.find(file, parts)
    places.check(file, parts, found)
    if found.plane:
        fix = "give the nodes latitude and longitude"
        raise refuse(file, "", "", "its coordinates are in a plane, not on the globe", fix)
    return {called[identifier]: point for identifier, point in found.points.items()}


def names(file: str, nodes: list[Part]) -> dict[str, str]:
    """Name nodes by what labels them where each has a label of its own, else by identifier.

    A label is ``label``, or else ``name``.
    """
    seen: dict[str, str] = {}
    for node in nodes:
        (identifier,) = node.ends
        if identifier in seen:
            problem = f"{seen[identifier]} has the same name"
            raise refuse(file, node.where, identifier, problem, "rename one of the two")
        seen[identifier] = node.where
    for key in ("label", "name"):
        labels = [node.attributes.get(key) for node in nodes]
        texts = [str(label).strip() if isinstance(label, (str, int)) else "" for label in labels]
        if all(texts) and len(set(texts)) == len(texts):
            return dict(zip(seen, texts, strict=True))
    return {identifier: identifier for identifier in seen}


def listed(found: Iterable[str]) -> str:
    """List names for a person, the first few of many."""
    some = list(found)
    more = len(some) - _NAMED
    shown = ", ".join(some[:_NAMED])
    return f"{shown} and {more} more" if more > 0 else shown


@dataclass(slots=True)
class _Joining:
    file: str
    parts: Parts
    names: Mapping[str, str]
    lengths: str
    warnings: list[str] = field(default_factory=list)

    def tables(self) -> tuple[dict[str, list[dict[str, Any]]], list[str]]:
        fibres = self.joined()
        kept = self.connected(fibres)
        fibres = [one for one in fibres if one.ends[0] in kept]
        nodes = [node for node in self.parts.nodes if node.ends[0] in kept]
        extents = self.extents(fibres)
        links = [self.link(one, extent) for one, extent in zip(fibres, extents, strict=True)]
        self.returns(nodes, fibres)
        named = [{"name": self.names[node.ends[0]], **self.role(node)} for node in nodes]
        return {"node": named, "link": links}, self.warnings

    def warn(self, text: str) -> None:
        self.warnings.append(f"{self.file}: {text}")

    def name(self, ends: tuple[str, ...]) -> str:
        return " to ".join(self.names[end] for end in ends)

    def joined(self) -> list[Fibres]:
        """Put parallel links together, and the two directions of a pair of directed links."""
        found: dict[tuple[str, str], list[Fibres]] = {}
        loops: list[str] = []
        for link in self.parts.links:
            a, b = link.ends
            for end in (a, b):
                if end not in self.names:
                    fix = "name nodes that the file lists"
                    raise refuse(self.file, link.where, end, "there is no such node", fix)
            if a == b:
                if self.parts.exact:
                    problem = "it leads to where it begins"
                    raise refuse(self.file, link.where, self.names[a], problem, "remove it")
                loops.append(self.names[a])
                continue
            self.join(found.setdefault((min(a, b), max(a, b)), []), link)
        if loops:
            self.warn(f"links from a node to itself are left out: {listed(loops)}")
        groups = [fibres for both in found.values() for fibres in self.paired(both)]
        many = [self.name(one.ends) for one in groups if len(one.links) > 1]
        if many:
            self.warn(f"parallel links are fibres of one link: {listed(many)}")
        return groups

    def join(self, groups: list[Fibres], link: Part) -> None:
        """Add `link` to the fibres between its ends."""
        a, b = link.ends
        one_way = self.one_way(link)
        for one in groups:
            same = one.one_way == one_way and (not one_way or one.ends == (a, b))
            apart = one_way and one.one_way and not same
            if apart:
                continue
            if same and not self.parts.exact:
                one.links.append(link)
                return
            raise refuse(
                self.file,
                link.where,
                self.name((a, b)),
                f"{one.links[0].where} joins the two already",
                "remove one; a thicker link has more wavelengths or fibres",
            )
        groups.append(Fibres((a, b), one_way, [link]))

    def paired(self, groups: list[Fibres]) -> list[Fibres]:
        """Make one link of two groups that lead in opposite directions and are alike."""
        if len(groups) < 2 or self.parts.exact:
            return groups
        there, back = groups
        if len(there.links) != len(back.links) or self.likeness(there) != self.likeness(back):
            return groups
        return [Fibres(there.ends, False, there.links)]

    def likeness(self, fibres: Fibres) -> list[tuple[str, ...]]:
        """Return what says how long and how thick fibres are, in no particular order."""
        keys = (("delay",), _LENGTHS, ("wavelengths",), ("fibres",))
        return sorted(
            tuple(str((given(link, names) or ("", ""))[1]) for names in keys)
            for link in fibres.links
        )

    def connected(self, fibres: list[Fibres]) -> set[str]:
        """Return the nodes of the largest part of the network that hangs together."""
        everything = {node.ends[0] for node in self.parts.nodes}
        if self.parts.exact:
            return everything  # the engine says what is not connected
        neighbours: dict[str, list[str]] = {node.ends[0]: [] for node in self.parts.nodes}
        for one in fibres:
            for a, b in (one.ends, one.ends[::-1]):
                neighbours[a].append(b)
        largest: set[str] = set()
        left = dict.fromkeys(neighbours)  # in the order of the file
        while left:
            reached = _reached(next(iter(left)), neighbours)
            left = dict.fromkeys(name for name in left if name not in reached)
            if len(reached) > len(largest):
                largest = reached
        out = [self.names[name] for name in neighbours if name not in largest]
        if out:
            self.warn(
                f"nodes that are not connected to the largest part are left out: {listed(out)}"
            )
        return largest

    def returns(self, nodes: list[Part], fibres: list[Fibres]) -> None:
        """Warn of a network in which a node cannot reach another node."""
        if not any(one.one_way for one in fibres):
            return
        forth: dict[str, list[str]] = {node.ends[0]: [] for node in nodes}
        back: dict[str, list[str]] = {node.ends[0]: [] for node in nodes}
        for one in fibres:
            pairs = [one.ends] if one.one_way else [one.ends, one.ends[::-1]]
            for a, b in pairs:
                forth[a].append(b)
                back[b].append(a)
        first = nodes[0].ends[0]
        for links in (forth, back):
            reached = _reached(first, links)
            apart = [(first, name) for name in links if name not in reached]
            if apart:
                a, b = apart[0] if links is forth else apart[0][::-1]
                self.warn(
                    f"links have one direction, and no path leads from {self.names[a]} to "
                    f"{self.names[b]}; write an undirected graph if they have both directions"
                )
                return

    def extents(self, fibres: list[Fibres]) -> list[dict[str, Any]]:
        """Find the length of each link: its own, by coordinates, or that of the others."""
        own = [self.own_extent(one) for one in fibres]
        missing = [one for one, extent in zip(fibres, own, strict=True) if extent is None]
        if not missing:
            return [extent or {} for extent in own]
        found = places.find(self.file, self.parts)
        places.check(self.file, self.parts, found)
        if self.lengths == "placed":
            places.fill(found, self.parts)
            if found.placed:
                which = listed(self.names[name] for name in found.placed)
                self.warn(f"nodes without coordinates are placed between their neighbours: {which}")
        km = [
            None if extent else found.km(*one.ends) for one, extent in zip(fibres, own, strict=True)
        ]
        if found.plane and any(value is not None for value in km):
            self.warn("the coordinates are in a plane; one unit is taken for 1 km")
        unknown = [
            one
            for one, extent, value in zip(fibres, own, km, strict=True)
            if extent is None and value is None
        ]
        hop = self.hop(unknown, own, km)
        return [
            extent or {"length_km": round(hop if value is None else value, 3)}
            for extent, value in zip(own, km, strict=True)
        ]

    def hop(
        self,
        unknown: list[Fibres],
        own: list[dict[str, Any] | None],
        km: list[float | None],
    ) -> float:
        """Return the length of a link that neither the file nor coordinates give."""
        if not unknown:
            return _HOP_KM
        if self.parts.exact or self.lengths == "given":
            link = unknown[0].links[0]
            problem = "it has no length, and its ends have no coordinates"
            fix = "give it length_km or delay, or both ends latitude and longitude"
            if not self.parts.exact:
                fix += '; or write lengths = "placed" or "hop"'
            raise refuse(self.file, link.where, "", problem, fix)
        known = [extent["length_km"] for extent in own if extent and "length_km" in extent]
        known += [value for value in km if value]
        hop, why = _HOP_KM, "as the file gives no length at all"
        if known:
            hop, why = statistics.median(known), "the median of the others"
        which = listed(self.name(one.ends) for one in unknown)
        self.warn(f"links whose length is not known are {hop:.4g} km long, {why}: {which}")
        return hop

    def own_extent(self, fibres: Fibres) -> dict[str, Any] | None:
        """Return the delay or the length that links themselves give; of several the shortest."""
        found = [self.extent(link) for link in fibres.links]
        said = [extent for extent in found if extent is not None]
        if not said or all(extent == said[0] for extent in said):
            return said[0] if said else None
        if any("length_km" not in extent for extent in said):
            link = fibres.links[1]
            problem, fix = "parallel links have delays that differ", "give them one delay"
            raise refuse(self.file, link.where, self.name(fibres.ends), problem, fix)
        self.warn(
            f"the shortest of parallel links of different length is used: {self.name(fibres.ends)}"
        )
        return min(said, key=lambda extent: extent["length_km"])

    def extent(self, link: Part) -> dict[str, Any] | None:
        delay, length = given(link, ("delay",)), given(link, _LENGTHS)
        if delay and length:
            problem, place = f"{length[0]} is given too", f"{link.where}, {delay[0]}"
            raise refuse(self.file, place, delay[1], problem, "keep one of the two")
        if delay:
            if isinstance(delay[1], str):
                return {"delay": delay[1]}  # the engine reads the quantity
            place, fix = f"{link.where}, {delay[0]}", "write a text with a unit, such as '5 ms'"
            raise refuse(self.file, place, delay[1], "it has no unit", fix)
        if not length:
            return None
        place = f"{link.where}, {length[0]}"
        km = number(self.file, place, length[1])
        if km < 0:
            raise refuse(self.file, place, length[1], "it is negative", "write km of at least 0")
        return {"length_km": km}

    def link(self, fibres: Fibres, extent: dict[str, Any]) -> dict[str, Any]:
        a, b = fibres.ends
        entry: dict[str, Any] = {"from": self.names[a], "to": self.names[b], **extent}
        thick = {whole(self.file, link, ("wavelengths",)) for link in fibres.links}
        if len(thick) > 1:
            link, problem = fibres.links[1], "parallel links have wavelengths that differ"
            fix = "give them one number of wavelengths"
            raise refuse(self.file, link.where, self.name(fibres.ends), problem, fix)
        if wavelengths := thick.pop():
            entry["wavelengths"] = wavelengths
        count = sum(whole(self.file, link, ("fibres",)) or 1 for link in fibres.links)
        if count > 1:
            entry["fibres"] = count
        return entry | ({"one_way": True} if fibres.one_way else {})

    def role(self, node: Part) -> dict[str, str]:
        found = given(node, ("role",))
        if found is None:
            return {}
        role = str(found[1]).strip().lower()
        if role in _ROLES:
            return {"role": role}
        if not self.parts.exact:
            return {}  # a word of another program's
        place, fix = f"{node.where}, {found[0]}", f"use one of {', '.join(_ROLES)}"
        raise refuse(self.file, place, found[1], "no such role", fix)

    def one_way(self, link: Part) -> bool:
        found = given(link, ("one_way",))
        if found is None:
            return link.one_way
        words = {"true": True, "1": True, "false": False, "0": False}
        word = str(found[1]).strip().lower()
        if word not in words:
            place, problem = f"{link.where}, {found[0]}", "it is neither true nor false"
            raise refuse(self.file, place, found[1], problem, "write true or false")
        return words[word]


def _reached(first: str, neighbours: Mapping[str, list[str]]) -> set[str]:
    reached, ahead = {first}, [first]
    while ahead:
        for name in neighbours[ahead.pop()]:
            if name not in reached:
                reached.add(name)
                ahead.append(name)
    return reached
