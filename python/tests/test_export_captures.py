"""Captures: the writer, the headers, what is seen where, and what tshark and tcptrace say of it."""

from __future__ import annotations

from collections import Counter

import captures
import pytest
from hypothesis import given
from hypothesis import strategies as st

import burstlab as bl
from burstlab.export import headers
from burstlab.export.capture import PLACES, sights
from burstlab.export.packets import Capture
from burstlab.export.pcapng import Writer

TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=60)
PACKETS = st.lists(
    st.tuples(st.integers(0, 2**63), st.binary(min_size=1, max_size=90), st.integers(0, 2000), TEXT)
)


@given(packets=PACKETS, snap=st.integers(20, 96), name=TEXT, speed=st.integers(0, 2**40))
def test_what_is_written_is_read(tmp_path_factory, packets, snap, name, speed):
    path = tmp_path_factory.mktemp("capture") / "x.pcapng"
    with path.open("wb") as file:
        writer = Writer(file, snap)
        writer.section("a program", "a comment")
        assert writer.interface(name, "a link", speed) == 0
        writer.name(10 << 24 | 7, "a-host")
        for time_ns, data, more, comment in packets:
            writer.packet(0, time_ns, data, len(data) + more, comment)
    found = captures.read(path)
    assert (found.section[1], found.section[4]) == (b"a comment", b"a program")
    (interface,) = found.interfaces
    assert interface[2].decode() == name
    assert interface[8] == speed.to_bytes(8, "little")
    assert interface[9] == b"\x09"
    assert found.names == {"10.0.0.7": "a-host"}
    assert [(p.time_ns, p.data, p.length, p.comment) for p in found.packets] == [
        (time_ns, data[:snap], len(data) + more, comment)
        for time_ns, data, more, comment in packets
    ]


WORD, NUMBER = st.integers(0, 0xFFFF), st.integers(0, 0xFFFFFFFF)
PAIR = st.tuples(NUMBER, NUMBER)


@given(
    ends=PAIR,
    ports=st.tuples(WORD, WORD),
    numbers=PAIR,
    flags=st.integers(0, 31),
    window=WORD,
    blocks=st.lists(PAIR, max_size=3),
    payload=st.integers(0, 3000),
    row=WORD,
)
def test_checksums_are_those_of_the_bytes(
    ends, ports, numbers, flags, window, blocks, payload, row
):
    option = headers.sack_option(blocks)
    packet, length = headers.tcp(ends, ports, numbers, flags, window, option, payload, row)
    assert length == len(packet) + payload == 40 + (4 + 8 * len(blocks)) * bool(blocks) + payload
    captures.check(packet, length)
    packet, length = headers.udp(ends, ports, payload, row)
    captures.check(packet, length)
    assert packet[26:28] != b"\0\0", "0 says that there is none"


def test_sums_of_zero_and_of_all_ones():
    # Words whose sum is 0 modulo 65535: the checksum is 0, that of UDP written as 65535.
    packet, length = headers.udp((0, 0xFFFF - 17 - 16), (0, 0), 0)
    assert packet[26:28] == b"\xff\xff"
    captures.check(packet, length)


@pytest.fixture(scope="module")
def lossy():
    """Flows that lose bursts, some with a short last segment and some with a scaled window."""
    flows = [{"tcp": {"variant": v}} for v in ("tahoe", "reno", "new-reno", "sack", "vegas")]
    flows += [{"tcp": {"window": 200}}, {"bytes": "100500 B"}, {"start": "1 s"}]
    scenario = {
        "network": {"core_nodes": 3, "link_delay": "5 ms"},
        "access": {"rate": "5 Mb/s", "delay": "1 ms"},
        "edge": {
            "assembly": "timer",
            "timer": "5 ms",
            "ack": {"assembly": "timer", "timer": "1 ms"},
        },
        "tcp": {"window": 60},
        "loss": {
            "data": {"process": "bernoulli", "probability": 0.02},
            "ack": {"process": "bernoulli", "probability": 0.01},
        },
        "flows": flows,
        "run": {"duration": "6 s", "seed": 4},
    }
    return bl.run(scenario, trace=("packets", "bursts", "cwnd", "ledger"))


@pytest.fixture(scope="module")
def mesh():
    """Bursts that meet, connections, and UDP."""
    return bl.run(
        {
            "network": {"topology": "ring", "nodes": 4, "wavelengths": 1, "link_rate": "100 Mb/s"},
            "signalling": {"guard": "20 us"},
            "access": {"rate": "20 Mb/s", "delay": "1 ms"},
            "edge": {"assembly": "timer", "timer": "2 ms"},
            "flows": [{"from": "1", "to": "3"}, {"from": "2", "to": "4"}],
            "demand": [
                {"flows_per_second": 10, "size": {"distribution": "fixed", "mean": "30 KB"}}
            ],
            "traffic": [{"rate": "5 Mb/s", "from": "1", "to": "3", "packet_size": "500 B"}],
            "run": {"duration": "2 s", "seed": 2},
        },
        trace=("packets", "bursts", "cwnd", "ledger"),
    )


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("which", ["lossy", "mesh"])
def test_a_place_sees_what_passes_it(request, tmp_path, place, which):
    result = request.getfixturevalue(which)
    path = tmp_path / "x.pcapng"
    count = Capture(result, place).write(path)
    found = captures.read(path)
    assert count == len(found.packets) > 1000
    data, ack = PLACES[place]
    packets = result.packets.to_arrow().to_pylist()
    column = {"data": data, "ack": ack, "udp": data if place.endswith("gress") else "none"}
    passing = [
        (row[column[row["kind"]]] // 1000, number & 0xFFFF)
        for number, row in enumerate(packets)
        if row.get(column[row["kind"]]) is not None
    ]
    seen = [(p.time_ns, int.from_bytes(p.data[4:6], "big")) for p in found.packets]
    assert sorted(seen) == sorted(passing)
    assert [time for time, _ in seen] == sorted(time for time, _ in seen)
    for packet in found.packets:
        captures.check(packet.data, packet.length)
    protocols = Counter(packet.data[9] for packet in found.packets)
    assert (protocols[17] > 0) == (which == "mesh" and place.endswith("gress"))


def test_a_capture_has_the_numbers_of_the_trace(lossy, tmp_path):
    path = tmp_path / "x.pcapng"
    Capture(lossy, "sender", flow=5).write(path)
    found = captures.read(path)
    assert list(found.names.values()) == ["sender-5.ingress", "receiver-5.egress"]
    assert "Made up: addresses" in found.section[1].decode()
    rows = {sight.row & 0xFFFF: sight for sight in sights(lossy, "sender", flow=5)}
    blocks = 0
    for packet in found.packets:
        sight = rows[int.from_bytes(packet.data[4:6], "big")]
        sequence, acknowledged = (
            int.from_bytes(packet.data[at : at + 4], "big") for at in (24, 28)
        )
        if sight.kind == 0:
            assert sequence == (0 if sight.seq == 0 else 1 + 960 * (sight.seq - 1))
            assert packet.length == (48 if sight.seq == 0 else 1000) + 4 * (sight.seq == 0)
        else:
            assert acknowledged == 1 + 960 * sight.seq
            if not sight.opens:
                # 200 segments of 960 bytes, in units of 4.
                assert int.from_bytes(packet.data[34:36], "big") == 200 * 960 // 4
            for place, (left, right) in enumerate(sight.sack):
                at = 44 + 8 * place
                edges = [int.from_bytes(packet.data[k : k + 4], "big") for k in (at, at + 4)]
                assert edges == [1 + 960 * (left - 1), 1 + 960 * (right - 1)]
                blocks += 1
    assert blocks > 10
    assert blocks == len(lossy.table("packets_sack").where(flow=5)) - _blocks_lost(lossy, 5)
    lost = [packet.comment for packet in found.packets if "lost" in packet.comment]
    assert lost and all("injected at node" in comment for comment in lost)


def _blocks_lost(result, flow):
    seen = {sight.row for sight in sights(result, "sender", flow=flow)}
    rows = result.table("packets_sack").where(flow=flow)["packet"]
    return sum(row not in seen for row in rows.tolist())


def test_the_last_segment_may_be_short(lossy, tmp_path):
    path = tmp_path / "x.pcapng"
    Capture(lossy, "sender", flow=6).write(path)
    acknowledged = [
        int.from_bytes(packet.data[28:32], "big")
        for packet in captures.read(path).packets
        if packet.data[12:16] == bytes([10, 128, 0, 6])
    ]
    assert max(acknowledged) == 100_501


def test_a_stored_run_in_small_parts_gives_the_same_bytes(lossy, tmp_path, monkeypatch):
    stored = bl.read(lossy.write(tmp_path / "run"))
    for place in PLACES:
        Capture(lossy, place).write(tmp_path / "whole.pcapng")
        with monkeypatch.context() as context:
            context.setattr("burstlab.tables.BATCH", 97)
            Capture(stored, place).write(tmp_path / "parts.pcapng")
        whole, parts = (tmp_path / name for name in ("whole.pcapng", "parts.pcapng"))
        assert whole.read_bytes() == parts.read_bytes()


def test_replications_are_apart(tmp_path):
    scenario = {
        "loss": {"data": {"process": "bernoulli", "probability": 0.01}},
        "run": {"duration": "2 s", "replications": 3, "seed": 8},
    }
    result = bl.run(scenario, trace="packets")
    for one in range(3):
        path = tmp_path / "x.pcapng"
        count = Capture(result, "sender", replication=one).write(path)
        table = result.packets.where(replication=one)
        sent = len(table.where(kind="data"))
        heard = len(table.where(kind="ack", fate="delivered"))
        assert count == sent + heard


FIELDS = [
    "ip.src",
    "tcp.analysis.retransmission",
    "tcp.analysis.fast_retransmission",
    "tcp.analysis.spurious_retransmission",
    "tcp.analysis.out_of_order",
    "_ws.malformed",
    "ip.checksum.status",
    "tcp.checksum.status",
    "udp.checksum.status",
    "tcp.analysis.duplicate_ack",
]


def test_tshark_agrees_with_the_counters(lossy, tmp_path):
    path = tmp_path / "x.pcapng"
    for snap in (96, 65535):
        count = Capture(lossy, "sender", snap=snap).write(path)
        lines = captures.tshark(path, FIELDS)
        assert len(lines) == count
        assert not any(line[5] for line in lines), "no packet is malformed"
        assert {line[6] for line in lines} == {"1"}, "every IPv4 checksum is good"
        # Of cut packets tshark does not verify it (2); of whole ones it does.
        assert {line[7] for line in lines} == ({"1", "2"} if snap == 96 else {"1"})
        for flow in lossy.summary["flows"]:
            mine = [line for line in lines if line[0] == f"10.0.0.{flow['id']}"]
            assert len(mine) == flow["packets_sent"]
            # For tshark a retransmission soon after the highest segment is out of order.
            again = [line for line in mine if line[1] or line[4]]
            assert len(again) == flow["retransmissions"], flow["label"]
            fast = sum(bool(line[2]) for line in mine)
            # Those of Vegas may come with the first duplicate ACK, or without any.
            if flow["label"] != "vegas":
                assert fast == flow["fast_retransmits"]
            # Nothing that is acknowledged here goes out again: its spurious ones are none of ours.
            assert not any(line[3] for line in mine)


def test_tcptrace_agrees_with_the_counters(lossy, tmp_path):
    path = tmp_path / "x.pcapng"
    Capture(lossy, "sender").write(path)
    counted = captures.tcptrace(path)
    flows = lossy.summary["flows"]
    data = [flow["packets_sent"] - _syns(lossy, flow["id"]) for flow in flows]
    again = [flow["retransmissions"] - _syns(lossy, flow["id"]) + 1 for flow in flows]
    # Connections are numbered as they begin.
    order = [0, 1, 2, 3, 4, 5, 6, 7]
    assert counted["actual data pkts"] == [data[flow] for flow in order]
    assert counted["rexmt data pkts"] == [again[flow] for flow in order]
    assert sum(counted["outoforder pkts"]) == 0


def _syns(result, flow):
    return len(result.packets.where(flow=flow, kind="data", seq=0))


def test_tshark_reads_udp_and_every_place(mesh, tmp_path):
    for place in PLACES:
        path = tmp_path / "x.pcapng"
        count = Capture(mesh, place, snap=65535).write(path)
        lines = captures.tshark(path, FIELDS)
        assert len(lines) == count
        assert not any(line[5] for line in lines)
        assert {line[6] for line in lines} == {"1"}
        assert all((line[7], line[8]) in (("1", ""), ("", "1")) for line in lines)


@pytest.mark.slow
def test_tshark_reads_a_hundred_thousand_packets(tmp_path):
    scenario = {
        "network": {"core_nodes": 3, "link_delay": "5 ms"},
        "access": {"rate": "50 Mb/s", "delay": "1 ms"},
        "edge": {"assembly": "timer", "timer": "5 ms"},
        "tcp": {"window": 100},
        "loss": {"data": {"process": "bernoulli", "probability": 0.002}},
        "flows": [{"count": 4}, {"count": 4, "tcp": {"variant": "new-reno"}}],
        "run": {"duration": "10 s", "seed": 1},
    }
    result = bl.run(scenario, trace=("packets",), out=tmp_path / "run")
    path = tmp_path / "x.pcapng"
    count = Capture(result, "sender").write(path)
    assert count > 100_000
    lines = captures.tshark(path, FIELDS)
    assert len(lines) == count
    assert not any(line[5] for line in lines)
    assert {line[6] for line in lines} == {"1"}
    assert {line[7] for line in lines} == {"1", "2"}
    for flow in result.summary["flows"]:
        mine = [line for line in lines if line[0] == f"10.0.0.{flow['id']}"]
        again = sum(bool(line[1] or line[4]) for line in mine)
        assert again == flow["retransmissions"] > 0


def test_no_table_is_read_to_see_whether_it_is_there(lossy, tmp_path, monkeypatch):
    stored = bl.read(lossy.write(tmp_path / "run"))

    def refuse(*_args, **_more):
        raise AssertionError("a table is read")

    monkeypatch.setattr("burstlab.storage.columnar.reading.File.read", refuse)
    tables = stored.replications[0].tables
    assert "packets" in tables and "samples" not in tables
    assert next(iter(sights(stored, "sender"))).opens


def test_packets_with_time_stamps_are_as_long_as_they_were_simulated(tmp_path):
    scenario = {
        "tcp": {"profile": "linux"},
        "edge": {"assembly": "timer", "timer": "1 ms"},
        "loss": {"data": {"process": "every", "n": 9}},
        "flows": [{"bytes": "200 KB"}],
        "run": {"duration": "20 s"},
    }
    result = bl.run(scenario, trace=("packets", "bursts"))
    path = tmp_path / "stamped.pcapng"
    Capture(result, "sender").write(path)
    lengths = sorted(packet.length for packet in captures.read(path).packets)
    packets = result.packets.to_pylist()
    seen = [
        row["size_bytes"] for row in packets if row["kind"] == "data" or row["fate"] == "delivered"
    ]
    assert any(size > 52 for size in seen if size < 100), "some have SACK blocks"
    assert lengths == sorted(seen)
