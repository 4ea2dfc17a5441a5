"""Shihada et al. 2006: every target with tiny runs, and what its scenario is meant to be."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from briefly import briefly, check_report

from burstlab.analytic import shihada
from burstlab.papers.shihada2006_vegas.rounds import rounds
from burstlab.reproduce.engine import Options, reproduce
from burstlab.reproduce.paper import Paper, select
from burstlab.simulation import run_resolved

((PAPER, _),) = select(["shihada/fig5"])

TINY = {"duration": "40 s", "first": 2, "batch": 1, "most": 2, "precision": 1.0}

#: Claims that hold in however short a run, by the start of their text.
CERTAIN = {
    "fig1": ["After a time-out", "The sender idles", "Slow start doubles", "C to D takes", "(16)"],
    "fig2": ["From C on", "Where Diff_D"],
    "equations": ["Diff, the last line", "RTO f(p)", "W_0 stays", "pi_i = r^i"],
}


def _shorten(plans):
    for target in PAPER.targets:
        plan = plans[target]
        plan["quick"] = TINY
        if "round_level_s" in plan:
            plan["round_level_s"] = 1e4
        if target == "equations":
            plan["quick"] = {"rounds_s": 1e4}
        if target in ("fig3", "collapse"):
            plan["quick"] = {"duration": "300 s", "most": 2}
        for one in plan.get("runs", []):
            if target != "fig1" and target != "fig2":
                one["set"]["run.duration"] = "60 s"
        for grid in plan.values():
            if isinstance(grid, dict):
                grid.pop("quick", None) if "points" in grid else None
        if target == "load":
            plan["quick"] = {**TINY, "duration": "6 s", "warmup": "3 s"}


@pytest.fixture(scope="module")
def tiny():
    """Run a target briefly, once."""
    return briefly(PAPER, _shorten)


@pytest.mark.parametrize("target", PAPER.targets)
def test_every_claim_finds_its_measures(tiny, target):
    # In 40 s a sender may get nothing through where a third of all attempts contend.
    check_report(tiny(target), f"shihada/{target}", CERTAIN, finite=target != "load")


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
    network = one.network
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
    again = sum(one.network["all"]["resolutions"]["resent"] for one in runs)
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


def test_rounds_are_read_off_a_trace():
    scenario = fast_flow(
        core__injection__data=0.0,
        loss__data={"process": "every", "n": 20},
        tcp__window=16,
        tcp__vegas_rules="paper",
        run__duration="20 s",
        run__warmup="0 s",
    )
    seen = rounds(run_resolved(scenario, range(1), trace=["cwnd"]).cwnd, 0.02)
    first, last = np.flatnonzero(seen.lost)[-2:]
    # Every 20th burst is lost: 19 rounds between two time-outs, of the sizes that Vegas takes.
    sizes = seen.segments[first + 1 : last]
    assert sizes.tolist() == [2, 2, 4, 4, *range(8, 17), *[16] * 6]
    since = seen.since_top(16)[first:last]
    assert since.tolist() == [-1] * 13 + list(range(7))


def test_a_run_of_full_length_stands_beside_the_replications():
    plans = copy.deepcopy(dict(PAPER.plans))
    _shorten(plans)
    plans["fig5"]["quick"] = {**TINY, "whole": "60 s", "whole_points": ["1e-3", "1e-2"]}
    short = Paper(PAPER.directory, plans)
    found = [reproduce(short, "fig5", Options(jobs=jobs)) for jobs in (1, 2)]
    assert found[0].findings.rows == found[1].findings.rows
    assert found[0].fingerprint == found[1].fingerprint
    labels = [row.label for row in found[0].findings.rows if "one run of 60 s" in row.label]
    assert len(labels) == 4
