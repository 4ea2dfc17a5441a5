"""Marks of queues: who asks for them, where they are made, what they do."""

import numpy as np
import pytest

import burstlab
from burstlab.errors import ScenarioError
from burstlab.loading import Document

KB = 1000


def scenario(**tables):
    """Write a connection of Linux over 10 Mb/s and some 12 ms of delay in each direction."""
    base: Document = {
        "network": {"topology": "path", "core_nodes": 1, "link_rate": "10 Gb/s"},
        "access": {"rate": "10 Mb/s", "delay": "1 ms"},
        "edge": {"assembly": "none"},
        "tcp": {"profile": "linux", "receive_buffer": "16 MB", "receive_buffer_max": "16 MB"},
        "run": {"duration": "6 s"},
    }
    for table, fields in tables.items():
        base[table] = {**base.get(table, {}), **fields}
    return base


def waiting(result):
    """Milliseconds that packets waited on the path to the edge, beyond the first second."""
    packets = result.packets.to_arrow().to_pydict()
    pairs = zip(packets["kind"], packets["sent_ps"], packets["ingress_ps"], strict=True)
    # 1500 bytes take 1.2 ms, and the link 1 ms.
    waits = [(there - sent) / 1e9 - 2.2 for kind, sent, there in pairs if kind == "data" and there]
    return np.array(waits[len(waits) // 3 :])


@pytest.mark.parametrize(
    ("tcp", "path", "value"),
    [
        ({"ecn": True}, "tcp.ecn", "true"),
        ({"window_law": "dctcp"}, "tcp.window_law", "dctcp"),
        ({"window_law": "dctcp", "ecn": False}, "tcp.ecn", "false"),
        ({"window_law": "bbr", "detector": "law"}, "tcp.detector", "law"),
        ({"receive_buffer": "10 MB", "receive_buffer_max": "1 MB"}, "tcp.receive_buffer", "10 MB"),
        ({"window_clamp": "1 KB"}, "tcp.window_clamp", "1 KB"),
    ],
)
def test_what_cannot_be_is_refused(tcp, path, value):
    with pytest.raises(ScenarioError) as error:
        burstlab.run(scenario(tcp=tcp))
    assert error.value.path == path
    assert error.value.value == value
    assert error.value.fix


@pytest.mark.parametrize(
    ("tables", "path"),
    [
        ({"access": {"marking": {"rule": "threshold"}}}, "access.marking.above"),
        ({"access": {"marking": {"above": "3 KB", "chance": 0.1}}}, "access.marking.chance"),
        (
            {"access": {"marking": {"rule": "red", "least": "9 KB", "most": "9 KB"}}},
            "access.marking.least",
        ),
        ({"edge": {"marking": {"above": "3 KB"}}}, "edge.marking"),
    ],
)
def test_marking_is_read_whole(tables, path):
    with pytest.raises(ScenarioError) as error:
        burstlab.run(scenario(**tables))
    assert error.value.path == path


def test_dctcp_keeps_the_queue_near_the_threshold():
    tables = {"access": {"marking": {"above": "30 KB"}}, "tcp": {"window_law": "dctcp"}}
    result = burstlab.run(scenario(**tables), trace=("packets",))
    # 30 KB take 24 ms.
    waits = waiting(result)
    assert 12 < np.median(waits) < 36
    assert np.quantile(waits, 0.99) < 48


def test_cubic_with_ecn_loses_nothing_where_it_would_fill_the_queue():
    bounded = {"queue_bytes": "60 KB", "receiver": {"queue_bytes": "1 GB"}}
    marked = {**bounded, "marking": {"above": "30 KB"}}
    with_ecn = burstlab.run(scenario(access=marked, tcp={"ecn": True}))
    without = burstlab.run(scenario(access=marked))
    assert without.replications[0].summary["counters"]["packets_lost"] > 0
    assert with_ecn.replications[0].summary["counters"]["packets_lost"] == 0


def test_red_marks_at_random_and_the_same_each_time():
    red = {"rule": "red", "least": "15 KB", "most": "45 KB", "chance": 0.1, "weight": 0.01}
    document = scenario(access={"marking": red}, tcp={"ecn": True})
    first, again = (burstlab.run(document, trace=("packets",)) for _ in range(2))
    assert first.fingerprint == again.fingerprint
    assert np.median(waiting(first)) < 45


def crossing(result):
    """Milliseconds from edge to edge of packets in the later two thirds."""
    packets = result.packets.to_arrow().to_pydict()
    pairs = zip(packets["kind"], packets["ingress_ps"], packets["egress_ps"], strict=True)
    times = [(out - into) / 1e9 for kind, into, out in pairs if kind == "data" and into and out]
    return np.array(times[len(times) // 3 :])


def network(**tables):
    """Write two connections over one fibre of 10 Mb/s, behind edge nodes 10 ms from its end."""
    names = ("in", "other", "core", "out")
    base = scenario(access={"rate": "100 Mb/s"}, **tables)
    base["network"] = {
        "topology": "custom",
        "link_rate": "10 Mb/s",
        "node": [{"name": name, "role": "core" if name == "core" else "edge"} for name in names],
        "link": [
            {"from": "in", "to": "core", "delay": "5 ms"},
            {"from": "other", "to": "core", "delay": "5 ms"},
            {"from": "core", "to": "out", "delay": "5 ms"},
        ],
    }
    return base


def ingress_port(law, **edge):
    """Write a mesh whose one wavelength is the bottleneck, at the port of the edge node."""
    tables = {"edge": {"assembly": "timer", "timer": "1 ms", **edge}, "tcp": law}
    document = network(**tables, signalling={"guard": "100 us"})
    document["network"]["wavelengths"] = 1
    document["flows"] = [{"from": "in", "to": "out"}]
    return document


def slots(law, **ops):
    """Write a network with slots whose bottleneck is where two connections meet."""
    edges = ["in", "other", "out"]
    document = network(
        tcp={**law, "segment_size": "576 B"}, ops={"unsmoothed": edges, "buffer": 5000, **ops}
    )
    del document["edge"]
    document["flows"] = [{"from": name, "to": "out"} for name in edges[:2]]
    return document


MARKS = {"marking": {"above": "30 KB"}}


@pytest.mark.parametrize("place", [ingress_port, slots])
def test_marks_of_the_core_keep_its_queue_near_the_threshold(place):
    # 30 KB take 24 ms, and the fibres 10 ms.
    marked = crossing(burstlab.run(place({"window_law": "dctcp"}, **MARKS), trace=("packets",)))
    assert 20 < np.median(marked) < 45
    assert np.quantile(marked, 0.99) < 70
    # Without marks the queue only grows.
    unmarked = crossing(burstlab.run(place({"window_law": "aimd"}), trace=("packets",)))
    assert np.median(unmarked) > 4 * np.median(marked)


@pytest.mark.parametrize("place", [ingress_port, slots])
def test_connections_without_ecn_are_not_marked_in_the_core(place):
    law = {"window_law": "aimd"}
    with_marks, without = burstlab.run(place(law, **MARKS)), burstlab.run(place(law))
    assert with_marks.fingerprint == without.fingerprint


@pytest.mark.parametrize("place", [ingress_port, slots])
def test_red_of_the_core_marks_the_same_each_time(place):
    red = {"rule": "red", "least": "15 KB", "most": "45 KB", "chance": 0.1, "weight": 0.01}
    document = place({"window_law": "aimd", "ecn": True}, marking=red)
    first, again = (burstlab.run(document, trace=("packets",)) for _ in range(2))
    assert first.fingerprint == again.fingerprint
    assert np.median(crossing(first)) < 55


def test_slots_that_mark_lose_nothing_where_the_buffer_would_overflow():
    law = {"window_law": "aimd"}
    losses = []
    for tcp in (law, {**law, "ecn": True}):
        result = burstlab.run(slots(tcp, buffer=400, **MARKS))
        losses.append(result.replications[0].summary["counters"]["packets_lost"])
    assert losses[0] > 0
    assert losses[1] == 0
