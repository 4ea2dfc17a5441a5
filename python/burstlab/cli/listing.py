"""``burstlab list``: papers, figures, topologies and schemes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from burstlab.cli.flags import Json


def list_(*, json_: Json = False) -> int:
    """List the papers, figures and tables that can be reproduced, topologies and schemes.

    Parameters
    ----------
    json_
        Print one JSON document and nothing else.
    """
    from burstlab.documents.schema import scenario_schema
    from burstlab.reproduce.paper import papers

    targets = [
        {"target": f"{paper.key}/{target}", "title": paper.title(target)}
        for paper in papers()
        for target in paper.targets
    ]
    schema = scenario_schema()
    choices = dict(_choices(schema))
    topologies = [
        {"topology": each["const"], "title": " ".join(each.get("description", "").split())}
        for each in schema["$defs"]["Topology"]["oneOf"]
    ]
    if json_:
        print(json.dumps({"targets": targets, "topologies": topologies, "choices": choices}))
        return 0
    for paper in papers():
        about = paper.about
        print(f"{about['authors']}: {about['title']} ({about['venue']})")
        for target in paper.targets:
            name = f"{paper.key}/{target}"
            print(f"  {name:18} {paper.title(target)}")
    print("\ntopologies (network.topology)")
    for each in topologies:
        print(f"  {each['topology']:18} {each['title']}")
    print("\nchoices in a scenario")
    width = max(map(len, choices))
    for name, values in choices.items():
        print(f"  {name:{width}} {', '.join(values)}")
    return 0


def _choices(schema: Mapping[str, Any]) -> Iterator[tuple[str, list[str]]]:
    """Find the fields of the schema that are a choice among names."""
    definitions = schema.get("$defs", {})
    tables = {each["$ref"] for each in schema["properties"].values() if "$ref" in each}
    seen: set[str] = set()

    def walk(node: Any, path: str) -> Iterator[tuple[str, list[str]]]:
        if "." in path and node.get("$ref") in tables:
            return  # such as the TCP of a single flow, with the choices of [tcp]
        node = _target(node, definitions)
        values = _values(node)
        if values and path and path not in seen:
            seen.add(path)
            yield path, values
        for name, child in node.get("properties", {}).items():
            if path.count(".") < 3:
                yield from walk(child, f"{path}.{name}" if path else name)
        inside = [child for key in ("oneOf", "anyOf", "allOf") for child in node.get(key, ())]
        if isinstance(items := node.get("items"), dict):
            inside.append(items)  # a list of choices, or of tables such as [[demand]]
        for child in inside:
            if not _values(child):
                yield from walk(child, path)

    yield from walk(schema, "")


def _target(node: Mapping[str, Any], definitions: Mapping[str, Any]) -> Mapping[str, Any]:
    reference = node.get("$ref", "")
    return definitions.get(reference.rsplit("/", 1)[-1], {}) if reference else node


def _values(node: Mapping[str, Any]) -> list[str]:
    if "enum" in node:
        return [str(value) for value in node["enum"] if value is not None]
    values = [child["const"] for child in node.get("oneOf", ()) if "const" in child]
    return [str(value) for value in values]
