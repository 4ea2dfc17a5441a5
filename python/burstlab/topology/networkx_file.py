"""GraphML and GML, read by NetworkX."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

from burstlab.topology.parts import Part, Parts, decoded, refuse


def graphml(file: str, content: bytes) -> Parts:
    """Read GraphML, such as that of the Internet Topology Zoo."""
    import networkx

    found = _read(file, "GraphML", lambda: networkx.read_graphml(io.BytesIO(content)))
    # NetworkX makes a node of any name in an edge; this is an error, reported with the edge.
    listed = {
        one.get("id") for one in ElementTree.fromstring(content).iter() if one.tag.endswith("node")
    }
    return Parts([node for node in found.nodes if node.ends[0] in listed], found.links)


def gml(file: str, content: bytes) -> Parts:
    """Read GML; two edges that join the same nodes are parallel, whether it says so or not."""
    import networkx

    text = decoded(file, content)

    def parse() -> Any:
        return networkx.parse_gml(_with_parallels(text).splitlines(), label="id")

    return _read(file, "GML", parse)


def _with_parallels(text: str) -> str:
    """Say in a graph of GML that edges may be parallel, where it does not."""
    if re.search(r"^\s*multigraph\s+\d", text, re.MULTILINE):
        return text
    return re.sub(r"\bgraph\s*\[", "graph [\n  multigraph 1", text, count=1)


def _read(file: str, kind: str, parse: Callable[[], Any]) -> Parts:
    try:
        graph = parse()
        nodes = [
            Part(f"node {identifier}", (str(identifier),), dict(attributes))
            for identifier, attributes in graph.nodes(data=True)
        ]
        one_way = graph.is_directed()
        links = [
            Part(f"edge {a} to {b}", (str(a), str(b)), dict(attributes), one_way)
            for a, b, attributes in graph.edges(data=True)
        ]
    except Exception as error:
        # On text that is no graph the parsers raise whatever they stumble over.
        said = " ".join(str(error).split()) or type(error).__name__
        problem = f"not valid {kind}: {said[:200]}"
        fix = f"write it anew, for example with networkx.write_{kind.lower()}"
        raise refuse(file, "", "", problem, fix) from None
    return Parts(nodes, links)
