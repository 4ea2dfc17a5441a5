"""Exports for Perfetto, qvis and xplot, tables as CSV, and the command that writes them."""

from __future__ import annotations

import json
from collections import Counter
from itertools import pairwise

import pytest

import burstlab as bl
from burstlab.export import FORMATS, export

ALL = ("packets", "bursts", "cwnd", "ledger")


@pytest.fixture(scope="module")
def path():
    scenario = {
        "edge": {"assembly": "timer", "timer": "40 ms"},
        "tcp": {"variant": "reno", "window": 40},
        "loss": {"data": {"process": "bernoulli", "probability": 0.05}},
        "flows": [{}, {"tcp": {"variant": "sack"}}],
        "run": {"duration": "15 s", "seed": 5},
    }
    return bl.run(scenario, trace=ALL)


@pytest.fixture(scope="module")
def mesh():
    scenario = {
        "network": {"topology": "ring", "nodes": 4, "wavelengths": 2, "link_rate": "50 Mb/s"},
        "signalling": {"guard": "20 us"},
        "access": {"rate": "20 Mb/s", "delay": "1 ms"},
        "edge": {"assembly": "timer", "timer": "2 ms"},
        "flows": [{"from": "1", "to": "3"}, {"from": "2", "to": "4"}],
        "bursts": [{"erlangs": 0.1, "length": {"distribution": "exponential", "mean": "20 KB"}}],
        "run": {"duration": "2 s", "seed": 2},
    }
    return bl.run(scenario, trace=ALL)


def events(result, tmp_path, **options):
    (file,) = export(result, "perfetto", tmp_path / "trace.json", force=True, **options)
    return json.loads(file.read_text())["traceEvents"]


@pytest.mark.parametrize("which", ["path", "mesh"])
def test_perfetto_has_each_burst_on_its_wavelength(request, tmp_path, which):
    result = request.getfixturevalue(which)
    found = events(result, tmp_path)
    slices = [event for event in found if event["ph"] == "X"]
    names = {e["pid"]: e["args"]["name"] for e in found if e["name"] == "process_name"}
    if which == "mesh":
        held = result.table("bursts_hops").to_pylist()
        assert len(slices) == sum(row["wavelength"] is not None for row in held)
        refused = [event for event in found if event["name"].endswith("refused")]
        assert len(refused) == sum(row["wavelength"] is None for row in held) > 0
    else:
        assert len(slices) == len(result.bursts)
    lost = {event["args"].get("cause") for event in slices if event["args"]["fate"] == "lost"}
    assert lost == ({"contention", "late-header"} if which == "mesh" else {"injected"})
    lanes = Counter((event["pid"], event["tid"]) for event in slices)
    assert all(names[pid].startswith("fibre") for pid, _ in lanes)
    ends: dict[tuple[int, int], float] = {}
    for event in sorted(slices, key=lambda event: event["ts"]):
        lane = (event["pid"], event["tid"])
        assert event["ts"] >= ends.get(lane, 0.0) - 1e-6, "bursts share no wavelength"
        ends[lane] = event["ts"] + event["dur"]


def test_perfetto_has_queues_windows_and_what_timeouts_were(path, tmp_path):
    found = events(path, tmp_path)
    names = {e["pid"]: e["args"]["name"] for e in found if e["name"] == "process_name"}
    assert set(names.values()) == {
        "assembly at edge", "fibre of data", "fibre of ack", "sender 0", "sender 1",
    }  # fmt: skip
    begun = [event for event in found if event["ph"] == "b"]
    assert len(begun) == len(path.bursts)
    assert [e["id"] for e in begun] == [e["id"] for e in found if e["ph"] == "e"]
    windows = [event for event in found if event["name"] == "window"]
    assert len(windows) == len(path.cwnd)
    assert windows[5]["args"]["cwnd"] == pytest.approx(path.cwnd["cwnd"][5], rel=1e-5)
    timeouts = Counter(e["name"] for e in found if e["name"].startswith("time-out"))
    truths = Counter(path.ledger.where(kind="timeout")["truth"])
    assert timeouts == {f"time-out ({truth})": count for truth, count in truths.items()}
    assert timeouts
    only = events(path, tmp_path, flow=1)
    assert "sender 0" not in {e["args"].get("name") for e in only if e["ph"] == "M"}


def records(file):
    lines = file.read_text().split("\x1e")
    assert lines[0] == "" and all(line.endswith("\n") for line in lines[1:])
    return [json.loads(line) for line in lines[1:]]


@pytest.mark.parametrize("flow", [0, 1])
def test_qlog_tells_what_the_sender_did(path, tmp_path, flow):
    (file,) = export(path, "qlog", tmp_path / "flow.qlog", flow=flow)
    head, *log = records(file)
    assert (head["qlog_version"], head["qlog_format"]) == ("0.3", "JSON-SEQ")
    facts = path.summary["flows"][flow]
    names = Counter(event["name"] for event in log)
    assert names["transport:packet_sent"] == facts["packets_sent"]
    assert names["recovery:packet_lost"] == facts["retransmissions"] > 0
    assert names["recovery:loss_timer_updated"] == facts["timeouts"]
    assert names["recovery:metrics_updated"] == len(path.cwnd.where(flow=flow))
    assert [event["time"] for event in log] == sorted(event["time"] for event in log)
    sent = [e["data"]["header"]["packet_number"] for e in log if "packet_sent" in e["name"]]
    assert sent == list(range(len(sent)))
    acked: set[int] = set()
    for event in log:
        for frame in event["data"].get("frames", []):
            for first, last in frame.get("acked_ranges", []):
                numbers = set(range(first, last + 1))
                assert not numbers & acked, "a transmission is acknowledged once"
                acked |= numbers
    assert len(acked) == facts["packets_sent"] - facts["retransmissions"] - _open(path, flow)
    triggers = Counter(e["data"]["trigger"] for e in log if "packet_lost" in e["name"])
    assert triggers["pto_expired"] >= facts["timeouts"]


def _open(result, flow):
    """Segments that no ACK or SACK block that was heard covers."""
    from burstlab.export.capture import DATA, sights

    sent, covered = set(), set()
    for sight in sights(result, "sender", flow=flow):
        if sight.kind == DATA:
            sent.add(sight.seq)
        else:
            covered |= set(range(sight.seq + 1))
            covered |= {seq for left, right in sight.sack for seq in range(left, right)}
    return len(sent - covered)


def test_xplot_marks_what_is_sent_again_and_what_is_lost(path, tmp_path):
    (file,) = export(path, "xplot", tmp_path / "flow.xpl")
    lines = file.read_text().splitlines()
    facts = path.summary["flows"][0]
    assert lines[:2] == ["timeval double", "title"]
    assert lines[-1] == "go"
    assert sum(line.startswith("darrow ") for line in lines) == facts["packets_sent"]
    assert lines.count("R") == facts["retransmissions"]
    lost = len(path.packets.where(flow=0, kind="data", fate="lost"))
    assert sum(line.startswith("x ") for line in lines) == lost > 0
    first = next(line for line in lines if line.startswith("line 0.") and not line.endswith(" 0"))
    _, t0, low, t1, high = first.split()
    assert (t0, low, high) == (t1, "1", "961")


def test_csv_has_every_table_as_it_is(path, tmp_path):
    from pyarrow import csv

    written = export(path, "csv", tmp_path / "tables")
    assert [file.stem for file in written] == path.recorded
    for file in written:
        table = path.table(file.stem)
        found = csv.read_csv(file)
        assert found.column_names == table.columns
        assert found.num_rows == len(table)
        for name in ("sent_ps", "departed_ps", "t_ps"):
            if name in table.columns:
                assert found.column(name).to_pylist() == table.to_arrow().column(name).to_pylist()


def test_the_command_writes_each_format(burstlab, tmp_path, path):
    path.write(tmp_path / "run")
    for name in FORMATS:
        answer = burstlab("export", tmp_path / "run", "--format", name)
        assert answer.status == 0, answer.err
        for line in answer.out.splitlines():
            assert (tmp_path / line).stat().st_size > 100
    answer = burstlab("export", tmp_path / "run", "--at", "egress", "--flow", 1)
    assert answer.out.strip().endswith("egress-1.pcapng")
    out = tmp_path / "deep" / "er" / "x.pcapng"
    assert burstlab("export", tmp_path / "run", "--out", out).out.strip() == str(out)


@pytest.mark.parametrize(
    ("tokens", "said"),
    [
        (["--format", "pcap"], "did you mean 'pcapng'?"),
        (["--at", "middle"], "unknown place 'middle'"),
        (["--flow", "2"], "there is no such flow\n  fix: 0 to 1"),
        (["--replication", "1"], "there is none\n  fix: one of 0"),
        (["--format", "csv", "--flow", "0"], "tables have all flows"),
        (["--format", "qlog", "--at", "sender"], "--at is of captures"),
        (["--out", "/proc/x.pcapng"], "cannot be written"),
    ],
)
def test_the_command_refuses(burstlab, tmp_path, path, tokens, said):
    path.write(tmp_path / "run")
    answer = burstlab("export", tmp_path / "run", *tokens)
    assert answer.status == 2
    assert said in answer.err


def test_the_command_says_what_to_record(burstlab, tmp_path, small):
    bl.run({**small, "run": {"duration": "1 s"}}, trace="cwnd").write(tmp_path / "run")
    for name, table in {"pcapng": "packets", "perfetto": "bursts", "xplot": "packets"}.items():
        answer = burstlab("export", tmp_path / "run", "--format", name)
        assert answer.status == 2
        assert f"run it with --trace {table}\n" in answer.err
    assert burstlab("export", tmp_path / "nothing").status == 2


def test_stream_data_has_no_gap_and_no_overlap_both_ways_and_behind_a_syn(tmp_path):
    """SACK blocks on segments, and the options of a SYN, are no data."""
    both = {
        "edge": {"assembly": "timer", "timer": "5 ms"},
        "loss": {"data": {"process": "every", "n": 15}},
        "flows": [{"bytes": "300 KB", "reverse": {"bytes": "300 KB"}}],
        "run": {"duration": "60 s"},
    }
    linux = {"tcp": {"profile": "linux"}, "flows": [{"bytes": "100 KB"}]}
    for number, scenario in enumerate((both, linux)):
        result = bl.run(scenario, trace=ALL)
        (log,) = export(result, "qlog", tmp_path / f"{number}.qlog", flow=0)
        frames = [
            frame
            for event in records(log)[1:]
            if event["name"] == "transport:packet_sent"
            for frame in event["data"]["frames"]
        ]
        ends = {frame["offset"]: frame["offset"] + frame["length"] for frame in frames}
        starts = sorted(offset for offset, end in ends.items() if end > offset)
        assert all(ends[one] == other for one, other in pairwise(starts))
        assert max(ends.values()) == (300_000, 100_000)[number]
