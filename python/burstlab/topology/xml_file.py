"""XML of SNDlib: a network with its demands, or a matrix of demands alone.

Matrices of Abilene and GEANT as SNDlib gives them are of the second kind. Those of TOTEM, from
which GEANT's come, have ``src`` and ``dst`` in place of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree import ElementTree

from burstlab.topology.parts import Part, Parts, number, refuse


def read(file: str, content: bytes) -> Parts:
    """Read the nodes and links of a network."""
    root = _root(file, content)
    every = [one for one in root.iter() if _tag(one) in ("nodes", "node", "link")]
    plane = any(one.get("coordinatesType") == "pixel" for one in every)
    nodes = [_node(file, one) for one in every if _tag(one) == "node"]
    links = [_link(file, one) for one in every if _tag(one) == "link"]
    if not nodes:
        fix = "give a file of SNDlib with <networkStructure>"
        raise refuse(file, "", _tag(root), "this XML holds no nodes", fix)
    return Parts(nodes, links, plane=plane)


def demands(file: str, content: bytes) -> list[tuple[str, str, float]]:
    """Read from where to where how much is asked for."""
    root = _root(file, content)
    found: list[tuple[str, str, float]] = []
    for one in root.iter():
        if _tag(one) == "demand":
            where = one.get("id", f"demand {len(found)}")
            ends = [_text(file, one, where, name) for name in ("source", "target", "demandValue")]
            found.append((ends[0], ends[1], number(file, where, ends[2])))
        elif _tag(one) == "src":
            source = one.get("id", "")
            for to in one:
                where = f"src {source}, dst {to.get('id', '')}"
                found.append(
                    (source, to.get("id", ""), number(file, where, (to.text or "").strip()))
                )
    if not found:
        fix = "give a file of SNDlib or TOTEM that has some"
        raise refuse(file, "", _tag(root), "this XML holds no demands", fix)
    return found


def _root(file: str, content: bytes) -> ElementTree.Element:
    if b"<!ENTITY" in content:
        raise refuse(file, "", "", "it defines entities", "write the text that they stand for")
    try:
        return ElementTree.fromstring(content)
    except (ElementTree.ParseError, ValueError, LookupError) as error:
        raise refuse(file, "", "", f"not valid XML: {error}", "correct it there") from None


def _tag(element: ElementTree.Element) -> str:
    """Return the name of an element without its namespace."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def _below(element: ElementTree.Element, name: str) -> Iterator[str]:
    return ((one.text or "").strip() for one in element.iter() if _tag(one) == name)


def _text(file: str, element: ElementTree.Element, where: str, name: str) -> str:
    found = next(_below(element, name), "")
    if not found:
        raise refuse(file, where, "", f"<{name}> is missing", f"write <{name}>...</{name}>")
    return found


def _node(file: str, element: ElementTree.Element) -> Part:
    name = element.get("id", "")
    if not name:
        raise refuse(file, "node", "", "it has no id", 'write <node id="...">')
    found = {
        "longitude": next(_below(element, "x"), ""),
        "latitude": next(_below(element, "y"), ""),
    }
    return Part(f"node {name}", (name,), {key: value for key, value in found.items() if value})


def _link(file: str, element: ElementTree.Element) -> Part:
    where = f"link {element.get('id', '')}".strip()
    ends = [_text(file, element, where, name) for name in ("source", "target")]
    return Part(where, (ends[0], ends[1]))
