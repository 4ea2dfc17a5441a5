"""Today's TCP compared with that of 2004: measures, and points that a quick run leaves out."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import pytest

from burstlab.papers.today2026_stacks import measures
from burstlab.reproduce.context import Context
from burstlab.reproduce.grid import Corner, runs_of
from burstlab.reproduce.paper import papers

(TODAY,) = (paper for paper in papers() if paper.key == "today")


def context(target, effort="quick"):
    return Context(TODAY, target, effort, None, 1, lambda share, label: None)


def sample(*goodputs: float, lost: tuple[int, ...] = (), false: tuple[int, ...] = ()) -> Any:
    flows = [
        {"goodput_bps": goodput, "bursts_lost": a, "false_timeouts": b}
        for goodput, a, b in zip(
            goodputs, lost or (0,) * len(goodputs), false or (0,) * len(goodputs), strict=True
        )
    ]
    return SimpleNamespace(summary={"flows": flows, "simulated_s": 10.0})


def corner(**samples):
    return Corner("group", "point", 0.0, None, samples, reached=True)


def test_ratios_are_geometric_means_replication_by_replication():
    row = [
        corner(a=[sample(2e6, 2e6), sample(8e6)], b=[sample(1e6), sample(1e6)]),
        corner(a=[sample(1e6), sample(2e6)], b=[sample(1e6), sample(1e6)]),
    ]
    found = measures.over(row, "a", "b")
    # Two replications: sqrt(4 * 1) and sqrt(8 * 2).
    assert found.mean == pytest.approx(math.sqrt(2 * 4))
    assert found.n == 2


def test_flow_by_flow_each_counts_alike():
    row = [corner(a=[sample(100e6, 4e6)], b=[sample(100e6, 1e6)])]
    assert measures.flow_by_flow(row, "a", "b").mean == pytest.approx(2.0)
    assert measures.over(row, "a", "b").mean == pytest.approx(104 / 101)
    # One that brings nothing through counts as if it were a segment of 1460 bytes in the run.
    row = [corner(a=[sample(1168.0 * 9)], b=[sample(0.0)])]
    assert measures.flow_by_flow(row, "a", "b").mean == pytest.approx(9.0)


def test_false_timeouts_are_counted_per_lost_burst():
    assert measures.false_timeouts(sample(1, 1, lost=(3, 1), false=(1, 1))) == 0.5
    assert measures.false_timeouts(sample(1)) == 0.0


@pytest.mark.parametrize("target", ["nsfnet", "wlan", "forms"])
def test_quick_leaves_out_what_the_plan_names_and_full_nothing(target):
    plan = TODAY.plans[target]
    grid = plan["grid"]
    quick, full = (list(runs_of(context(target, effort), "grid")) for effort in ("quick", "full"))
    assert {one.label for one in quick} <= {one.label for one in full}
    assert len({one.label for one in full}) == len(full)
    labels = {one["label"] for one in grid["series"]}
    assert {one.series for one in full} == labels
    for kind in ("points", "groups", "series"):
        named = plan["quick"].get(kind)
        attribute = kind.removesuffix("s") if kind != "series" else kind
        every = {getattr(one, attribute) for one in quick}
        assert named is None or every == set(named), kind


def test_what_quick_names_is_in_the_grid():
    plan = TODAY.plans["stacks"]
    for kind in ("points", "groups", "series"):
        named = plan["quick"][kind]
        assert len(named) == len(set(named))
        assert set(named) < {one["label"] for one in plan["grid"][kind]}, kind


def test_quick_runs_each_sender_where_something_is_told_of_it():
    plan = TODAY.plans["stacks"]
    every = {(one.group, one.point): set() for one in runs_of(context("stacks"), "grid")}
    for one in runs_of(context("stacks"), "grid"):
        every[one.group, one.point].add(one.series)
    # The bound of BBR is over all corners.
    groups, points = plan["quick"]["groups"], plan["quick"]["points"]
    assert set(every) == {(group, point) for group in groups for point in points}
    assert all({"BBR, RFC 6675", "BBR, RACK"} <= senders for senders in every.values())
    # Laws and detectors are compared where a window is in few bursts.
    compared = [every[group, point] for group in plan["whole_window"] for point in plan["moderate"]]
    assert all(senders == set(plan["quick"]["series"]) for senders in compared)
    # The gain of a detector needs the sender without it.
    alone = [every[group, point] for group in plan["one_packet"] for point in plan["moderate"]]
    for senders in alone:
        assert senders == alone[0] >= {"Reno, oracle", "SACK, oracle", "CUBIC, RACK, BLE"}
        assert {one.removesuffix(", BLE").removesuffix(", oracle") for one in senders} <= senders


def test_full_runs_of_two_targets_are_of_the_whole_grid(monkeypatch):
    # Thousands of scenarios, which need not be resolved here.
    monkeypatch.setattr(Context, "scenario", lambda self, settings: settings)
    found = {
        name: {
            (one.group, one.point, one.series): one.settings
            for one in runs_of(context(name, "full"), "grid")
        }
        for name in ("stacks", "ends")
    }
    grid = TODAY.plans["stacks"]["grid"]
    whole = {
        (group["label"], point["label"], name)
        for group in grid["groups"]
        for point in grid["points"]
        for name in group.get("series", [one["label"] for one in grid["series"]])
    }
    assert found["stacks"].keys() | found["ends"].keys() == whole
    # At one point some senders were not precise within what `stacks` runs at most.
    both = found["stacks"].keys() & found["ends"].keys()
    assert {(group, point) for group, point, _ in both} == {("fast, T_b = 20 ms", "1e-1")}
    # A grid like another has its settings.
    assert all(found["stacks"][one] == found["ends"][one] for one in both)


def test_an_effort_that_names_what_is_not_there_is_a_fault_of_the_plan():
    here = context("wlan")
    plans = {**TODAY.plans, "wlan": {**here.plan, "quick": {**here.plan["quick"], "points": ["1"]}}}
    paper: Any = SimpleNamespace(plans=plans, directory=TODAY.directory)
    here.paper = paper
    with pytest.raises(ValueError, match="points of an effort: the grid has no"):
        list(runs_of(here, "grid"))
