"""Values and names that belong to another field: the fix names it, and holds once applied."""

from __future__ import annotations

import copy
import json
import re
from typing import Any

import pytest

import burstlab as bl
from burstlab.loading import set_at, steps_of
from burstlab.simulation import resolve

BASE: dict[str, Any] = {"flows": [{}], "run": {"duration": "2 s"}}

#: A written field, and the text that the fix must have.
MISTAKES = [
    ("tcp.variant", "fast", 'tcp.window_law = "fast"'),
    ("tcp.variant", "aimd", 'tcp.window_law = "aimd"'),
    ("tcp.variant", "cubic", 'tcp.profile = "linux" and tcp.window_law = "cubic"'),
    ("tcp.variant", "ble", 'tcp.detector = "ble"'),
    ("tcp.window_law", "sack", 'tcp.variant = "sack"'),
    ("tcp.window_law", "reno", 'tcp.variant = "reno"'),
    ("tcp.detector", "bbr", 'tcp.window_law = "bbr" and tcp.profile = "linux"'),
    ("tcp.profile", "tahoe", 'tcp.variant = "tahoe"'),
    ("flows[0].tcp.variant", "fast", 'flows[0].tcp.window_law = "fast"'),
    ("edge.assembly", "nsfnet", 'network.topology = "nsfnet"'),
    ("access.queue", "100 KB", 'access.queue_bytes = "100 KB"'),
    ("access.receiver.queue", "100 KB", 'access.receiver.queue_bytes = "100 KB"'),
    ("access.queue", "100", "queue = 100"),
    ("access.queue_bytes", 100, "access.queue = 100"),
    ("tcp.window", "20", "window = 20"),
    ("tcp.queue", 5, "access.queue"),
    ("tcp.timer", "5 ms", "edge.timer"),
    ("tcp.mss", "1460 B", "tcp.segment_size"),
    ("edge.window", 5, "tcp.window"),
    ("flows[0].window", 5, "flows[0].tcp.window"),
    ("access.buffer", "10 KB", "access.queue_bytes"),
    ("network.seed", 5, "run.seed"),
    ("link_rate", "1 Gb/s", "network.link_rate"),
    ("duration", "1 s", "run.duration"),
    ("seed", 5, "run.seed"),
    ("run.duration", -1, '"5 ms"'),
    ("run.duration", "-1 s", '"5 ms"'),
    ("access.rate", -5, '"10 Gb/s"'),
    ("access.delay", "1e30 s", '"5 ms"'),
]


def removed(document: dict[str, Any], path: str) -> None:
    here: Any = document
    *steps, last = steps_of(path)
    for step in steps:
        here = here[int(step)] if isinstance(here, list) else here[step]
    del here[last]


@pytest.mark.parametrize(("path", "value", "says"), MISTAKES)
def test_the_fix_names_the_field_and_holds(path, value, says):
    wrong = copy.deepcopy(BASE)
    set_at(wrong, path, value)
    with pytest.raises(bl.ScenarioError) as refused:
        resolve(wrong)
    error = refused.value
    assert error.path == path and says in error.fix, error
    removed(wrong, path)
    said = re.findall(r"([\w.\[\]]+) = (\"[^\"]*\"|\d+)", error.fix)
    example = re.search(r"such as (\"[^\"]*\")", error.fix)
    names = re.search(r"write ([\w.\[\]]+)( or [\w.\[\]]+)* in its place", error.fix)
    if said:
        for name, text in said:
            place = name if "." in name else f"{path.rpartition('.')[0]}.{name}"
            set_at(wrong, place, json.loads(text))
    elif names:
        set_at(wrong, names[1], value)
    else:
        assert example, error
        set_at(wrong, path, json.loads(example[1]))
    try:
        resolve(wrong)
    except bl.ScenarioError as later:
        # The rest is another mistake, whose message names the missing part.
        assert later.path not in (path, *(name for name, _ in said)), later
        assert later.fix


@pytest.mark.parametrize(
    ("path", "value", "fix"),
    [
        ("loss.data.process", 0.1, "use one of none, bernoulli"),
        ("loss.data", 0.1, "write a table, with process"),
        ("tcp.window", "64 KB", "without a unit: the receiver's window"),
        ("tcp.windov", 5, "did you mean"),
        ("edge.assembly", "tymer", "timer"),
        ("nothing.like.it", 5, "use one of network"),
    ],
)
def test_what_is_no_field_of_anybody_says_what_there_is(path, value, fix):
    wrong = copy.deepcopy(BASE)
    set_at(wrong, path, value)
    with pytest.raises(bl.ScenarioError) as refused:
        resolve(wrong)
    assert fix in refused.value.fix
