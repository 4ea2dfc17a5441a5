"""Core nodes that differ: by themselves, by name, and by their place in an order."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

import burstlab as bl

BASE: dict[str, Any] = {
    "network": {"topology": "nsfnet", "wavelengths": 3},
    "core": {"conversion": "none"},
    "edge": {"port": "shared"},
    "bursts": [{"erlangs": 0.04, "length": {"distribution": "exponential", "mean": "125 KB"}}],
    "run": {"duration": "20 ms", "seed": 3},
}
OWN = {"conversion": "full", "scheduler": "min-ev", "converters": {"number": 2}}


def numbers(core: dict[str, Any], **network: Any) -> Any:
    """Return the numbers of a run."""
    scenario = {**BASE, "network": {**BASE["network"], **network}, "core": core}
    (found,) = bl.run(scenario).network
    return found


def grouped(**selection: Any) -> Any:
    return numbers({**BASE["core"], "group": [{**selection, "set": OWN}]})


def test_a_group_of_all_nodes_is_the_general_core():
    names = [str(node) for node in range(1, 15)]
    assert grouped(nodes=names) == numbers({**BASE["core"], **OWN})
    assert grouped(first=14) == numbers({**BASE["core"], **OWN})
    assert grouped(first=0) == numbers(BASE["core"])
    assert grouped(first=14) != grouped(first=0)


def test_a_node_may_have_a_core_of_its_own():
    nodes = [{"name": name} for name in "abcd"]
    links = [
        {"from": one, "to": other, "delay": "1 ms"} for one, other in ("ab", "bc", "cd", "da", "ac")
    ]
    custom = {"topology": "custom", "link": links}
    core = {**BASE["core"], "group": [{"nodes": ["b", "c"], "set": OWN}]}
    by_name = numbers(core, **custom, node=nodes)
    own = [node | ({"core": OWN} if node["name"] in "bc" else {}) for node in nodes]
    assert numbers(BASE["core"], **custom, node=own) == by_name
    # The node itself comes before its groups.
    core = {**BASE["core"], "group": [{"nodes": ["b", "c"], "set": {"conversion": "full"}}]}
    other = [node | ({"core": OWN} if node["name"] in "bc" else {}) for node in nodes]
    assert numbers(core, **custom, node=other) == by_name
    limited = [node["name"] for node in by_name["nodes"] if "converters" in node]
    assert limited == ["b", "c"]


@pytest.mark.parametrize("order", ["degree", "routes"])
def test_the_first_nodes_by_an_order_are_the_largest(order):
    result = bl.run({**BASE, "run": {"duration": "100 ms", "seed": 3}}, trace=("bursts",))
    names = [node["name"] for node in result.network[0]["nodes"]]
    if order == "degree":
        size = Counter(link["from"] for link in result.network[0]["links"])
    else:
        # Each pair of nodes sends bursts, and some of them come as far as the last node.
        targets = {row["burst"]: (row["from"], row["to"]) for row in result.bursts.to_pylist()}
        passed = {
            (*targets[row["burst"]], row["from"])
            for row in result.table("bursts_hops").to_pylist()
            if row["hop"]
        }
        size = Counter(names[node - 1] for _, _, node in passed)
    ranked = sorted(names, key=lambda name: (-size[name], names.index(name)))
    for first in (1, 4, 9):
        assert grouped(first=first, by=order) == grouped(nodes=ranked[:first]), ranked


def test_the_last_group_that_sets_a_field_holds():
    both = [
        {"nodes": ["5", "6"], "set": OWN},
        {"nodes": ["6"], "set": {"conversion": "none"}},
    ]
    found = numbers({**BASE["core"], "group": both})
    limited = [node["name"] for node in found["nodes"] if "converters" in node]
    assert limited == ["5"], "without conversion a node needs no converters"
