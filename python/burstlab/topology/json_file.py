"""JSON: node-link documents, as NetworkX and D3 write them, and networks of GNPy."""

from __future__ import annotations

import json
from typing import Any

from burstlab.topology import gnpy
from burstlab.topology.parts import Part, Parts, decoded, refuse


def read(file: str, content: bytes) -> Parts:
    """Read a network of GNPy, or node-link JSON.

    Node-link JSON has ``nodes`` with ``id``, and ``edges`` or ``links`` with two ends. Where nodes
    have a ``name`` in place of an ``id``, as in documents for D3, an end may be the name of a node
    or its place in the list, from 0.
    """
    text = decoded(file, content)
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise refuse(file, where, "", f"not valid JSON: {error.msg}", "correct it there") from None
    except (RecursionError, ValueError) as error:
        raise refuse(file, "", "", f"not valid JSON: {error}", "write it anew") from None
    if not isinstance(document, dict):
        raise refuse(file, "", "", "it is no table", 'write {"nodes": [...], "links": [...]}')
    inner = document.get("gnpy-api:api", document)
    wrapped = inner.get("gnpy-network-topology:topology") if isinstance(inner, dict) else None
    if isinstance(wrapped, dict):
        document = wrapped  # as YANG has it
    if "elements" in document and "connections" in document:
        return gnpy.network(file, entries(file, document, "elements"), document["connections"])
    _refuse_requests(file, document)
    return _node_link(file, document)


#: The lists of requests that GNPy plans paths for, and of the paths that it found.
_REQUESTS = (
    "path-request",
    "response",
    "gnpy-path-computation:services",
    "gnpy-path-computation:responses",
)


def _refuse_requests(file: str, document: dict[str, Any]) -> None:
    """Refuse documents of GNPy that have no network."""
    for key in _REQUESTS:
        if key in document and "nodes" not in document:
            problem = "it is a document of GNPy with requests or responses, and no network"
            fix = "name the file of the network, with elements and connections"
            raise refuse(file, key, "", problem, fix)


def _node_link(file: str, document: dict[str, Any]) -> Parts:
    listed = entries(file, document, "nodes")
    named = bool(listed) and all("id" not in entry and "name" in entry for entry in listed)
    nodes: list[Part] = []
    for index, entry in enumerate(listed):
        where = f"nodes[{index}]"
        identifier = identify(file, where, entry, "name" if named else "id")
        nodes.append(Part(where, (identifier,), entry))
    key = "links" if "links" in document else "edges"
    one_way = bool(document.get("directed", False))
    links: list[Part] = []
    for index, entry in enumerate(entries(file, document, key)):
        where = f"{key}[{index}]"
        found = [identify(file, where, entry, end) for end in ("source", "target")]
        if named:
            found = [
                _placed(entry[end], nodes) or name for end, name in zip(_ENDS, found, strict=True)
            ]
        links.append(Part(where, (found[0], found[1]), entry, one_way))
    return Parts(nodes, links)


_ENDS = ("source", "target")


def _placed(end: object, nodes: list[Part]) -> str | None:
    """Return the identifier of the node at a place in the list."""
    if not isinstance(end, int) or isinstance(end, bool) or not 0 <= end < len(nodes):
        return None
    return nodes[end].ends[0]


def entries(file: str, document: dict[str, Any], key: str) -> list[dict[str, Any]]:
    """Return the list of tables below a key."""
    found = document.get(key)
    if not isinstance(found, list):
        problem = "it is missing" if key not in document else "it is no list"
        raise refuse(file, key, "", problem, f'write "{key}": [...]')
    for index, entry in enumerate(found):
        if not isinstance(entry, dict):
            raise refuse(file, f"{key}[{index}]", entry, "it is no table", "write {...}")
    return found


def identify(file: str, where: str, entry: dict[str, Any], key: str) -> str:
    """Return a text or a whole number that names a node."""
    found = entry.get(key)
    if isinstance(found, (str, int)) and not isinstance(found, bool) and found != "":
        return str(found)
    problem = "it is missing" if found is None else "it names no node"
    raise refuse(file, f"{where}.{key}", found, problem, "write a text or a whole number")
