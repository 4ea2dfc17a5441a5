"""Small meshes in which single bursts show a rule: routes in turn, refusals, cuts."""

from __future__ import annotations

from typing import Any

import pytest

import burstlab as bl

US = 10**6


def mesh(fibres: list[str], edges: str, **tables: Any) -> dict[str, Any]:
    """A network of nodes with one letter; "ab" is a fibre of 1 ms from a to b and back."""
    names = sorted(set("".join(fibres)))
    return {
        "network": {
            "topology": "custom",
            "link_rate": "1 Gb/s",
            "node": [{"name": one, "role": "edge" if one in edges else "both"} for one in names],
            "link": [{"from": one, "to": other, "delay": "1 ms"} for one, other in fibres],
        },
        "flows": [],
        "run": {"duration": "20 ms"},
        **tables,
    }


def packet(start: str, end: str, at_us: int) -> dict[str, Any]:
    """One packet in the run, which is a burst of 100 us."""
    return {
        "from": start,
        "to": end,
        "start": f"{at_us} us",
        "packet_size": "12500 B",
        "rate": "100 Kb/s",
        "phase": "0 s",
    }


def traced(scenario: dict[str, Any]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the bursts in the order of their numbers, and their fibres."""
    result = bl.run(scenario, trace=["bursts"])
    bursts = result.table("bursts").to_pylist()
    return sorted(bursts, key=lambda row: row["burst"]), result.table("bursts_hops").to_pylist()


def test_each_pair_of_nodes_takes_its_routes_in_turn():
    """Two pairs that send by turns: numbered together, each would keep to one of its routes."""
    ring = {"topology": "ring", "nodes": 4, "wavelengths": 2, "link_delay": "100 us"}
    source = {"packet_size": "1250 B", "rate": "10 Mb/s", "phase": "0 s"}
    _, fibres = traced(
        {
            "network": {**ring, "routes_per_pair": 2, "route_choice": "round-robin"},
            "edge": {"port": "shared"},
            "flows": [],
            "traffic": [
                {"from": "1", "to": "3", **source},
                {"from": "2", "to": "4", "start": "500 us", **source},
            ],
            "run": {"duration": "20 ms"},
        }
    )
    for node, nexts in ((1, [2, 4]), (2, [1, 3])):
        first = [row for row in fibres if row["from"] == node and row["hop"] == 0]
        took = [row["to"] for row in sorted(first, key=lambda row: row["burst"])]
        assert len(took) >= 18
        first_turn = nexts.index(took[0])
        assert took == [nexts[turn % 2] for turn in range(first_turn, first_turn + len(took))]


def test_a_two_way_request_that_waits_too_long_to_set_the_switch_is_refused():
    """Six requests at once at one processor of 10 us; the switch of the last is set too late."""
    bursts, fibres = traced(
        mesh(
            ["ab"],
            "ab",
            edge={"port": "shared"},
            signalling={
                "protocol": "two-way",
                "requests": 1,
                "processors": 1,
                "processing": "10 us",
                "switching": "50 us",
                "guard": "80 us",
            },
            traffic=[packet("a", "b", 0) for _ in range(6)],
            network={
                "topology": "custom",
                "link_rate": "1 Gb/s",
                "wavelengths": 8,
                "node": [{"name": "a"}, {"name": "b"}],
                "link": [{"from": "a", "to": "b", "delay": "1 ms"}],
            },
        )
    )
    # The offset is 10 us + 80 us: the burst leaves at 90 us, the switch is set from 40 us on, and
    # the fourth header is done at 40 us.
    assert [row["cause"] for row in bursts] == ["none"] * 4 + ["blocked"] * 2
    assert all(row["departed_ps"] == 90 * US for row in fibres)


def test_a_blocked_burst_names_the_fibre_that_refused_it():
    scenario = mesh(
        ["ac", "bc", "cd"],
        "abd",
        signalling={"protocol": "two-way", "requests": 1},
        traffic=[packet("a", "d", 0), packet("b", "d", 50)],
    )
    (_, blocked), fibres = traced(scenario)
    # Nothing ever left its ingress, where it is lost; node 3 is `c`.
    assert (blocked["cause"], blocked["node"]) == ("blocked", 2)
    (row,) = [row for row in fibres if row["burst"] == 2]
    assert (row["hop"], row["from"], row["to"], row["wavelength"]) == (1, 3, 4, None)
    leaves = (50 + 21 + 2000) * US
    assert row["departed_ps"] == leaves + 1000 * US


CUTS = {"contention": ["segmentation"]}


#: Bursts of 100 us, which carry no packets.
OTHERS = {
    "stop": "5 ms",
    "erlangs": 0.8,
    "length": {"distribution": "fixed", "mean": "12500 B"},
}


def test_a_burst_is_whole_on_the_fibres_before_the_cut():
    scenario = mesh(
        ["ac", "bc", "cd"],
        "abd",
        core=CUTS,
        bursts=[{"from": one, "to": "d", **OTHERS} for one in "ab"],
        run={"duration": "40 ms", "seed": 3},
    )
    bursts, fibres = traced(scenario)
    lengths = {(row["burst"], row["hop"]): row["end_ps"] - row["departed_ps"] for row in fibres}
    cut = [one["burst"] for one in bursts if lengths[one["burst"], 1] < 100 * US]
    assert cut
    assert all(lengths[number, 0] == 100 * US for number in cut)
    for row in bursts:
        left = lengths[row["burst"], 1]
        assert row["arrived_ps"] == row["departed_ps"] + 2000 * US + left


def test_a_burst_that_is_cut_before_its_first_bit_is_lost():
    """Two that come within the time of the switch: the first has nothing left."""
    scenario = mesh(
        ["ac", "bc", "cd"],
        "abd",
        core=CUTS,
        signalling={"switching": "40 us", "guard": "50 us"},
        bursts=[{"from": one, "to": "d", **OTHERS} for one in "ab"],
        run={"duration": "40 ms", "seed": 1},
    )
    bursts, fibres = traced(scenario)
    left = {row["burst"]: row["end_ps"] - row["departed_ps"] for row in fibres if row["hop"] == 1}
    nothing = [row for row in bursts if left[row["burst"]] == 0]
    assert nothing
    assert {row["cause"] for row in nothing} == {"cut"}
    assert all(row["fate"] == "delivered" for row in bursts if left[row["burst"]] > 0)


@pytest.mark.parametrize("trailer", [True, False])
def test_a_header_behind_a_queue_tells_of_a_cut_of_its_burst(trailer):
    """The second burst of `c` waits for the first, and is cut before its header leaves.

    It would take the fibre from `c` at 2125 us for 100 us. At 2050 us a header comes from `a`, for
    a burst that begins at 2165 us. At `d` a burst of `f` finds the fibre to `e` free from there on.
    """
    result = bl.run(
        mesh(
            ["ac", "cd", "de", "fd"],
            "aef",
            core={**CUTS, "segmentation": {"trailer": trailer}},
            edge={"queues": "class", "class_offsets": ["0 s", "100 us"]},
            signalling={"guard": "5 us"},
            traffic=[
                packet("c", "e", 2000),
                packet("c", "e", 2000),
                {**packet("a", "d", 1040), "class": 1},
                packet("f", "e", 2150),
            ],
        )
    )
    (network,) = result.network
    assert network["all"]["resolutions"]["contentions"] == 1
    assert network["all"]["resolutions"]["segmented"] == 1


def test_a_packet_is_lost_at_the_node_that_cut_it():
    """Only at `c` do background bursts meet those of the flow, whose headers are further on."""
    length = {"distribution": "fixed", "mean": "9 KB"}
    scenario = mesh(
        ["ac", "bc", "cg", "gd"],
        "abd",
        edge={"assembly": "hybrid", "timer": "1 ms", "size": "30 KB"},
        core=CUTS,
        signalling={"offset": "3 ms"},
        bursts=[{"from": "b", "to": "g", "erlangs": 0.5, "length": length}],
        flows=[{"from": "a", "to": "d"}],
        run={"duration": "6 s", "seed": 1},
    )
    result = bl.run(scenario, trace=["ledger"])
    lost = result.table("ledger_losses").to_pylist()
    assert len([row for row in lost if row["cause"] == "cut"]) > 10
    # `c` is the third node.
    assert {row["node"] for row in lost if row["cause"] == "cut"} == {3}
