"""The ACKs that a sender receives, from the table of segments and from the ACKs of a run."""

from __future__ import annotations

import copy
from dataclasses import replace

import pytest

import burstlab as bl
from burstlab import plot
from burstlab.export.capture import ACK, sights
from burstlab.export.heard import acknowledged, heard


@pytest.fixture(scope="module")
def result():
    """Bursts are lost, and the repair takes a while."""
    scenario = {
        "edge": {"assembly": "timer", "timer": "10 ms"},
        "tcp": {"variant": "new-reno", "window": 40},
        "loss": {"data": {"process": "script", "carrying": [200, 400]}},
        "run": {"duration": "6 s"},
    }
    return bl.run(scenario, trace=("packets",))


def _of_a_stack(result: bl.Result) -> bl.Result:
    """Return the same result, of a third-party stack."""
    scenario = copy.deepcopy(dict(result.scenario))
    scenario["flows"][0]["stack"] = "quinn"
    return replace(result, scenario=scenario)


def _highest(passing):
    """Return when the highest acknowledged segment moved, and where to."""
    moved, highest = {}, 0
    for sight in passing:
        if sight.kind == ACK and sight.seq > highest:
            highest = sight.seq
            moved[sight.time_ps] = highest
    return moved


def test_segments_tell_what_acks_tell(result):
    shown = _highest(sights(result, "sender", flow=0))
    assert len(shown) > 100
    times, highest = acknowledged(result, 0)
    found = dict(zip(times.tolist(), highest.tolist(), strict=True))
    assert {time: segment for time, segment in found.items() if segment > 0} == shown


def test_acks_of_a_stack_tell_what_they_acknowledge(result):
    stack = _of_a_stack(result)
    assert _highest(heard(stack, 0)) == _highest(heard(result, 0))
    rows = plot.sequence_rows(stack)
    assert rows == plot.sequence_rows(result)


def test_before_the_first_ack_nothing_is_acknowledged(result):
    first = next(sight for sight in heard(_of_a_stack(result), 0) if sight.kind == ACK)
    assert first.seq <= 0
