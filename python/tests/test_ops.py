"""A slotted network in the API and on the command line."""

from __future__ import annotations

import copy
from typing import Any

import pytest

import burstlab as bl

SCENARIO: dict[str, Any] = {
    "network": {
        "topology": "star",
        "nodes": 3,
        "link_rate": "10 Mb/s",
        "link_delay": "2 ms",
    },
    "access": {"rate": "100 Mb/s", "delay": "5 ms"},
    "ops": {
        "unsmoothed": ["2"],
        "buffer": 4,
        "congestion": {"threshold": 0.5, "rtt_max": "50 ms"},
        "dlcc": {},
    },
    "tcp": {"variant": "reno", "segment_size": "576 B", "window": 200},
    "flows": [{"count": 3, "from": "1", "to": "3"}],
    "traffic": [
        {
            "pattern": "periodic",
            "period": "1 s",
            "rate": "6 Mb/s",
            "packet_size": "576 B",
            "from": "2",
            "to": "3",
        }
    ],
    "run": {"duration": "10 s"},
}


def changed(**ops):
    scenario = copy.deepcopy(SCENARIO)
    scenario["ops"].update(ops)
    return scenario


def test_what_a_slotted_network_counts():
    result = bl.run(SCENARIO, replications=2, trace=("ledger",))
    assert len(result.ops) == 2
    assert result.network == []
    for ops in result.ops:
        dropped = ops["slots_dropped_contention"] + ops["slots_dropped_congestion"]
        assert ops["slots_sent"] == ops["slots_delivered"] + dropped + ops["slots_in_flight"]
        assert 0 < ops["buffer_max"] <= 4
        assert ops["notifications"] == ops["slots_dropped_congestion"] > 0
        hub = next(switch for switch in ops["switches"] if switch["node"] == "hub")
        assert hub["dropped"] == dropped
    assert result.estimates()["ops.slots_sent"]["n"] == 2
    causes = set(result.ledger["cause"])
    assert causes & {"contention", "congestion"}
    lost = result.ledger_losses.where(cause="congestion")
    assert set(lost["port"]) == {bl_node("3")}


def test_short_windows_are_obeyed():
    prints = {
        window: bl.run(changed(congestion={"threshold": 0.0, "loss_window": window})).fingerprint
        for window in ("0.5 ms", "2 ms", "5 ms", "14 ms", "14.3 ms")
    }
    # A slot takes 0.4608 ms: 1, 4, 10, 30 and 31 slots.
    assert len(set(prints.values())) == len(prints)


def bl_node(name):
    """Return the number of a node of a star: the hub is the first."""
    return {"hub": 1, "1": 2, "2": 3, "3": 4}[name]


def test_any_number_of_workers_gives_the_same_numbers():
    one, two = (bl.run(SCENARIO, replications=3, jobs=jobs) for jobs in (1, 2))
    assert one.ops == two.ops
    assert one.fingerprint == two.fingerprint


@pytest.mark.parametrize(
    ("ops", "path"),
    [
        ({"buffer": -1}, "ops.buffer"),
        ({"order": "fair"}, "ops.order"),
        ({"unsmoothed": ["hub"]}, "ops.unsmoothed"),
        ({"dlcc": {"filter": "some"}}, "ops.dlcc.filter"),
        ({"slots": 3}, "ops.slots"),
    ],
)
def test_mistakes_name_the_field(ops, path):
    with pytest.raises(bl.ScenarioError) as error:
        bl.resolve(changed(**ops))
    assert path in str(error.value)
    assert "fix: " in str(error.value)
