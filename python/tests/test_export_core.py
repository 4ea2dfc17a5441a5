"""Captures at core nodes, and the flow monitor, against the tables that they are made of."""

from __future__ import annotations

from itertools import pairwise
from xml.etree import ElementTree

import numpy as np
import pytest

import burstlab as bl
from burstlab.export.capture import ACK, DATA, sights

PATH = {
    "network": {"core_nodes": 2, "link_delay": "10 ms"},
    "edge": {"assembly": "timer", "timer": "10 ms"},
    "tcp": {"variant": "sack", "window": 40},
    "loss": {},
    "run": {"duration": "5 s", "seed": 2},
}

MESH = {
    "network": {"topology": "ring", "nodes": 5, "wavelengths": 2, "link_rate": "1 Gb/s"},
    "edge": {"assembly": "timer", "timer": "1 ms"},
    "flows": [{"from": "1", "to": "3", "count": 2}, {"from": "2", "to": "4", "count": 2}],
    "run": {"duration": "1 s", "seed": 2},
}


def traced(scenario, **more):
    return bl.run(scenario, trace=("packets", "bursts"), **more)


def test_on_a_path_packets_pass_core_nodes_a_fibre_apart():
    scenario = {**PATH, "loss": {"data": {"process": "bernoulli", "probability": 0.05}}}
    result = traced(scenario)
    places = {at: {s.row: s for s in sights(result, at)} for at in ("ingress", "node:1", "node:2")}
    data = [row for row, one in places["node:2"].items() if one.kind == DATA]
    acks = [row for row, one in places["node:2"].items() if one.kind == ACK]
    assert len(data) > 100 and len(acks) > 50
    gap = 10 * 10**9
    for row in data:
        first = places["ingress"][row].time_ps
        assert places["node:1"][row].time_ps - first == gap
        assert places["node:2"][row].time_ps - first == 2 * gap
    for row in acks:
        assert places["node:1"][row].time_ps - places["node:2"][row].time_ps == gap
    times = [one.time_ps for one in sights(result, "node:1")]
    assert times == sorted(times)
    lost = result.packets.where(kind="data", fate="lost")
    assert len(lost) > 0


def test_in_a_mesh_a_packet_passes_where_its_burst_does():
    result = traced(MESH)
    hops = result.table("bursts_hops")
    for node in (1, 2, 3):
        here = (hops["from"] == node) & np.isfinite(hops["wavelength"].astype(float))
        left = dict(
            zip(hops["burst"][here].tolist(), hops["departed_ps"][here].tolist(), strict=True)
        )
        seen = list(sights(result, f"node:{node}"))
        packets = result.packets
        wanted = np.isin(packets["burst"], list(left)).sum()
        assert len(seen) == wanted > 0
        assert all(left[one.burst] == one.time_ps for one in seen)


def test_a_node_that_is_not_there_is_refused(burstlab, tmp_path):
    traced(PATH | {"loss": {}}, out=tmp_path / "run")
    answer = burstlab("export", tmp_path / "run", "--at", "node:3")
    assert answer.status == 2
    assert (
        "node:3: there is no such node" in answer.err and "fix: node: and one of 1, 2" in answer.err
    )
    assert burstlab("export", tmp_path / "run", "--at", "node:2").status == 0
    assert (tmp_path / "run/node-2.pcapng").stat().st_size > 10_000
    slow = {**PATH, "loss": {}, "core": {"forwarding": "store-and-forward"}}
    with pytest.raises(bl.InputError, match="wait for their end at each node"):
        list(sights(traced(slow), "node:1"))


def test_the_flow_monitor_is_what_the_table_says(tmp_path):
    result = traced({**PATH, "loss": {"data": {"process": "bernoulli", "probability": 0.05}}})
    result.export("flowmon", tmp_path / "flowmon.xml")
    data, acks = ElementTree.parse(tmp_path / "flowmon.xml").getroot().iterfind("FlowStats/Flow")
    for kind, shown in (("data", data), ("ack", acks)):
        rows = [row for row in result.packets.to_pylist() if row["kind"] == kind]
        there = sorted(
            (row for row in rows if row["delivered_ps"] is not None),
            key=lambda row: row["delivered_ps"],
        )
        delays = [row["delivered_ps"] - row["sent_ps"] for row in there]
        jitter = sum(abs(b - a) for a, b in pairwise(delays))
        lost = [row for row in rows if row["fate"] == "lost"]
        assert int(shown.attrib["txPackets"]) == len(rows)
        assert int(shown.attrib["rxBytes"]) == sum(row["size_bytes"] for row in there)
        assert ns(shown.attrib["delaySum"]) == pytest.approx(sum(delays) / 1e3)
        assert ns(shown.attrib["jitterSum"]) == pytest.approx(jitter / 1e3)
        assert ns(shown.attrib["lastDelay"]) == pytest.approx(delays[-1] / 1e3)
        assert ns(shown.attrib["timeFirstTxPacket"]) == pytest.approx(rows[0]["sent_ps"] / 1e3)
        assert sum(int(one.attrib["number"]) for one in shown.iter("packetsDropped")) == len(lost)
    assert int(data.attrib["lostPackets"]) > 0


def ns(text: str) -> float:
    assert text.startswith("+") and text.endswith("ns")
    return float(text[1:-2])
