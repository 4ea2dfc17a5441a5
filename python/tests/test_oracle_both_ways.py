"""Bursts of recordings with data both ways, as their scenarios number them."""

from __future__ import annotations

import copy
from collections import Counter
from typing import Any

import pytest

import burstlab as bl
from burstlab.oracle.both_ways import count_losses

PATH: dict[str, Any] = {
    "network": {"core_nodes": 1, "link_delay": "6 ms"},
    "access": {"rate": "12 Mb/s", "delay": "1 ms"},
    "edge": {"assembly": "none", "ack": {"assembly": "none"}},
    "tcp": {"profile": "linux", "window_law": "aimd"},
    "flows": [{"bytes": "140 KB", "reverse": {"bytes": "140 KB"}}],
    "run": {"duration": "10 s"},
}


def lost(document: dict[str, Any]) -> set[tuple[bool, int]]:
    """Return the bursts that a run loses, counted in each direction by themselves."""
    bursts = sorted(
        bl.run(document, trace="bursts").bursts.to_pylist(), key=lambda row: row["burst"]
    )
    seen: Counter[int] = Counter()
    found = set()
    for row in bursts:
        seen[row["from"]] += 1
        if row["fate"] == "lost":
            found.add((row["from"] != bursts[0]["from"], seen[row["from"]]))
    return found


@pytest.mark.parametrize(
    ("forth", "back"), [([40], []), ([], [30]), ([13, 40, 41], [5, 29, 60]), ([20, 50], [2])]
)
def test_the_bursts_that_are_lost_are_those_of_the_recording(forth, back):
    document = copy.deepcopy(PATH)
    document["loss"] = {
        kind: {"process": "script", "node": 0, "bursts": numbers}
        for kind, numbers in (("data", forth), ("ack", back))
        if numbers
    }
    wanted = {(False, number) for number in forth} | {(True, number) for number in back}
    assert lost(document) != wanted
    count_losses(document)
    assert lost(document) == wanted


def test_a_burst_behind_the_end_is_left_out():
    document = copy.deepcopy(PATH)
    document["loss"] = {"data": {"process": "script", "node": 0, "bursts": [40, 99_999]}}
    count_losses(document)
    assert lost(document) == {(False, 40)}
