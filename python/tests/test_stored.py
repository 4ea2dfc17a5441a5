"""What a scenario stores."""

from __future__ import annotations

import pytest

import burstlab as bl


@pytest.mark.parametrize(
    ("tables", "flows"),
    [
        ({}, 1),
        ({"wlan": [{}]}, 1),
        ({"access": {"shared": True}, "traffic": [{"rate": "100 kb/s"}]}, 0),
        ({"network": {"topology": "line"}, "traffic": [{"rate": "100 kb/s"}]}, 0),
        ({"network": {"topology": "line"}, "ops": {}, "traffic": [{"rate": "100 kb/s"}]}, 0),
        ({"network": {"topology": "line"}, "demand": [{"size": {"mean": "1 KB"}}]}, 0),
        ({"network": {"topology": "line"}, "bursts": [{"length": {"mean": "1 KB"}}]}, 0),
        ({"network": {"topology": "line"}, "batches": [{"size": {"mean": "1 KB"}}]}, 0),
    ],
)
def test_a_flow_that_nobody_asked_for_is_there_only_where_nothing_else_sends(tables, flows):
    result = bl.run({**tables, "run": {"duration": "100 ms"}})
    assert (len(result.flows), len(result.scenario["flows"])) == (flows, flows)
    assert bl.run(result.scenario).fingerprint == result.fingerprint
