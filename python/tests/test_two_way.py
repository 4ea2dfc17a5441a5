"""Data in both directions of a connection, from the user's side."""

from __future__ import annotations

import json
import struct
from collections import defaultdict

import captures
import pages
import pytest

import burstlab as bl
from burstlab import plot
from burstlab.cli import main
from burstlab.export.capture import ACK, DATA
from burstlab.export.core import goes_back
from burstlab.export.flows import Flows
from burstlab.export.heard import heard
from burstlab.page.viewing import viewer

TOML = """
[network]
core_nodes = 1
link_delay = "4 ms"

[access]
rate = "10 Mb/s"
delay = "1 ms"

[edge]
assembly = "timer"
timer = "1 ms"

[tcp]
variant = "sack"
delayed_ack = true

[[flows]]
count = 2
bytes = "2 KB"
reverse = { bytes = "300 KB", reply = true, label = "answer" }

[[flows]]
bytes = "200 KB"
reverse = { bytes = "100 KB" }

[loss.data]
process = "bernoulli"
probability = 0.01

[run]
duration = "60 s"
"""

ALL = ("packets", "bursts", "cwnd", "ledger")


def status(*words):
    with pytest.raises(SystemExit) as left:
        main(words)
    return left.value.code


@pytest.fixture(scope="module")
def scenario(tmp_path_factory):
    path = tmp_path_factory.mktemp("two-way") / "two_way.toml"
    path.write_text(TOML)
    return path


@pytest.fixture(scope="module")
def result(scenario):
    return bl.run(scenario, seed=2, trace=ALL)


def test_each_direction_is_a_flow_next_to_the_other(result):
    labels = ["sack", "answer", "sack", "answer", "sack", "sack (back)"]
    sizes = [2000, 300_000, 2000, 300_000, 200_000, 100_000]
    assert result.flows["label"].tolist() == labels
    assert result.flows["bytes_in_order"].tolist() == sizes
    assert result.flows["bytes"].tolist() == sizes
    counters = result.replications[0].summary["counters"]
    assert counters["packets_sent"] == int(result.flows["packets_sent"].sum())
    assert counters["packets_lost"] > 0
    request, answer = result.replications[0].summary["flows"][:2]
    assert answer["completed_s"] > request["received_s"]
    assert answer["received_after_s"] < answer["received_s"], "counted from its first write"


def test_packets_that_carry_an_ack_are_told(result):
    packets, carried = result.packets, result.table("packets_acks")
    kinds, flows = packets["kind"], packets["flow"]
    rows = carried["packet"].astype(int)
    assert set(kinds[rows]) == {"data"}
    assert (flows[rows] ^ 1 == carried["flow"]).all()
    data = (kinds == "data").sum()
    # All but SYNs that open.
    opening = ((kinds == "data") & (packets["seq"] == 0) & (flows % 2 == 0)).sum()
    assert len(carried) == data - opening
    counters = result.replications[0].summary["counters"]
    assert (kinds == "ack").sum() == counters["acks_sent"] < data


def test_what_a_sender_hears_is_told_by_segments_too(result):
    for flow in range(6):
        seen = list(heard(result, flow))
        times = [sight.time_ps for sight in seen]
        assert times == sorted(times)
        acks = [sight.seq for sight in seen if sight.kind == ACK]
        last = max(sight.seq for sight in seen if sight.kind == DATA)
        assert max(acks) == last, "all is acknowledged"
        # Nothing but the SYN leaves before something is heard.
        first = next(place for place, sight in enumerate(seen) if sight.kind == ACK)
        assert {sight.seq for sight in seen[:first]} == {0}


def test_figures_and_exports_know_both(result, scenario, tmp_path):
    facts = Flows(result, 0)
    assert facts.count == 6 and facts[1].label == "answer" and facts[1].two_way
    assert (facts[0].ingress, facts[1].ingress) == ("ingress", "egress")
    rows = plot.sequence_rows(result, 1)
    assert max(row["segment"] for row in rows if row["kind"] == "ACK") > 200
    for kind, name in (("qlog", "a.qlog"), ("xplot", "a.xpl"), ("flowmon", "a.xml")):
        assert result.export(kind, tmp_path / name, flow=1)
    directory = tmp_path / "out"
    result.write(directory)
    figure = str(tmp_path / "sequence.svg")
    assert status("plot", str(directory), "sequence", "--flow", "1", "--out", figure) == 0
    assert bl.read(directory).table("packets_acks")["seq"].tolist() == (
        result.table("packets_acks")["seq"].tolist()
    )


def test_bursts_of_a_path_say_where_they_go(result):
    bursts = result.bursts
    rows = {name: bursts[name] for name in ("direction", "from", "to", "burst")}
    back = goes_back(rows)
    both = {(kind, bool(is_back)) for kind, is_back in zip(rows["direction"], back, strict=True)}
    assert both == {("data", False), ("data", True), ("ack", False), ("ack", True)}
    assert len(set(rows["burst"].tolist())) == len(rows["burst"]), "numbered together"


def test_a_checkpoint_in_the_middle_changes_nothing(scenario, tmp_path):
    whole = bl.run(scenario, seed=3)
    cut = bl.run(scenario, seed=3, checkpoint=tmp_path / "ckpt")
    again = bl.run(scenario, seed=3, checkpoint=tmp_path / "ckpt", resume=True)
    assert whole.fingerprint == cut.fingerprint == again.fingerprint


def test_a_rule_for_one_direction_is_refused(scenario, capsys):
    assert status("run", str(scenario), "--set", "edge.spacing=1 ms") == 2
    shown = capsys.readouterr()
    assert "edge.spacing" in shown.out + shown.err and "fix" in shown.out + shown.err


def test_the_class_of_python_writes_it():
    flow = bl.Flow(bytes="2 KB", reverse=bl.Reverse(bytes="1 KB"))
    result = bl.run(bl.Scenario(flows=[flow], run=bl.Run(duration="5 s")))
    assert json.loads(json.dumps(result.scenario["flows"][0]["reverse"]))["bytes"] == "1 KB"
    assert len(result.flows) == 2


class Host:
    """The data that a host has sent and got, only from the packets in a capture at it."""

    def __init__(self):
        self.sent, self.next, self.early = 0, 0, {}
        self.pure = self.carrying = 0

    def gets(self, begin, end):
        self.early[begin] = max(end, self.early.get(begin, 0))
        while any(first <= self.next < last for first, last in self.early.items()):
            self.next = max(last for first, last in self.early.items() if first <= self.next)

    def sends(self, begin, end, acknowledged, blocks):
        assert acknowledged == self.next, "it acknowledges what it has got"
        for left, right in blocks:
            assert self.next < left < right <= max(self.early.values())
        if begin == end:
            assert begin == self.sent, "an ACK alone is behind all that its host has sent"
            self.pure += 1
        else:
            assert begin <= self.sent, "without a gap"
            self.carrying += acknowledged > 0
        self.sent = max(self.sent, end)


def conversation(packet):
    """Source, destination, the bytes that it has, what it acknowledges, its SACK blocks."""
    source, destination, _, seq, ack = struct.unpack_from(">IIIII", packet.data, 12)
    bits = struct.unpack_from(">H", packet.data, 32)[0]
    head = 20 + 4 * (bits >> 12)
    length = packet.length - head + (1 if bits & 2 else 0)
    option = packet.data[40:head]
    blocks = []
    if option[:3] == bytes([1, 1, 5]):
        edges = struct.unpack_from(f">{(option[3] - 2) // 4}I", option, 4)
        blocks = list(zip(edges[::2], edges[1::2], strict=True))
    return source, destination, (seq, seq + length), ack if bits & 16 else 0, blocks


KINDS = {"sack": {"variant": "sack", "delayed_ack": True}, "linux": {"profile": "linux"}}


@pytest.mark.parametrize("kind", KINDS)
def test_captures_at_hosts_have_the_numbers_of_both_directions(scenario, tmp_path, kind):
    document = {**bl.load(scenario), "tcp": KINDS[kind]}
    result = bl.run(document, seed=2, trace=("packets", "bursts"))
    seen = {}
    for place in ("sender", "receiver"):
        path = tmp_path / f"{place}.pcapng"
        result.export("pcapng", path, at=place)
        hosts = defaultdict(Host)
        for packet in captures.read(path).packets:
            captures.check(packet.data, packet.length)
            source, destination, (begin, end), acknowledged, blocks = conversation(packet)
            here = 0 if place == "sender" else 1 << 23
            if source & 1 << 23 == here:
                hosts[source].sends(begin, end, acknowledged, blocks)
            else:
                hosts[destination].gets(begin, end)
        seen[place] = [hosts[address] for address in sorted(hosts)]
    totals = [(2000, 300_000)] * 2 + [(200_000, 100_000)]
    for (there, back), near, far in zip(totals, seen["sender"], seen["receiver"], strict=True):
        assert (near.sent, near.next) == (1 + there, 1 + back)
        assert (far.sent, far.next) == (1 + back, 1 + there)
    every = [host for hosts in seen.values() for host in hosts]
    assert all(host.carrying for host in every) and sum(host.pure for host in every) > 50


def test_a_capture_of_one_direction_is_of_the_connection(result, tmp_path):
    for flow in (2, 3):
        result.export("pcapng", tmp_path / f"{flow}.pcapng", flow=flow)
    one, other = (captures.read(tmp_path / f"{flow}.pcapng") for flow in (2, 3))
    assert one.packets == other.packets
    assert list(one.names.values()) == ["sender-2.ingress", "receiver-2.egress"]
    opening = [conversation(packet)[2:4] for packet in one.packets[:2]]
    assert opening == [((0, 1), 0), ((0, 1), 1)], "SYN, and the SYN that answers"


@pytest.mark.parametrize("place", ["sender", "receiver", "ingress", "egress", "node:1"])
def test_tshark_finds_no_ack_of_what_was_not_sent(result, tmp_path, place):
    path = tmp_path / "x.pcapng"
    result.export("pcapng", path, at=place)
    fields = ["tcp.stream", "tcp.analysis.ack_lost_segment", "_ws.malformed", "ip.checksum.status"]
    lines = captures.tshark(path, fields)
    assert len(lines) > 900
    assert {line[0] for line in lines} == {"0", "1", "2"}, "three connections"
    assert {tuple(line[1:]) for line in lines} == {("", "", "1")}


def test_the_handshake_of_linux_has_three_segments(tmp_path):
    scenario = {"tcp": {"profile": "linux"}, "flows": [{"bytes": "20 KB"}]}
    result = bl.run({**scenario, "run": {"duration": "3 s"}}, trace="packets")
    result.export("pcapng", tmp_path / "x.pcapng")
    found = captures.read(tmp_path / "x.pcapng").packets
    opening = [conversation(packet)[2:4] for packet in found[:4]]
    assert opening == [((0, 1), 0), ((0, 1), 1), ((1, 1), 1), ((1, 1449), 1)]


def test_bursts_that_go_back_can_be_operated_on(scenario, capsys):
    assert status("run", str(scenario), "--set", "surgery=[{ operation = 'kill', burst = 9 }]") == 0
    capsys.readouterr()
    direction = "surgery=[{ operation = 'kill', burst = 9, direction = 'ack' }]"
    assert status("run", str(scenario), "--set", direction) == 2
    assert "surgery[0].direction" in capsys.readouterr().err


def test_the_page_knows_where_data_set_out(result, tmp_path):
    result.write(tmp_path / "run")
    page = viewer(tmp_path / "run")
    found = [int(pages.data(page, "flow", flow=flow)[1]["turned"][0]) for flow in range(6)]
    assert found == [0, 1, 0, 1, 0, 1]
