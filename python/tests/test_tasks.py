"""Tasks of users, in as many commands as the pages name: the student and the one who moves."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import burstlab as bl


def test_the_student_compares_a_law_in_three_commands(burstlab, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert burstlab("examples").status == 0  # 1: laws and scenarios to start from
    laws = bl.compare(  # 2
        ["reno", "sack", "examples/laws/scalable.py:Scalable"],
        "examples/python_law.toml",
        replications=3,
    )
    laws.plot().save("laws.html")  # 3
    shown = {(row["law"], row["measure"]) for row in laws.estimates()}
    assert {("reno", "goodput"), ("Scalable", "time-outs")} <= shown
    assert all(row["ci95"] is not None for row in laws.estimates() if row["measure"] == "goodput")
    assert Path("laws.html").stat().st_size > 1000


def test_the_one_who_comes_from_ns3_has_a_flow_monitor_in_two_commands(
    burstlab, tmp_path, monkeypatch
):
    monkeypatch.chdir(Path(__file__).parents[2])
    out = tmp_path / "one"
    run = burstlab(  # 1
        "run", "examples/one_burst.toml", "--trace", "packets,bursts", "--out", out
    )
    assert run.status == 0
    assert burstlab("export", out, "--format", "flowmon").status == 0  # 2
    root = ElementTree.parse(out / "flowmon.xml").getroot()
    data, acks = root.iterfind("FlowStats/Flow")
    (flow,) = bl.read(out).flows.to_pylist()
    assert int(data.attrib["txPackets"]) == flow["packets_sent"]
    assert int(data.attrib["rxPackets"]) == flow["packets_delivered"]
    assert int(data.attrib["lostPackets"]) == flow["packets_lost"] == 5
    assert int(data.attrib["txBytes"]) > int(data.attrib["rxBytes"]) > 2_000_000
    assert int(acks.attrib["rxPackets"]) > 1000
    ends = [one.attrib for one in root.iterfind("Ipv4FlowClassifier/Flow")]
    assert ends[0]["sourceAddress"] == ends[1]["destinationAddress"]
