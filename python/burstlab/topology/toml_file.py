"""Our own format: the tables ``[[node]]`` and ``[[link]]`` of a scenario's network, in TOML."""

from __future__ import annotations

import tomllib
from typing import Any

from burstlab.errors import unknown
from burstlab.topology.parts import Part, Parts, decoded, refuse

_NODE = ("name", "role", "latitude", "longitude")
_LINK = ("from", "to", "length_km", "delay", "wavelengths", "fibres", "one_way")


def read(file: str, content: bytes) -> Parts:
    """Read a topology in TOML."""
    text = decoded(file, content)
    try:
        document = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise refuse(file, "", "", f"not valid TOML: {error}", "correct it there") from None
    for key in document:
        if key not in ("node", "link"):
            raise refuse(file, key, "", "there is no such table", "write [[node]] and [[link]]")
    nodes = [
        Part(where, (_name(file, where, entry, "name"),), entry)
        for where, entry in _entries(file, document, "node", _NODE)
    ]
    links = [
        Part(where, tuple(_name(file, where, entry, end) for end in ("from", "to")), entry)
        for where, entry in _entries(file, document, "link", _LINK)
    ]
    return Parts(nodes, links, exact=True)


def _entries(
    file: str, document: dict[str, Any], key: str, known: tuple[str, ...]
) -> list[tuple[str, dict[str, Any]]]:
    found = document.get(key, [])
    if not isinstance(found, list) or not all(isinstance(entry, dict) for entry in found):
        raise refuse(file, key, "", "it is no list of tables", f"write [[{key}]]")
    entries = [(f"{key}[{index}]", entry) for index, entry in enumerate(found)]
    for where, entry in entries:
        for name in entry:
            if name not in known:
                hint = str(unknown("field", name, known)).rpartition("fix: ")[2]
                raise refuse(file, f"{where}.{name}", "", "there is no such field", hint)
    return entries


def _name(file: str, where: str, entry: dict[str, Any], key: str) -> str:
    found = entry.get(key, "")
    if isinstance(found, str) and found:
        return found
    problem = "it is no text" if found else "it is missing"
    raise refuse(file, f"{where}.{key}", found, problem, f'write {key} = "..."')
