"""Shihada et al. 2006: every target with tiny runs, and what its scenario is meant to be."""

from __future__ import annotations

import numpy as np
import pytest
from briefly import briefly, check_report

from burstlab.analytic import shihada
from burstlab.reproduce.paper import select
from burstlab.simulation import run_resolved

((PAPER, _),) = select(["shihada/fig5"])

TINY = {"duration": "40 s", "first": 2, "batch": 1, "most": 2, "precision": 1.0}

#: What holds in however short a run, by the start of its claim.
CERTAIN = {
    "fig5": ["The average round-trip time is about 100 ms"],
}


def _shorten(plans):
    for target in PAPER.targets:
        plan = plans[target]
        plan["quick"] = TINY
        if "round_level_s" in plan:
            plan["round_level_s"] = 1e4
        for one in plan.get("runs", []):
            one["set"]["run.duration"] = "60 s"
        for grid in plan.values():
            if isinstance(grid, dict):
                grid.pop("quick", None) if "points" in grid else None


@pytest.fixture(scope="module")
def tiny():
    """Run a target briefly, once."""
    return briefly(PAPER, _shorten)


@pytest.mark.parametrize("target", PAPER.targets)
def test_every_claim_finds_its_measures(tiny, target):
    check_report(tiny(target), f"shihada/{target}", CERTAIN)


@pytest.mark.parametrize("target", ["fig5", "fig6"])
def test_every_published_value_has_a_measured_one(tiny, target):
    report = tiny(target)
    published = {label for name, label in PAPER.published if name == target}
    assert published == {row.label for row in report.findings.rows if row.published is not None}


def fast_flow(**settings):
    """Resolve the scenario with changes, paths written with double underscores."""
    from burstlab.loading import set_at, to_document
    from burstlab.simulation import resolve

    document = to_document(PAPER.directory / "fast_flow.toml")
    for path, value in settings.items():
        set_at(document, path.replace("__", "."), value)
    return resolve(document)


def test_the_flow_is_fast_and_keeps_its_largest_window():
    scenario = fast_flow(core__injection__data=0.0, run__duration="60 s", run__warmup="20 s")
    (one,) = run_resolved(scenario, range(1)).replications
    network = one.summary["network"]
    assert network["segments_per_burst"] == 128
    assert one.summary["flows"][0]["goodput_bps"] / 1e6 == pytest.approx(
        128 * 0.96 * 8 / 100, rel=0.05
    )


def test_bursts_contend_as_often_as_the_plan_says_where_half_of_it_costs_the_burst():
    (point,) = PAPER.plans["fig6"]["half"]["points"]
    settings = {path.replace(".", "__"): value for path, value in point["set"].items()}
    scenario = fast_flow(core__contention=["retransmission"], run__duration="2000 s", **settings)
    runs = run_resolved(scenario, range(4), jobs=2).replications
    sent = sum(one.summary["counters"]["bursts_sent"] for one in runs)
    lost = sum(one.summary["counters"]["bursts_lost"] for one in runs)
    again = sum(one.summary["network"]["all"]["resolutions"]["resent"] for one in runs)
    # Five standard deviations.
    for count, chance in ((lost, point["p"]), (again, point["x"] - point["p"])):
        assert abs(count - sent * chance) < 5 * (sent * chance) ** 0.5


def test_packets_rounds_and_formula_agree():
    """At p_c = 1e-3, where an interval is narrow soon."""
    scenario = fast_flow(run__duration="3000 s", core__contention=["retransmission"])
    values = [
        one.summary["flows"][0]["segments_delivered"] / one.summary["measured_s"]
        for one in run_resolved(scenario, range(2), jobs=2).replications
    ]
    formula = float(shihada.retransmission_throughput(1e-3, 128, 0.1, 0.121, 0.2, goodput=True))
    assert np.mean(values) == pytest.approx(formula, rel=0.005)
