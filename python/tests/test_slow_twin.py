"""Every burst of random meshes, decided a second time by a slow twin that knows the pages alone."""

from __future__ import annotations

import os
from collections import Counter

import pytest
from slow_twin.feeding import judge
from slow_twin.scenarios import FEATURES, SCHEDULERS, mesh

#: Meshes of each feature under each scheduler; several hundred in all where somebody has time.
MESHES = int(os.environ.get("BURSTLAB_TWIN_MESHES", "1"))
CASES = [(group, name) for group, names in FEATURES.items() for name in names]


@pytest.mark.parametrize(("group", "name"), CASES, ids=lambda part: part.replace(" ", "-"))
def test_the_twin_agrees_burst_by_burst(group, name):
    seen: Counter[str] = Counter()
    for turn in range(MESHES):
        for place, scheduler in enumerate(SCHEDULERS):
            seed = 1 + place + len(SCHEDULERS) * turn
            scenario = mesh(seed, FEATURES[group][name], scheduler)
            happened, found = judge(scenario)
            assert not found, f"seed {seed}, {scheduler}, {len(found)} differ:\n" + "\n".join(
                found[:5]
            )
            seen += happened
    assert seen["tied"] <= MESHES * len(SCHEDULERS) / 3, seen
    assert seen["contentions"] > 0.02 * seen["bursts"] or group == "headers", seen


WRONG = [
    ("wavelengths", "full", "first-fit", {"scheduler": "ff-vf"}),
    ("wavelengths", "full", "first-fit", {"scheduler": "horizon"}),
    ("wavelengths", "full", "horizon", {"scheduler": "lauc-vf"}),
    ("wavelengths", "full", "lauc-vf", {"scheduler": "ff-vf"}),
    ("wavelengths", "full", "lauc-vf", {"scheduler": "best-fit"}),
    ("delay lines", "far", "ff-vf", {"scheduler": "min-ev"}),
    ("wavelengths", "full", "min-ev", {"scheduler": "best-fit"}),
    ("wavelengths", "limited", "lauc-vf", {"conversion_range": 2}),
    ("wavelengths", "limited", "lauc-vf", {"conversion": "none"}),
    ("wavelengths", "late", "lauc-vf", {"contention": []}),
    ("wavelengths", "switching", "lauc-vf", {"switching": 0}),
    ("wavelengths", "full", "lauc-vf", {"class_offsets": []}),
    ("wavelengths", "routes in turn", "lauc-vf", {"route_choice": "first"}),
    ("converters", "of a node", "lauc-vf", {"converters": None}),
    ("converters", "of a node", "lauc-vf", {"converters": 2}),
    ("converters", "of a node", "lauc-vf", {"converters_shared": "output"}),
    ("converters", "of an output", "lauc-vf", {"converters_shared": "node"}),
    ("nodes that differ", "conversion at two", "lauc-vf", {"nodes": {}}),
    ("nodes that differ", "scheduler", "lauc-vf", {"nodes": {}}),
    ("nodes that differ", "other lines", "lauc-vf", {"nodes": {}}),
    ("nodes that differ", "groups", "lauc-vf", {"nodes": {}}),
    ("protocols", "jit", "lauc-vf", {"protocol": "jet"}),
    ("protocols", "two-way", "lauc-vf", {"protocol": "jet"}),
    ("protocols", "two-way", "lauc-vf", {"requests": 2}),
    ("protocols", "two-way", "lauc-vf", {"retry": 201_000_000}),
    ("headers", "one processor", "lauc-vf", {"processors": 2}),
    ("headers", "two processors, two channels", "lauc-vf", {"channels": 1}),
    ("delay lines", "round", "lauc-vf", {"passes": 2}),
    ("delay lines", "round", "lauc-vf", {"line_channels": 1}),
    ("delay lines", "one on a path", "lauc-vf", {"passes_on_path": 2}),
    ("delay lines", "switching", "lauc-vf", {"switching_of_lines": 0}),
    ("deflection", "two fibres more", "lauc-vf", {"hop_limit": 1}),
    ("segmentation", "trailers", "lauc-vf", {"trailer": False}),
    ("retransmission", "copies", "lauc-vf", {"attempts": 1}),
    ("retransmission", "copies", "lauc-vf", {"wait": 0}),
    ("retransmission", "little room", "lauc-vf", {"buffer": 300_000}),
]


@pytest.mark.parametrize(("group", "name", "scheduler", "choice"), WRONG)
def test_a_twin_with_another_rule_disagrees(group, name, scheduler, choice):
    """The twin can distinguish the rules that it judges."""
    for seed in range(1, 25):
        scenario = mesh(seed, FEATURES[group][name], scheduler)
        _, found = judge(scenario, **choice)
        if found:
            return
    raise AssertionError("no mesh distinguishes the two rules")
