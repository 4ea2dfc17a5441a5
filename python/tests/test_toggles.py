"""A field whose value moves no number of a run is refused, or doubted; else a reason stands here.

`toggles.py` looks at all fields of all kinds of scenarios. Here some are drawn, always the same.
"""

from __future__ import annotations

import random  # noqa: TID251 - the draw is made from a constant

import pytest
import toggles

#: Why a field may move nothing in a scenario that accepts its value without a word. They hold for
#: these scenarios, and another one of the same kind comes to the field.
LOAD = "it counts once more waits, or is lost, than here"
ONE = "it counts once there are several flows, or routes, than here"
REASONS = {
    "access.queue": LOAD,
    "access.queue_bytes": LOAD,
    "access.receiver": LOAD,
    "access.shared": ONE,
    "core.conversion": LOAD,
    "core.deflection": LOAD,
    "core.delay_lines": LOAD,
    "core.injection": LOAD,
    "core.retransmission": LOAD,
    "core.scheduler": LOAD,
    "core.segmentation": LOAD,
    "edge.ack.with_data": LOAD,
    "edge.burstifiers": ONE,
    "edge.queues": ONE,
    "network.routing": "all fibres of a ring, or a line, are as long",
    "network.route_choice": ONE,
    "ops.buffer": LOAD,
    "ops.congestion": LOAD,
    "ops.dlcc": LOAD,
    "ops.order": LOAD,
    "ops.smoothing": LOAD,
    "run.max_memory": "it bounds memory, and changes no number",
    "run.seed": "nothing is drawn",
    "run.tie_break": "no two events are at one instant",
    "signalling.processors": LOAD,
    "signalling.protocol": LOAD,
    "signalling.requests": LOAD,
    "signalling.retry": LOAD,
    "tcp": "it counts once a loss, a time-out or an idle time is as it says",
    "traffic[0].side": "access links of both sides are alike here",
    "wlan[0].sense_db": "all stations are near",
}

#: Fields of many values, which make a network or a run large.
LARGE = ("count", "nodes", "every", "replications", "duration", "bursts", "mean")

#: So many are drawn of the fields of each scenario.
SOME = 6


@pytest.mark.parametrize("name", toggles.BASES)
def test_a_field_that_moves_nothing_has_a_reason(name):
    base = toggles.BASES[name]
    plain = toggles.outcome(base)
    assert toggles.outcome(base) == plain
    fields = [
        (place, values)
        for place, values in toggles.fields(base)
        if place[-1] not in LARGE and "tcp" not in place[1:] and values
    ]
    draw = random.Random(f"toggles {name}")
    for place, values in draw.sample(fields, SOME):
        found = toggles.idle(base, place, values, plain)
        path = toggles.path_of(place)
        assert not found or any(path.startswith(one) for one in REASONS), (path, found)


@pytest.mark.parametrize(
    ("name", "field", "value"),
    [
        ("path", ("edge", "notice_size"), "1 KB"),
        ("path", ("flows", 0, "closes"), False),
        ("mesh, traffic alone", ("traffic", 0, "shape"), 1.3),
    ],
)
def test_a_field_that_nothing_uses_is_refused_with_its_fix(name, field, value):
    import burstlab as bl

    base = dict(toggles.BASES[name])
    if field[0] == "flows":
        base["flows"] = [{}]
    with pytest.raises(bl.ScenarioError) as error:
        bl.resolve(toggles.with_field(base, field, value))
    assert error.value.path.startswith(str(field[0])) and "remove it" in error.value.fix
    assert bl.resolve(base)


@pytest.mark.parametrize(
    ("name", "field", "value"),
    [
        ("path", ("edge", "notices"), "in-band"),
        ("path, a cell", ("wlan", 0, "long_retries"), 9),
        ("path, traffic alone", ("edge", "offset"), "1 ms"),
        ("path, traffic alone", ("loss", "data", "process"), "script"),
        ("mesh, bursts alone", ("access", "rate"), "3 Mb/s"),
        ("mesh, bursts alone", ("edge", "queues"), "flow"),
        ("mesh, batches alone", ("core", "injection", "data"), 0.5),
        ("slots, traffic alone", ("access", "delay"), "2 ms"),
    ],
)
def test_a_field_that_another_scenario_of_a_series_uses_is_named(name, field, value):
    import burstlab as bl

    said = bl.run(toggles.with_field(toggles.BASES[name], field, value)).warnings
    named = [one for one in said if one.startswith(str(field[0])) and "no effect" in one]
    assert named and named[0].endswith("or remove it"), said


def test_the_page_of_sliders_leaves_out_notices_that_nobody_listens_to():
    import burstlab as bl
    from burstlab.page.controls import applied

    base = toggles.BASES["path, detectors"] | {"edge": {"assembly": "timer", "timer": "1 ms",
                                                       "notices": "in-band"}}  # fmt: skip
    assert bl.resolve(applied(base, {"detector": "bnak"}))["edge"]["notices"] == "in-band"
    assert bl.resolve(applied(base, {"detector": "none"}))["edge"]["notices"] == "out-of-band"
