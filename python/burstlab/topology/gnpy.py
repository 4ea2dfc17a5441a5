"""Networks of GNPy, the planning tool of the Telecom Infra Project: elements and connections.

ROADMs and transceivers are nodes. A chain of fibres, amplifiers and fused points from one node to
the next is one link, as long as its fibres together. A transceiver that no fibre separates from a
ROADM is not a node of its own: it says that hosts attach to the ROADM.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import Any

from burstlab.topology.parts import Part, Parts, number, refuse

_NODES = ("Roadm", "Transceiver")
_KM = {"km": 1.0, "m": 1e-3}


def network(file: str, elements: list[dict[str, Any]], connections: object) -> Parts:
    """Read the elements and connections of a network.

    Parameters
    ----------
    file
        The file, for errors.
    elements
        Tables with ``uid``, ``type`` and, of a fibre, ``params.length``.
    connections
        A list of tables with ``from_node`` and ``to_node``.
    """
    uids: dict[str, dict[str, Any]] = {}
    for index, element in enumerate(elements):
        uid = element.get("uid")
        if not isinstance(uid, str) or uid in uids:
            problem = "no name of its own" if isinstance(uid, str) else "no name"
            raise refuse(file, f"elements[{index}].uid", uid, problem, "write a text of its own")
        uids[uid] = element
    behind = _connected(file, uids, connections)
    kinds = {uid: str(element.get("type")) for uid, element in uids.items()}
    hosts, merged = _hosts(kinds, behind)
    nodes = [uid for uid, kind in kinds.items() if kind in _NODES and uid not in merged]
    roles = {
        uid: "both" if uid in hosts or kinds[uid] == "Transceiver" else "core" for uid in nodes
    }
    if "both" not in roles.values():
        roles = dict.fromkeys(nodes, "both")  # no transceiver says where hosts are
    links: list[Part] = []
    for uid in nodes:
        for to, km in _chains(file, uid, uids, kinds, behind):
            if to not in merged and to != uid:
                links.append(Part(f"{uid} to {to}", (uid, to), {"length_km": km}, one_way=True))
    parts = [Part(uid, (uid,), {**_location(uids[uid]), "role": roles[uid]}) for uid in nodes]
    return Parts(parts, links)


def _connected(
    file: str, uids: dict[str, dict[str, Any]], connections: object
) -> dict[str, list[str]]:
    if not isinstance(connections, list):
        raise refuse(file, "connections", "", "it is no list", 'write "connections": [...]')
    behind: dict[str, list[str]] = {uid: [] for uid in uids}
    for index, entry in enumerate(connections):
        ends: list[str] = []
        for key in ("from_node", "to_node"):
            found = entry.get(key) if isinstance(entry, dict) else None
            if not isinstance(found, str) or found not in uids:
                place, fix = f"connections[{index}].{key}", "write the uid of an element"
                raise refuse(file, place, found, "there is no such element", fix)
            ends.append(found)
        behind[ends[0]].append(ends[1])
    return behind


def _hosts(kinds: dict[str, str], behind: dict[str, list[str]]) -> tuple[set[str], set[str]]:
    """Return the ROADMs that have transceivers of their own, and these transceivers."""
    hosts: set[str] = set()
    merged: set[str] = set()
    for a, others in behind.items():
        for b in others:
            if {kinds[a], kinds[b]} == {"Roadm", "Transceiver"}:
                roadm, transceiver = (a, b) if kinds[a] == "Roadm" else (b, a)
                hosts.add(roadm)
                merged.add(transceiver)
    return hosts, merged


def _chains(
    file: str,
    first: str,
    uids: dict[str, dict[str, Any]],
    kinds: dict[str, str],
    behind: dict[str, list[str]],
) -> list[tuple[str, float]]:
    """Follow each fibre from a node to the next, along every branch; return the lengths in km."""
    found: list[tuple[str, float]] = []
    for start in behind[first]:
        ahead, passed = [(0.0, start)], set[str]()
        while ahead:
            km, at = heappop(ahead)
            if at in passed:
                continue
            passed.add(at)
            if kinds[at] in _NODES:
                found.append((at, round(km, 6)))
                continue
            km += _km(file, at, uids[at])
            for one in behind[at]:
                heappush(ahead, (km, one))
    return found


def _km(file: str, uid: str, element: dict[str, Any]) -> float:
    params = element.get("params")
    if not isinstance(params, dict) or "length" not in params:
        return 0.0  # an amplifier or a fused point
    unit = str(params.get("length_units", "km"))
    if unit not in _KM:
        raise refuse(file, f"{uid}, length_units", unit, "no unit of length", "write km or m")
    return number(file, f"{uid}, length", params["length"]) * _KM[unit]


def _location(element: dict[str, Any]) -> dict[str, Any]:
    metadata = element.get("metadata")
    location = metadata.get("location") if isinstance(metadata, dict) else None
    if not isinstance(location, dict):
        return {}
    return {key: location[key] for key in ("latitude", "longitude") if key in location}
