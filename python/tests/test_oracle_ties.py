"""Ties of timers and packets: in recordings, on a path, and by construction."""

import gzip
import json
from typing import Any

import pytest

import burstlab as bl
from burstlab.oracle import closings, path_linux
from burstlab.oracle.linux import read_linux_index
from burstlab.oracle.path import ran, rows_of, scenario_of
from burstlab.timers import timer_ties

UNTIL_PS = 900_000_000_000
#: A full packet takes 1.5 ms on the link, so that the timer is ten of them.
ENTRY = {
    "case": "one",
    "family": "tie",
    "cc": "reno",
    "rate": 8_000_000,
    "tb_ms": 15,
    "core_delay_ms": 4,
    "gso": 1,
    "trace": "one.csv.gz",
    "lost_bursts": [12],
    "lost_ack_bursts": [],
}
#: One bit a nanosecond in the core, so that all times are whole nanoseconds.
INDEX = {"mtu": 1500, "syn_after_tick_ns": 51_968, "core_bps": 8e9}
SYN, ACK = 2, 16


def record(tmp_path, inside, **changes):
    """Write what a run does as a recording; packets at the end of these bursts fell into them."""
    entry: dict[str, Any] = {**ENTRY, **changes}
    (tmp_path / "index.json").write_text(json.dumps({**INDEX, "cases": [entry]}))
    (case,) = read_linux_index(tmp_path)
    document = scenario_of(case, UNTIL_PS, ([(burst, True) for burst in inside], []))
    result = bl.run(document, trace=("packets", "cwnd", "bursts"), jobs=1)
    rows = []
    for packet in result.packets.where(kind="data").to_pylist():
        if packet["seq"] == 0:
            flags = SYN if packet["size_bytes"] == 60 else ACK
            number = 0 if flags == SYN else 1
            rows.append((packet["sent_ps"], f"S,{{t}},{number},0,{flags},0,10,9,0,9,0"))
    log = ran(case, result, UNTIL_PS)
    rows += [(at, f"S,{{t}},{seq},{length},16,0,1,2,0,9,0") for at, seq, length in log.segments]
    for (at, ack), state in zip(log.heard, log.states, strict=True):
        rows.append((at, f"A,{{t}},{ack},9,0,16,,{','.join(map(str, state))},1,1,1,0,0,0,0,3,0"))
    timer_ps = round(10**9 * entry["tb_ms"])
    for burst in result.bursts.where(direction="data").to_pylist():
        if burst["opened_ps"] + timer_ps <= UNTIL_PS:
            said = (
                f"{burst['burst']},{burst['packets']},{burst['bytes']},{burst['fate'] == 'lost':d}"
            )
            rows.append((burst["opened_ps"] + timer_ps, f"B,{{t}},{said}"))
    rows = sorted((row for row in rows if row[0] <= UNTIL_PS), key=lambda row: row[0])
    text = "".join(row.format(t=at // 1000) + "\n" for at, row in rows)
    (tmp_path / "one.csv.gz").write_bytes(gzip.compress(text.encode()))
    return tmp_path


def ties_in(directory):
    (case,) = read_linux_index(directory)
    return closings.ties_of(case, [cells for _, cells in rows_of(directory / "one.csv.gz")])


def test_packets_on_the_other_side_of_the_end_of_a_burst_are_a_tie(burstlab, tmp_path):
    inside = [2, 6, 7, 9, 20, 21, 30]
    directory = record(tmp_path, inside)
    found = ties_in(directory)
    assert [burst for burst, fell_in in found.sides[0] if fell_in] == inside
    assert found.count > 30 and not found.sides[1]
    (outcome,) = path_linux(directory)
    assert (outcome.outcome, outcome.match, outcome.ties) == ("tie", False, found.count)
    assert outcome.rows_equal == outcome.rows > 400
    answer = burstlab("oracle", directory, "--level", "path")
    assert answer.status == 0
    assert f"one: tie at t = 0.04{'3'}" in answer.out
    assert "0 of 1 cases match, 1 tie" in answer.out
    (case,) = burstlab("oracle", directory, "--level", "path", "--json").json()["cases"]
    assert (case["outcome"], case["match"], case["ties"]) == ("tie", False, found.count)
    assert case["tie_s"] == pytest.approx(outcome.tie_s)


def test_a_case_in_which_every_tie_falls_as_here_is_a_match(tmp_path):
    (outcome,) = path_linux(record(tmp_path, []))
    assert (outcome.outcome, outcome.ties) == ("match", 0)


def test_a_difference_that_ties_do_not_explain_stays_one(burstlab, tmp_path):
    directory = record(tmp_path, [2, 6, 7])
    entry = {**ENTRY, "cc": "vegas"}
    (directory / "index.json").write_text(json.dumps({**INDEX, "cases": [entry]}))
    (outcome,) = path_linux(directory)
    assert (outcome.outcome, outcome.ties) == ("differs", 0)
    assert burstlab("oracle", directory, "--level", "path").status == 1


def test_a_timer_that_no_packet_meets_has_no_ties(tmp_path):
    assert ties_in(record(tmp_path, [], tb_ms=14.321)).count == 0


def test_from_a_burst_that_does_not_follow_on_nothing_is_taken_for_a_tie(tmp_path):
    directory = record(tmp_path, [2, 6, 7, 9])
    path = directory / "one.csv.gz"
    lines = gzip.decompress(path.read_bytes()).decode().splitlines()
    place = next(i for i, line in enumerate(lines) if line.startswith("B,") and ",7," in line)
    lines[place] = lines[place].replace(",7,", ",70,", 1)
    path.write_bytes(gzip.compress("\n".join(lines).encode()))
    assert all(burst < 7 for burst, _ in ties_in(directory).sides[0])


@pytest.mark.parametrize("ties", ["fixed", "random"], ids=["announced", "one by one"])
def test_a_burst_takes_what_comes_within_a_timer_of_its_own(ties):
    own = [[2, "15.0005 ms"], [4, "20 ms"]]
    scenario = {
        "access": {"rate": "8 Mb/s", "delay": "1 ms"},
        "edge": {"assembly": "timer", "timer": "15 ms", "burst_timers": own},
        "tcp": {"profile": "linux", "segment_size": "1500 B"},
        "run": {"duration": "0.5 s", "tie_break": ties},
    }
    bursts = bl.run(scenario, trace="bursts").bursts.where(direction="data").to_pylist()
    lasted = {row["burst"]: row["closed_ps"] - row["opened_ps"] for row in bursts[:6]}
    ms = 10**9
    assert lasted == {1: 15 * ms, 2: 15 * ms + ms // 2000, 3: 15 * ms, 4: 20 * ms} | {
        5: 15 * ms,
        6: 15 * ms,
    }
    scenario["edge"].pop("burst_timers")
    plain = bl.run(scenario, trace="bursts").bursts.where(direction="data").to_pylist()
    assert (plain[1]["packets"] + 1, plain[0]) == (bursts[1]["packets"], bursts[0])


@pytest.mark.parametrize(
    ("edge", "says"),
    [
        ({"burst_timers": [[0, "1 ms"]]}, "edge.burst_timers"),
        ({"burst_timers": [[3, "1 ms"], [2, "1 ms"]]}, "rising order"),
        ({"burst_timers": [[3, "1 ms"], [3, "2 ms"]]}, "each once"),
        ({"burst_timers": [[3, "0 ms"]]}, "that is no timer"),
        ({"burst_timers": [[3, "200000 s"]]}, "that is no timer"),
        ({"assembly": "hybrid", "size": "9 KB", "burst_timers": [[3, "1 ms"]]}, "does not use it"),
        ({"ack": {"burst_timers": [[3, "1 ms"]]}}, "edge.ack.burst_timers"),
    ],
)
def test_timers_of_bursts_that_are_none_are_refused(edge, says):
    scenario = {"edge": {"assembly": "timer", "timer": "15 ms", **edge}}
    with pytest.raises(bl.ScenarioError, match=says) as caught:
        bl.resolve(scenario)
    assert "fix:" in str(caught.value)


def test_timers_of_bursts_are_of_a_path():
    scenario = {
        "network": {"topology": "ring"},
        "edge": {"assembly": "timer", "timer": "15 ms", "burst_timers": [[3, "1 ms"]]},
        "flows": [{"from": "1", "to": "3"}],
    }
    with pytest.raises(bl.ScenarioError, match="belongs to a path"):
        bl.resolve(scenario)


def timers_of(**tables):
    base = {
        "access": {"rate": "8 Mb/s", "delay": "1 ms"},
        "edge": {"assembly": "timer", "timer": "15 ms"},
        "tcp": {"segment_size": "1500 B"},
    }
    return [str(one) for one in timer_ties(bl.resolve({**base, **tables}))]


def test_check_names_timers_that_are_a_whole_number_of_packets(burstlab, tmp_path):
    (found,) = timers_of()
    assert found == "edge.timer = 15 ms is 10 packets of 1500 B at access.rate = 8,000,000 b/s"
    assert timers_of(edge={"assembly": "timer", "timer": "15.037 ms"}) == []
    assert timers_of(edge={"assembly": "size", "size": "15 KB"}) == []
    assert timers_of(access={"rate": "7 Mb/s", "delay": "1 ms"}) == []
    both = {"assembly": "timer", "timer": "4.001 ms", "ack": {"assembly": "timer", "timer": "3 ms"}}
    (of_acks,) = timers_of(edge=both)
    assert of_acks.startswith("edge.ack.timer = 3 ms is 2 segments of 1500 B at access.rate")
    receiver = {"rate": "8 Mb/s", "delay": "1 ms", "receiver": {"rate": "4 Mb/s"}}
    (slower,) = timers_of(edge=both, access=receiver)
    assert "1 segments of 1500 B at access.receiver.rate = 4,000,000 b/s" in slower
    classes = {"assembly": "cwnd-classes", "cwnd_thresholds": [9], "class_timers": ["4 ms", "6 ms"]}
    flow = {"from": "1", "to": "3"}
    (second,) = timers_of(edge=classes, network={"topology": "ring"}, flows=[flow])
    assert second.startswith("edge.class_timers[1] = 6 ms is 4 packets")
    path = tmp_path / "s.toml"
    path.write_text(
        '[access]\nrate = "8 Mb/s"\n[edge]\nassembly = "timer"\ntimer = "15 ms"\n'
        '[tcp]\nsegment_size = "1500 B"\n[run]\nduration = "0.2 s"\n'
    )
    answer = burstlab("check", path)
    assert answer.status == 0
    assert "tie by construction: edge.timer = 15 ms is 10 packets of 1500 B" in answer.out
    (one,) = burstlab("check", path, "--ties", "--json").json()["by_construction"]
    assert (one["field"], one["packets"], one["size_bytes"]) == ("edge.timer", 10, 1500)


def test_the_slower_source_of_cross_traffic_ties_too():
    shared = {"rate": "8 Mb/s", "delay": "1 ms", "shared": True}
    cbr = [{"rate": "1 Mb/s", "packet_size": "625 B"}]
    edge = {"assembly": "timer", "timer": "20 ms"}
    (found,) = timers_of(access=shared, traffic=cbr, edge=edge)
    assert found == "edge.timer = 20 ms is 4 packets of 625 B at traffic[0].rate = 1,000,000 b/s"


def test_what_is_said_to_end_ties_does():
    """A busy link, and a timer of ten packets: the packet that comes as it ends is behind it."""
    scenario = {
        "access": {"rate": "8 Mb/s", "delay": "1 ms"},
        "edge": {"assembly": "timer", "timer": "15 ms"},
        "tcp": {"profile": "linux", "segment_size": "1500 B"},
        "run": {"duration": "1 s"},
    }
    result = bl.run(scenario, trace=("packets", "bursts"))
    closed = {
        row["closed_ps"]: row["burst"] for row in result.bursts.where(direction="data").to_pylist()
    }
    arrivals = result.packets.where(kind="data").to_pylist()
    tied = [row for row in arrivals if row["ingress_ps"] in closed]
    assert len(tied) > 20
    assert all(row["burst"] == closed[row["ingress_ps"]] + 1 for row in tied)
