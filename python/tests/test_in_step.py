"""Sources and rounds that begin together are not in step; dependence on ties can be seen."""

from __future__ import annotations

import json
from collections import defaultdict
from itertools import pairwise
from typing import Any

import pytest
from draws import uniforms

import burstlab as bl

MS = 10**9


def cbr(node: int, **change: Any) -> dict[str, Any]:
    """Return a source of a packet of 1000 B each millisecond."""
    return {
        "from": str(node),
        "to": "5",
        "rate": "8 Mb/s",
        "packet_size": "1000 B",
        **change,
    }


def star(*traffic: dict[str, Any], **run: Any) -> dict[str, Any]:
    """Return sources around one node, behind one wavelength."""
    return {
        "network": {"topology": "star", "nodes": 5, "wavelengths": 1, "link_delay": "1 us"},
        "flows": [],
        "traffic": list(traffic),
        "run": {"duration": "20 ms", **run},
    }


def firsts(result: bl.Result) -> list[int]:
    """Return when each source sends first, in ps."""
    found: dict[int, int] = {}
    for row in result.packets.to_pylist():
        found.setdefault(row["flow"], row["sent_ps"])
    return [found[number] for number in sorted(found)]


@pytest.mark.parametrize("seed", [1, 7, 2**40 + 3])
def test_the_phase_of_a_source_is_its_draw(seed):
    """Recomputed: a share of the time of a packet, by the number or the name of the source."""
    scenario = star(cbr(1, count=2), cbr(2, name="mine"), cbr(3))
    found = firsts(bl.run(scenario, seed=seed, trace="packets"))
    names = ["traffic/0", "traffic/1", "traffic/:mine/0", "traffic/2"]
    assert found == [int(uniforms(name, 0, seed)[0] * MS) for name in names]


def test_a_phase_that_is_given_is_the_first_packet():
    scenario = star(cbr(1, phase="0 s"), cbr(2, phase="250 us", start="3 ms"))
    assert firsts(bl.run(scenario, trace="packets")) == [0, 3 * MS + MS // 4]


def test_sources_at_a_low_rate_share_what_is_lost():
    """Four sources with 0.3 % of the capacity: none loses all that it sends."""
    for seed in range(1, 9):
        result = bl.run(star(*(cbr(n) for n in range(1, 5)), duration="100 ms"), seed=seed)
        counters = result.replications[0].summary["counters"]
        sent, lost = counters["other_sent"], counters["other_lost"]
        assert sent == 400 and lost == 0


def rounds(**change: Any) -> dict[str, Any]:
    """Return an incast of five senders over two wavelengths, every 5 ms."""
    one = {
        "pattern": "incast",
        "senders": 5,
        "receiver": "6",
        "every": "5 ms",
        "size": {"mean": "1 KB"},
        **change,
    }
    return {
        "network": {"topology": "star", "nodes": 6, "link_delay": "1 us", "wavelengths": 2},
        "access": {"rate": "10 Gb/s", "delay": "1 us"},
        "edge": {"port": "shared", "assembly": "timer", "timer": "5 us"},
        "demand": [one],
        "tcp": {"rto_min": "1 ms", "rto_initial": "2 ms"},
        "run": {"duration": "1 s", "drain": "1 s", "seed": 4},
    }


def test_each_connection_of_a_round_begins_at_its_draw():
    """Recomputed: a share of the spread, which is the time of a segment at the access rate."""
    resolved = bl.resolve(rounds())
    assert resolved["demand"][0]["spread"] == "800 ns"
    rows = bl.run(rounds()).connections.to_pylist()
    starts = sorted(row["started_ps"] for row in rows)
    expected = [
        number // 5 * 5 * MS + int(uniforms("demand/0/spread", number, 4)[0] * 800_000)
        for number in range(1000)
    ]
    assert starts == sorted(expected)


def test_no_sender_of_a_round_wins_by_its_number():
    lost: dict[str, list[int]] = defaultdict(list)
    for row in bl.run(rounds()).connections.to_pylist():
        lost[row["from"]].append(row["packets_lost"])
    means = [sum(some) / len(some) for _, some in sorted(lost.items())]
    assert len(means) == 5 and min(means) > 0.5 * max(means) > 0, means


def test_a_round_as_the_run_ends_does_not_begin():
    fabric = {
        "network": {"topology": "leaf-spine", "link_delay": "1 us", "wavelengths": 16},
        "access": {"rate": "10 Gb/s", "delay": "1 us"},
        "demand": [{"pattern": "permutation", "every": "10 ms", "size": {"mean": "1 KB"}}],
        "run": {"duration": "50 ms"},
    }
    result = bl.run(fabric)
    rows = result.connections.to_pylist()
    assert {row["started_ps"] // (10 * MS) for row in rows} == {0, 1, 2, 3, 4}
    [demand] = result.demand[0]
    assert demand["censored"] == 0 and demand["received_mean_s"] is not None
    assert demand["cohort"] == demand["started"] == len(rows)
    assert not result.warnings


def written(value: Any) -> str:
    """Write a value as TOML, tables inline."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {written(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(written, value)) + "]"
    return json.dumps(value)


@pytest.fixture
def check(tmp_path, burstlab):
    """Check a scenario by the command."""

    def call(scenario: dict[str, Any], *flags: str):
        path = tmp_path / "scenario.toml"
        path.write_text("".join(f"{key} = {written(one)}\n" for key, one in scenario.items()))
        return burstlab("check", path, *flags)

    return call


def test_check_says_what_depends_on_ties(check):
    found = bl.compare_ties(rounds(spread="0 s"), replications=1)
    assert found and found[0].relative >= found[-1].relative > 0
    apart = star(*(cbr(n) for n in range(1, 5)))
    assert bl.compare_ties(apart) == []
    answer = check(apart, "--ties")
    assert answer.status == 0 and "no number depends on the order" in answer.out
    answer = check(rounds(spread="0 s"), "--ties")
    assert answer.status == 1
    assert f"{len(found)} numbers depend on the order of events of one instant" in answer.out
    answer = check(rounds(spread="0 s"), "--ties", "--json")
    assert answer.status == 1
    assert [one["path"] for one in answer.json()["differ"]] == [one.path for one in found]
    answer = check(apart, "--json")
    assert answer.status == 2 and "add --ties" in answer.err


def test_check_says_what_never_happens(check):
    scenario = {
        "network": {"topology": "line", "nodes": 3},
        "flows": [{}],
        "tcp": {"ecn": True},
        "traffic": [{"from": "1", "to": "3", "start": "2 s"}],
        "run": {"duration": "1 s", "drain": "1 s"},
    }
    answer = check(scenario)
    assert answer.status == 0
    assert "traffic[0].start: its first packet would begin at 2 s" in answer.err
    assert "run.drain = 1 s has no effect" in answer.err
    assert "tcp.ecn = true has no effect" in answer.err
    with pytest.warns(UserWarning, match="tcp.ecn = true has no effect"):
        assert len(bl.run(scenario).warnings) == 2


def test_a_pair_of_nodes_begins_with_the_route_that_it_draws():
    """Recomputed: the pairs of nodes with hosts in order, a draw each."""
    nodes = [str(number) for number in range(1, 5)]
    scenario = {
        "network": {
            "topology": "ring",
            "nodes": 4,
            "wavelengths": 2,
            "routes_per_pair": 2,
            "route_choice": "round-robin",
        },
        "edge": {"port": "shared"},
        "flows": [],
        "traffic": [
            {"from": a, "to": b, "rate": "100 Kb/s"} for a in nodes for b in nodes if a != b
        ],
        "run": {"duration": "1 s"},
    }
    result = bl.run(scenario, trace="bursts")
    delays: dict[tuple[int, int], list[int]] = defaultdict(list)
    first = {
        row["burst"]: row["to"] for row in result.table("bursts_hops").to_pylist() if not row["hop"]
    }
    for row in sorted(result.bursts.to_pylist(), key=lambda row: row["burst"]):
        delays[row["from"], row["to"]].append(first[row["burst"]])
    turned = 0
    for (start, end), took in delays.items():
        assert all(a != b for a, b in pairwise(took)), "in turn"
        ordinal = 4 * (start - 1) + end - 1
        turn = int(2 * uniforms("routes/turns", ordinal)[0])
        turned += turn
        if (end - start) % 4 == 1:  # the next node: one hop is its first route, three the other
            assert (took[0] == end) == (turn == 0), (start, end)
    assert 0 < turned < 12
