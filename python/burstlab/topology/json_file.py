"""Node-link JSON, as NetworkX and D3 write it."""

from __future__ import annotations

import json
from typing import Any

from burstlab.topology.parts import Part, Parts, decoded, refuse


def read(file: str, content: bytes) -> Parts:
    """Read node-link JSON: ``nodes`` with ``id``, ``edges`` or ``links`` with two ends."""
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
    nodes = [
        Part(f"nodes[{index}]", (_identifier(file, f"nodes[{index}]", entry, "id"),), entry)
        for index, entry in enumerate(_entries(file, document, "nodes"))
    ]
    key = "links" if "links" in document else "edges"
    one_way = bool(document.get("directed", False))
    links: list[Part] = []
    for index, entry in enumerate(_entries(file, document, key)):
        where = f"{key}[{index}]"
        ends = tuple(_identifier(file, where, entry, end) for end in ("source", "target"))
        links.append(Part(where, ends, entry, one_way))
    return Parts(nodes, links)


def _entries(file: str, document: dict[str, Any], key: str) -> list[dict[str, Any]]:
    found = document.get(key)
    if not isinstance(found, list):
        problem = "it is missing" if key not in document else "it is no list"
        raise refuse(file, key, "", problem, f'write "{key}": [...]')
    for index, entry in enumerate(found):
        if not isinstance(entry, dict):
            raise refuse(file, f"{key}[{index}]", entry, "it is no table", "write {...}")
    return found


def _identifier(file: str, where: str, entry: dict[str, Any], key: str) -> str:
    found = entry.get(key)
    if isinstance(found, (str, int)) and not isinstance(found, bool) and found != "":
        return str(found)
    problem = "it is missing" if found is None else "it names no node"
    raise refuse(file, f"{where}.{key}", found, problem, "write a text or a whole number")
