"""Times in a slotted network: edges, timers, windows, shares of fibres."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import burstlab as bl

CUSTOM: dict[str, Any] = {
    "network": {
        "topology": "custom",
        "link_rate": "20 Mb/s",
        "node": [
            {"name": "a", "role": "edge"},
            {"name": "b", "role": "edge"},
            {"name": "hub", "role": "core"},
            {"name": "c", "role": "edge"},
        ],
        "link": [
            {"from": "a", "to": "hub", "delay": "3 ms"},
            {"from": "b", "to": "hub", "delay": "1 ms"},
            {"from": "hub", "to": "c", "delay": "4 ms"},
        ],
    },
    "access": {"rate": "100 Mb/s", "delay": "4 ms"},
    "tcp": {"variant": "reno", "segment_size": "576 B", "window": 60},
}


def scenario(ops: dict[str, Any], **parts: Any) -> dict[str, Any]:
    """Return two edges that send to a third."""
    return {**copy.deepcopy(CUSTOM), "ops": ops, **parts}


def udp(begin: str, rate: str, **more: Any) -> dict[str, Any]:
    """Return a source of other traffic."""
    return {
        "from": begin,
        "to": "c",
        "pattern": "poisson",
        "rate": rate,
        "packet_size": "576 B",
        **more,
    }


def departures(result: bl.Result, written: dict[str, Any]):
    """Return by pair of edges when packets came and left, in the order in which they left."""
    table, found = result.packets, {}
    flows = [
        (one["from"], one["to"]) for one in written["flows"] for _ in range(one.get("count", 1))
    ]
    columns = (table[name] for name in ("kind", "flow", "ingress_ps", "departed_ps"))
    for kind, flow, came, left in zip(*columns, strict=True):
        if np.isnan(came) or np.isnan(left):
            continue
        if kind == "udp":
            ends = written["traffic"][int(flow)]["from"], written["traffic"][int(flow)]["to"]
        else:
            ends = flows[int(flow)][:: 1 if kind == "data" else -1]
        found.setdefault(ends, []).append((left, came))
    return {ends: sorted(rows) for ends, rows in found.items()}


def three_to_one(rates: tuple[int, int, int], unsmoothed: str, window: int) -> dict[str, Any]:
    """Return three edges whose traffic meets in steps, with ACKs in slots and copies."""
    names = ("a", "b", "d")
    delays = (2, 5, 1)
    nodes = [{"name": name, "role": "edge"} for name in names]
    nodes += [{"name": name, "role": "core"} for name in ("hub", "far")]
    links = [
        {"from": name, "to": "hub", "delay": f"{delay} ms"}
        for name, delay in zip(names, delays, strict=True)
    ]
    links += [
        {"from": "hub", "to": "far", "delay": "6 ms"},
        {"from": "far", "to": "c", "delay": "1 ms"},
    ]
    bursts = {"pattern": "periodic", "period": "700 ms"}
    return {
        "network": {
            "topology": "custom",
            "link_rate": "55 Mb/s",
            "node": [*nodes, {"name": "c", "role": "edge"}],
            "link": links,
        },
        "access": {"rate": "100 Mb/s", "delay": "3 ms"},
        "ops": {
            "order": "fixed",
            "buffer": 0,
            "unsmoothed": list(unsmoothed),
            "smoothing": {"units": 2},
            "congestion": {"threshold": 0.3, "rtt_max": "2 ms", "loss_window": "10 ms"},
            "dlcc": {"keep": "200 ms", "reading": "last"},
        },
        "traffic": [
            udp(name, f"{rate} Mb/s", **bursts) for name, rate in zip(names, rates, strict=True)
        ],
        "flows": [{"from": name, "to": "c", "count": 3} for name in names],
        "tcp": {"variant": "reno", "segment_size": "576 B", "window": window},
        "run": {"duration": "8 s"},
    }


def test_copies_count_as_packets_of_their_flow_and_not_as_its_retransmissions():
    written = three_to_one((20, 10, 10), "bd", 50)
    written["ops"]["slot_size"] = "1152 B"
    written["run"]["seed"] = 20
    result = bl.run(written, trace=("packets",))
    flows = result.flows.to_pylist()
    rows = [row for row in result.packets.to_pylist() if row["kind"] == "data" and row["flow"] >= 0]
    copies = [row for row in rows if row["cwnd"] is None]
    assert len(copies) == result.ops[0]["copies"] > 0
    for flow in flows:
        mine = [row for row in rows if row["flow"] == flow["id"]]
        again = [row for row in mine if row["transmission"] > 1 and row not in copies]
        assert flow["packets_sent"] == len(mine)
        assert flow["retransmissions"] == len(again)


@pytest.mark.parametrize(
    ("slot", "seed", "written"),
    [
        ("1152 B", 20, three_to_one((20, 10, 10), "bd", 50)),
        ("576 B", 14, three_to_one((10, 15, 15), "ad", 20)),
    ],
)
def test_no_packet_leaves_an_edge_before_one_that_came_earlier(slot, seed, written):
    written["ops"]["slot_size"] = slot
    written["run"]["seed"] = seed
    result = bl.run(written, trace=("packets",))
    assert result.ops[0]["copies"] > 0
    for ends, rows in departures(result, written).items():
        together: dict[float, list[float]] = {}
        for left, arrived in rows:
            together.setdefault(left, []).append(arrived)
        latest = 0.0
        for left in sorted(together):
            assert min(together[left]) >= latest, (ends, left)
            latest = max(together[left])


def test_notifications_leave_with_a_slot_where_one_leaves_in_time():
    written = scenario(
        {
            "buffer": 2,
            "acks": "free",
            "unsmoothed": ["a", "b", "c"],
            "congestion": {"threshold": 0.0},
            "dlcc": {"notification": "piggybacked", "piggyback_wait": "150 ms"},
        },
        flows=[{"from": "a", "to": "c", "count": 8, "stagger": "37 ms"}],
        # A slot towards the edge every 36 ms, so that no notification waits for 150 ms.
        traffic=[udp("b", "5 Mb/s"), {**udp("c", "128 kb/s", pattern="cbr"), "to": "a"}],
        run={"duration": "6 s"},
    )
    result = bl.run(written, trace=("packets",))
    table = result.packets
    slot = round(result.ops[0]["slot_s"] * 1e12)
    there = -(-4 * 10**9 // slot) * slot
    slots = {
        int(left) + there
        for kind, flow, left in zip(table["kind"], table["flow"], table["departed_ps"], strict=True)
        if kind == "udp" and flow == 1 and not np.isnan(left)
    }
    rates = result.table("packets_rates").where(event="notified", **{"from": 1})
    heard = {int(at) - 3 * 10**9 for at in rates["t_ps"]}
    assert len(heard) > 40
    assert heard <= slots


def overload(start: float, **congestion: Any) -> dict[str, Any]:
    """Return the numbers of an overload of 60 ms, or as long as is said."""
    lasts = congestion.pop("lasts", 0.06)
    written = scenario(
        {"unsmoothed": ["a", "b"], "congestion": congestion},
        flows=[{"from": "a", "to": "c", "start": "900 s"}],
        traffic=[udp(begin, "18 Mb/s", pattern="cbr", start=f"{start} s") for begin in "ab"],
        run={"duration": f"{start + lasts} s"},
    )
    return dict(bl.run(written).ops[0])


def test_the_start_of_a_run_is_no_other_than_what_follows_a_silence():
    first, later = overload(0), overload(10)
    for ops in (first, later):
        assert ops["slots_dropped_congestion"] == 0
        assert ops["slots_dropped_contention"] > 100
    assert abs(first["slots_dropped_contention"] - later["slots_dropped_contention"]) <= 2


def test_what_has_to_last_is_congestion_later_by_as_much():
    window = {"rtt_max": "50 ms", "threshold": 0.9}
    at_once = overload(1, lasts=0.5, **window)
    lasting = overload(1, lasts=0.5, sustained="100 ms", **window)
    both = [at_once, lasting]
    total = [ops["slots_dropped_contention"] + ops["slots_dropped_congestion"] for ops in both]
    assert total[0] == total[1]
    more = lasting["slots_dropped_contention"] - at_once["slots_dropped_contention"]
    lost = 0.1 * 16e6 / 4608
    assert more == pytest.approx(lost, rel=0.03), "what is lost in 100 ms at 36 of 20 Mb/s"
    with pytest.raises(bl.ScenarioError, match=r"ops\.congestion\.sustained"):
        overload(1, sustained="1 us")


def pairs(count: int, used: int, **smoothing: Any) -> tuple[bl.Result, float]:
    """Return a run of small sources with one of 100 Mb/s, and its goodput in Mb/s."""
    traffic = []
    for number in range(used):
        begin, to = divmod(number, count)
        traffic.append(
            {
                "from": f"left{begin + 1}",
                "to": f"right{to + 1}",
                "pattern": "poisson",
                "rate": "0.1 Mb/s" if number else "100 Mb/s",
                "packet_size": "576 B",
            }
        )
    written = {
        "network": {
            "topology": "dumbbell",
            "nodes": count,
            "link_rate": "1 Gb/s",
            "link_delay": "1 ms",
        },
        "ops": {"smoothing": smoothing},
        "flows": [{"from": "left1", "to": "right1", "start": "900 s"}],
        "traffic": traffic,
        "run": {"duration": "4 s", "warmup": "2 s"},
    }
    result = bl.run(written)
    (first,) = [
        edge for edge in result.ops[0]["edges"] if (edge["from"], edge["to"]) == ("left1", "right1")
    ]
    return result, first["slots"] * 4608 / 4e6


@pytest.mark.parametrize(("count", "used"), [(4, 9), (12, 121), (12, 144)])
def test_any_number_of_pairs_leaves_what_is_asked_for(count, used):
    result, got = pairs(count, used)
    assert 90 < got < 101
    assert sum(edge["refused"] for edge in result.ops[0]["edges"]) == 0
    assert not [text for text in result.warnings if "min_rate" in text]
    least = bl.resolve(result.scenario)["ops"]["smoothing"]["min_rate"]
    assert least == pytest.approx(min(0.01, 0.1 / count**2))


def test_more_least_rates_than_a_fibre_carries_are_warned_of():
    result, got = pairs(12, 144, min_rate=0.01)
    assert got < 50
    (warning,) = [text for text in result.warnings if "more is granted" in text]
    assert "144 buffers" in warning
    assert "1.44 times" in warning


def test_a_buffer_that_is_idle_gives_its_rate_back():
    # A transfer that is done holds nothing when a source of nearly all of the fibre begins.
    written = scenario(
        {"smoothing": {"units": 5, "min_rate": 0.3}},
        flows=[
            {"from": "a", "to": "c", "bytes": "500 KB"},
            {"from": "a", "to": "c", "start": "900 s"},
        ],
        traffic=[udp("b", "19 Mb/s", start="4 s")],
        run={"duration": "7 s"},
    )
    result = bl.run(written, trace=("packets",))
    rates = result.table("packets_rates")
    events = list(zip(rates["from"], rates["event"], rates["after"], strict=True))
    assert (1, "idle", 0.3) in events
    assert max(after for begin, event, after in events if (begin, event) == (2, "granted")) > 0.9


def test_rates_and_notifications_are_a_table():
    written = scenario(
        {
            "unsmoothed": ["b"],
            "buffer": 2,
            "acks": "free",
            "congestion": {"threshold": 0.5, "rtt_max": "20 ms"},
            "dlcc": {},
        },
        flows=[{"from": "a", "to": "c", "count": 4, "stagger": "50 ms"}],
        traffic=[udp("b", "6 Mb/s")],
        run={"duration": "10 s"},
    )
    result = bl.run(written, trace=("packets",))
    ops, rates = result.ops[0], result.table("packets_rates")
    events = list(rates["event"])
    (edge,) = [one for one in ops["edges"] if (one["from"], one["to"]) == ("a", "c")]
    asked = sum(events.count(event) for event in ("granted", "refused", "idle"))
    assert asked == edge["requests"]
    assert events.count("refused") == edge["refused"]
    assert events.count("frozen") == edge["frozen"]
    assert events.count("cut") == edge["cuts"] > 10
    # Some are unfinished at the end.
    assert 0 <= ops["notifications"] - events.count("notified") < 20

    heard, scheduled, least = [], 0.01, 0.01
    rows = zip(*(rates[name] for name in ("from", "event", "loss", "before", "after")), strict=True)
    for begin, event, loss, before, after in rows:
        if begin != 1 or event == "notified":
            continue
        expected = max(least, scheduled - (float(np.mean(heard)) if heard else 0.0))
        assert before == pytest.approx(expected)
        if event == "cut":
            heard.append(loss)
            assert after == pytest.approx(max(least, scheduled - float(np.mean(heard))))
        elif event != "frozen":
            heard, scheduled = [], after


def test_phases_are_drawn_by_the_ends_of_a_buffer():
    def first(order: tuple[str, ...], **smoothing: Any) -> dict[str, float]:
        written = {
            "network": {
                "topology": "dumbbell",
                "nodes": 4,
                "link_rate": "55 Mb/s",
                "link_delay": "5 ms",
            },
            "ops": {"smoothing": {"unit": "10 ms", "units": 40, **smoothing}},
            "flows": [{"from": "left2", "to": "right2", "start": "800 s"}],
            "traffic": [{**udp(begin, "5 Mb/s"), "to": "right1"} for begin in order],
            "run": {"duration": "1 s"},
        }
        rates = bl.run(written, trace=("packets",)).table("packets_rates")
        found: dict[str, float] = {}
        for begin, at in zip(rates["from"], rates["t_ps"], strict=True):
            found.setdefault(str(int(begin)), at)
        return found

    names = tuple(f"left{number}" for number in range(1, 5))
    one, other = first(names), first(names[::-1])
    assert one == other
    assert len(set(one.values())) > 1
    assert len(set(first(names, phase="common").values())) == 1


def test_equal_sources_that_are_too_much_do_not_lose_by_their_number():
    def slots(seed: int) -> tuple[int, int]:
        written = {
            "network": {
                "topology": "dumbbell",
                "nodes": 2,
                "link_rate": "55 Mb/s",
                "link_delay": "5 ms",
            },
            "ops": {},
            "flows": [{"from": "left2", "to": "right2", "start": "800 s"}],
            "traffic": [{**udp(f"left{n}", "40 Mb/s"), "to": "right1"} for n in (1, 2)],
            "run": {"duration": "5 s", "seed": seed},
        }
        edges = {edge["from"]: edge["slots"] for edge in bl.run(written).ops[0]["edges"]}
        return edges["left1"], edges["left2"]

    got = [slots(seed) for seed in range(1, 21)]
    ahead = sum(one > other for one, other in got)
    assert 4 <= ahead <= 16
