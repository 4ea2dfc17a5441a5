"""Data in both directions of a connection, from the user's side."""

from __future__ import annotations

import json

import pytest

import burstlab as bl
from burstlab import plot
from burstlab.cli import main
from burstlab.errors import InputError
from burstlab.export.capture import ACK, DATA
from burstlab.export.flows import Flows
from burstlab.export.heard import heard
from burstlab.export.core import goes_back

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
    with pytest.raises(InputError, match="flow 0 is one direction"):
        result.export("pcapng", tmp_path / "a.pcapng")
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
    both = {(way, bool(is_back)) for way, is_back in zip(rows["direction"], back, strict=True)}
    assert both == {("data", False), ("data", True), ("ack", False), ("ack", True)}
    assert len(set(rows["burst"].tolist())) == len(rows["burst"]), "numbered together"


def test_a_checkpoint_in_the_middle_changes_nothing(scenario, tmp_path):
    whole = bl.run(scenario, seed=3)
    cut = bl.run(scenario, seed=3, checkpoint=tmp_path / "ckpt")
    again = bl.run(scenario, seed=3, checkpoint=tmp_path / "ckpt", resume=True)
    assert whole.fingerprint == cut.fingerprint == again.fingerprint


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("tcp.variant=linux", "tcp.variant"),
        ("edge.spacing=1 ms", "edge.spacing"),
        ("flows[0].stack=quinn", "flows[0].stack"),
    ],
)
def test_what_has_one_direction_is_refused(scenario, capsys, change, said):
    assert status("run", str(scenario), "--set", change) == 2
    told = capsys.readouterr()
    assert said in told.out + told.err and "fix" in told.out + told.err


def test_the_class_of_python_writes_it():
    flow = bl.Flow(bytes="2 KB", reverse=bl.Reverse(bytes="1 KB"))
    result = bl.run(bl.Scenario(flows=[flow], run=bl.Run(duration="5 s")))
    assert json.loads(json.dumps(result.scenario["flows"][0]["reverse"]))["bytes"] == "1 KB"
    assert len(result.flows) == 2
