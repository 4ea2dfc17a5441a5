"""Fabrics of many equal paths, flows spread over them, and patterns of flows between all nodes."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from scipy import stats

import burstlab as bl
from burstlab.errors import ScenarioError

#: Fibres and links so short that a transfer is done in well under a millisecond.
NEAR: dict[str, Any] = {"link_delay": "500 ns", "wavelengths": 8}
ACCESS = {"rate": "10 Gb/s", "delay": "1 us"}
EDGE = {"assembly": "timer", "timer": "20 us"}


def fabric(network: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return a scenario on a network, with short times."""
    run = {"duration": "50 ms", "seed": 3, **more.pop("run", {})}
    return {"network": {**NEAR, **network}, "access": ACCESS, "edge": EDGE, **more, "run": run}


def rows(result: bl.Result, table: str = "connections") -> list[dict[str, Any]]:
    return result.table(table).to_pylist()


def test_flows_over_equal_ways_are_split_as_a_binomial():
    """Each flow has one path, drawn evenly: the counts over four spines are multinomial."""
    flows, spines = 400, 4
    network = {"topology": "leaf-spine", "leaves": 2, "spines": spines, "route_choice": "ecmp"}
    one = {"from": "leaf1", "to": "leaf2", "bytes": "1 KB"}
    result = bl.run(
        fabric(
            network,
            edge={"assembly": "none"},
            flows=[{**one, "count": flows, "stagger": "50 us"}],
            run={"duration": "100 ms"},
        ),
        trace=("bursts", "packets"),
    )
    hops = [row for row in rows(result, "bursts_hops") if row["hop"] == 0]
    fibre = {row["burst"]: (row["from"], row["to"]) for row in hops}
    taken: dict[tuple[int, str], set[Any]] = {}
    for packet in rows(result, "packets"):
        taken.setdefault((packet["flow"], packet["kind"]), set()).add(fibre[packet["burst"]])
    assert all(len(routes) == 1 for routes in taken.values()), "a flow changed its path"
    there = Counter(next(iter(routes)) for (_, kind), routes in taken.items() if kind == "data")
    back = Counter(next(iter(routes)) for (_, kind), routes in taken.items() if kind != "data")
    for counts in (there, back):
        assert len(counts) == spines and sum(counts.values()) == flows
        assert stats.chisquare(list(counts.values())).pvalue > 1e-3
    # The ACKs of a flow have a path of their own, drawn independently.
    spine = {key: next(iter(routes))[1] for key, routes in taken.items()}
    same = sum(spine[flow, "data"] == spine[flow, "ack"] for flow in range(flows))
    assert stats.binomtest(same, flows, 1 / spines).pvalue > 1e-3


def test_a_queue_is_of_one_way_alone():
    """With ECMP packets of flows that part are in different bursts."""
    network = {"topology": "leaf-spine", "leaves": 2, "spines": 2, "route_choice": "ecmp"}
    flows = [{"from": "leaf1", "to": "leaf2", "bytes": "50 KB", "count": 16}]
    result = bl.run(fabric(network, flows=flows), trace=("bursts", "packets"))
    hops = {row["burst"]: row["to"] for row in rows(result, "bursts_hops") if row["hop"] == 0}
    of_flow: dict[int, set[int]] = {}
    for packet in rows(result, "packets"):
        if packet["kind"] == "data":
            of_flow.setdefault(packet["flow"], set()).add(hops[packet["burst"]])
    assert all(len(spines) == 1 for spines in of_flow.values())
    assert len({next(iter(spines)) for spines in of_flow.values()}) == 2
    carried: dict[int, set[int]] = {}
    for packet in rows(result, "packets"):
        carried.setdefault(packet["burst"], set()).add(packet["flow"])
    shared = [len(of_burst) for of_burst in carried.values()]
    assert max(shared) > 1, "no burst carries several flows"


@pytest.mark.parametrize("queues", ["destination", "flow"])
@pytest.mark.parametrize("topology", ["fat-tree", "torus"])
def test_ways_are_spread_whatever_the_queues(topology: str, queues: str):
    network = {"topology": topology, "route_choice": "ecmp"}
    found = bl.run(
        fabric(
            network,
            edge={**EDGE, "queues": queues},
            demand=[{"pattern": "permutation", "every": "2 ms", "size": {"mean": "20 KB"}}],
            run={"duration": "20 ms", "drain": "1 s"},
        )
    )
    [demand] = found.replications[0].summary.get("demand", [])
    assert demand["started"] == demand["completed"] > 0
    used = [link for link in found.network[0]["links"] if link["all"]["carried"]]
    assert len(used) > len(found.network[0]["links"]) / 2


def test_permutations_have_each_node_once_at_both_ends():
    scenario = fabric(
        {"topology": "fat-tree"},
        demand=[{"pattern": "permutation", "every": "1 ms", "size": {"mean": "5 KB"}}],
        run={"duration": "10.5 ms", "drain": "1 s"},
    )
    connections = rows(bl.run(scenario))
    rounds: dict[int, list[dict[str, Any]]] = {}
    for row in connections:
        rounds.setdefault(row["started_ps"] // 10**9, []).append(row)
    assert sorted(rounds) == list(range(11))
    for one in rounds.values():
        assert len({row["from"] for row in one}) == len({row["to"] for row in one}) == 8
        assert all(row["from"] != row["to"] for row in one)
    assert len({tuple(sorted((r["from"], r["to"]) for r in one)) for one in rounds.values()}) > 1


def test_an_incast_ends_at_one_node_and_begins_at_others():
    one = {"pattern": "incast", "senders": 5, "every": "2 ms", "size": {"mean": "10 KB"}}
    base = {"demand": [one], "run": {"duration": "9 ms", "drain": "1 s"}}
    network = {"topology": "leaf-spine", "leaves": 8}
    drawn = rows(bl.run(fabric(network, **base)))
    rounds: dict[int, list[dict[str, Any]]] = {}
    for row in drawn:
        rounds.setdefault(row["started_ps"] // (2 * 10**9), []).append(row)
    assert sorted(rounds) == list(range(5))
    for found in rounds.values():
        assert len(found) == len({row["from"] for row in found}) == 5
        assert len({row["to"] for row in found}) == 1
    assert len({found[0]["to"] for found in rounds.values()}) > 1
    # With a receiver that is given, more senders than there are nodes, and one round.
    given = {**one, "receiver": "leaf3", "senders": 18}
    del given["every"]
    alone = rows(bl.run(fabric(network, **{**base, "demand": [given]})))
    assert {row["to"] for row in alone} == {"leaf3"}
    assert sorted(Counter(row["from"] for row in alone).values()) == [2, 2, 2, 3, 3, 3, 3]
    # Each begins at a time of its own, within that of a segment of 1000 B at 100 Mb/s or more.
    starts = [row["started_ps"] for row in alone]
    assert len(set(starts)) == len(starts) and max(starts) < 80 * 10**6


def test_patterns_are_the_same_cut_or_whole(tmp_path):
    scenario = fabric(
        {"topology": "torus", "route_choice": "ecmp"},
        demand=[
            {"pattern": "incast", "senders": 3, "every": "1 ms", "size": {"mean": "8 KB"}},
            {"pattern": "permutation", "every": "1500 us", "size": {"mean": "8 KB"}},
        ],
        run={"duration": "10 ms"},
    )
    again = bl.run(scenario, replications=2, jobs=1)
    assert bl.run(scenario, replications=2, jobs=2).fingerprint == again.fingerprint


@pytest.mark.parametrize(
    ("change", "path", "says"),
    [
        ({"topology": "fat-tree", "pods": 5}, "network.pods", "even"),
        ({"topology": "fat-tree", "pods": 0}, "network.pods", "even"),
        ({"topology": "fat-tree", "pods": 30}, "network.pods", "28"),
        ({"topology": "fat-tree", "nodes": 4}, "network.nodes", "does not use it"),
        ({"topology": "ring", "pods": 4}, "network.pods", "fat-tree"),
        ({"topology": "leaf-spine", "leaves": 1}, "network.leaves", "2 leaves"),
        ({"topology": "leaf-spine", "spines": 0}, "network.spines", "1 spine"),
        ({"topology": "leaf-spine", "leaves": 9999, "spines": 2}, "network.spines", "10000"),
        ({"topology": "leaf-spine", "leaves": 4294967295}, "network.leaves", "10000"),
        ({"topology": "torus", "dimensions": []}, "network.dimensions", "1 to 6"),
        ({"topology": "torus", "dimensions": [1, 4]}, "network.dimensions", "at least 2"),
        ({"topology": "torus", "dimensions": [2] * 7}, "network.dimensions", "1 to 6"),
        ({"topology": "torus", "dimensions": [4294967295] * 6}, "network.dimensions", "1000"),
    ],
)
def test_sizes_out_of_range_are_refused(change, path, says):
    with pytest.raises(ScenarioError) as refused:
        bl.resolve(fabric(change, bursts=[{"length": {"mean": "1 KB"}}]))
    assert refused.value.path == path
    assert says in str(refused.value)


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"pattern": "incast"}, "demand[0].senders"),
        ({"pattern": "incast", "senders": 0}, "demand[0].senders"),
        ({"pattern": "incast", "senders": 2, "receiver": "core1"}, "demand[0].receiver"),
        ({"pattern": "incast", "senders": 2, "every": "0 s"}, "demand[0].every"),
        ({"pattern": "incast", "senders": 2, "flows_per_second": 3}, "demand[0].flows_per_second"),
        ({"pattern": "permutation", "senders": 2}, "demand[0].senders"),
        ({"pattern": "permutation", "per": "pair"}, "demand[0].per"),
        ({"pattern": "permutation", "destination": "gravity"}, "demand[0].destination"),
        ({"every": "1 ms"}, "demand[0].every"),
        ({"trace": [["0 s", "tor1-1", "tor1-2", "1 KB"]]}, "demand[0].trace"),
    ],
)
def test_fields_of_another_pattern_are_refused(change, path):
    scenario = fabric({"topology": "fat-tree"}, demand=[{"size": {"mean": "1 KB"}, **change}])
    with pytest.raises(ScenarioError) as refused:
        bl.resolve(scenario)
    assert refused.value.path == path


def test_slots_have_one_route():
    ops = {"network": {"topology": "leaf-spine", "route_choice": "ecmp"}, "ops": {}}
    with pytest.raises(ScenarioError, match="one route"):
        bl.resolve({**ops, "flows": [{"from": "leaf1", "to": "leaf2"}]})
