"""Why bursts are lost: each cause against the steps of the signalling, and what cutting took."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from audit import causes
from audit.checks import Audit
from audit.network import Bursts
from audit.result import Run
from test_mesh_single_bursts import mesh, packet, traced

import burstlab as bl

#: Batches on all pairs of NSFNET, with more load than four wavelengths of a fibre carry.
BATCHES: dict[str, Any] = {
    "network": {"topology": "nsfnet", "wavelengths": 4, "link_rate": "10 Gb/s"},
    "edge": {"port": "shared", "assembly": "timer", "timer": "1 us"},
    "batches": [
        {
            "batches_per_second": 1500.0,
            "size": {"distribution": "exponential", "mean": "125 KB"},
            "packet_size": "1250 B",
        }
    ],
    "run": {"duration": "60 ms", "seed": 5},
}

#: Packets of TCP and UDP on a ring whose fibres are short of wavelengths.
RING: dict[str, Any] = {
    "network": {"topology": "ring", "nodes": 5, "link_rate": "1 Gb/s", "link_delay": "200 us"},
    "edge": {"port": "shared", "assembly": "hybrid", "timer": "300 us", "size": "20 KB"},
    "demand": [{"flows_per_second": 40, "size": {"distribution": "exponential", "mean": "40 KB"}}],
    "bursts": [{"erlangs": 0.15, "length": {"distribution": "exponential", "mean": "15 KB"}}],
    "signalling": {"guard": "3 us"},
    "run": {"duration": "200 ms", "seed": 8},
}

#: Times at which fibres of the ring are down.
FAILURES: list[dict[str, Any]] = [
    {"link": ["1", "2"], "down": "40 ms", "up": "70 ms"},
    {"link": ["3", "4"], "down": "100 ms", "up": "160 ms", "one_way": True},
    {"node": "5", "down": "120 ms", "up": "140 ms", "reroute": "5 ms"},
]

_SLOW = {"processors": 1, "processing": "20 us", "guard": "6 us"}

SETTINGS: dict[str, dict[str, Any]] = {
    "cutting": {**BATCHES, "core": {"contention": ["segmentation"]}},
    "cutting with trailers": {
        **BATCHES,
        "core": {"contention": ["segmentation"], "segmentation": {"trailer": True}},
    },
    "cutting, failures": {
        **BATCHES,
        "core": {"contention": ["segmentation"]},
        "failures": [{"node": "6", "down": "10 ms", "up": "40 ms"}],
    },
    "cutting, late headers": {
        **RING,
        "core": {"contention": ["segmentation"]},
        "signalling": _SLOW,
        "failures": FAILURES,
    },
    "deflection": {**RING, "core": {"contention": ["deflection"]}, "failures": FAILURES},
    "delay lines that are full": {
        **RING,
        "core": {"contention": ["delay-line"], "delay_lines": {"delays": ["50 us"]}},
    },
    "copies": {
        **RING,
        "core": {"contention": ["segmentation", "retransmission"]},
        "failures": FAILURES,
    },
    "late headers": {**RING, "signalling": _SLOW, "failures": FAILURES},
    "two-way": {
        **RING,
        "signalling": {"protocol": "two-way", "requests": 2, "processors": 1},
        "failures": FAILURES,
    },
    "a queue at the ingress": {
        **RING,
        "edge": {**RING["edge"], "port": "fifo"},
        "core": {"contention": ["segmentation"]},
        "failures": FAILURES,
    },
    "converters": {
        **RING,
        "network": {**RING["network"], "wavelengths": 2},
        "bursts": [{"erlangs": 0.3, "length": {"distribution": "exponential", "mean": "15 KB"}}],
        "core": {"contention": ["conversion"], "converters": {"number": 1}},
    },
    "injected contention": {
        **RING,
        "core": {"contention": ["deflection"], "injection": {"data": 0.05, "ack": 0.05}},
    },
}

#: Events that some setting has to meet, or nothing is shown.
MET = {
    "cutting": {"cut"},
    "cutting with trailers": {"cut"},
    "cutting, failures": {"cut", "failure"},
    "cutting, late headers": {"late-header", "failure"},
    "deflection": {"contention", "failure"},
    "delay lines that are full": {"contention"},
    "copies": {"failure"},
    "late headers": {"contention", "late-header", "failure"},
    "two-way": {"blocked", "failure"},
    "a queue at the ingress": {"failure"},
    "converters": {"contention", "no-converter"},
    "injected contention": {"contention", "injected-contention"},
}


@pytest.mark.parametrize("name", SETTINGS)
def test_each_cause_is_what_the_steps_tell(tmp_path: Path, name: str):
    result = bl.run(SETTINGS[name], trace=("packets", "bursts"), out=tmp_path / "out")
    run = Run(tmp_path / "out", result.scenario)
    bursts, audit = Bursts(run), Audit(run.summary)
    causes.check(run, audit, bursts)
    assert not audit.problems, "\n".join(audit.problems[:20])
    found = Counter(bursts.table["cause"][bursts.lost].tolist())
    assert set(found) >= MET[name], found


def test_a_burst_that_was_cut_to_nothing_is_lost_to_cutting_wherever_its_header_ends(tmp_path):
    """Its header finds no path further on, where no burst is left to be lost."""
    result = bl.run(SETTINGS["cutting"], trace=("bursts",), out=tmp_path / "out")
    bursts = Bursts(Run(tmp_path / "out", result.scenario))
    table = bursts.table
    nothing = (table["packets"] > 0) & (bursts.packets_cut == table["packets"])
    ended = bursts.fate != "in-flight"
    assert set(table["cause"][nothing & ended]) == {"cut"}
    early = nothing & bursts.lost & (table["node"] != table["to"])
    assert early.sum() > 10, "their headers ended before the egress"
    assert (table["cause"][bursts.lost & ~nothing] != "cut").all()
    assert (table["rival"][early] == -1).all(), "no burst held the wavelength of one that was gone"
    (network,) = result.network
    listed = {one["cause"]: one["bursts"] for one in network["all"]["causes"]}
    assert listed["cut"] == (nothing & bursts.ended).sum()
    assert sum(listed.values()) == network["all"]["bursts_lost"]
    of_nodes = sum(node["all"]["contention"] for node in network["nodes"])
    assert of_nodes == listed["contention"]
    counters: Any = result.counters
    states = ("delivered", "lost", "in_flight")
    for what in ("background_bursts", "batch_packets", "batch_bytes"):
        parts = sum(counters[f"{what}_{state}"] for state in states)
        assert counters[f"{what}_sent"] == parts


def test_bursts_without_packets_of_which_nothing_is_left_are_lost_to_cutting(tmp_path):
    scenario = {
        **BATCHES,
        "batches": [],
        "core": {"contention": ["segmentation"]},
        "signalling": {"switching": "40 us", "guard": "50 us"},
        "bursts": [{"erlangs": 0.15, "length": {"distribution": "fixed", "mean": "125 KB"}}],
    }
    result = bl.run(scenario, trace=("bursts",), out=tmp_path / "out")
    bursts = Bursts(Run(tmp_path / "out", result.scenario))
    table = bursts.table
    nothing = bursts.lost & (bursts.bytes_cut == table["load"])
    assert (nothing & (table["node"] != table["to"])).sum() > 5
    assert set(table["cause"][nothing]) == {"cut"}
    assert "cut" not in set(table["cause"][bursts.lost & ~nothing])


def test_a_two_way_request_whose_last_refusal_was_for_time_is_blocked():
    """It asks twice: first the fibre is down, then its header waits for those of six others."""
    first, *_ = traced(
        mesh(
            ["ab"],
            "ab",
            edge={"port": "shared"},
            signalling={
                "protocol": "two-way",
                "requests": 2,
                "retry": "2 ms",
                "processors": 1,
                "processing": "10 us",
                "switching": "50 us",
                "guard": "80 us",
            },
            traffic=[packet("a", "b", 0), *(packet("a", "b", 2000) for _ in range(6))],
            failures=[{"link": ["a", "b"], "down": "0 s", "up": "1 ms"}],
            network={
                "topology": "custom",
                "link_rate": "1 Gb/s",
                "wavelengths": 8,
                "node": [{"name": "a"}, {"name": "b"}],
                "link": [{"from": "a", "to": "b", "delay": "1 ms"}],
            },
        )
    )[0]
    # It asks again at 2010 us and is to leave at 2100 us; the header before it is done at 2060 us.
    assert (first["attempts"], first["cause"]) == (2, "blocked"), "the fibre was up"
