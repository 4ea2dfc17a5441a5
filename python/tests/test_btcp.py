"""Burst TCP: the ledger in the API, and the targets of section V with tiny runs."""

from __future__ import annotations

import pytest
from briefly import briefly, check_report

import burstlab as bl
from burstlab.plot import Axes, Curve, CurvePanel, Dot, curve_chart
from burstlab.plot.heat import HeatCell, HeatLine, heat_chart
from burstlab.plot.saving import specification
from burstlab.reproduce.paper import select

#: How little of each target is enough to have every number that its claims ask for.
TINY = {
    "fig5a": {"bursts": 200, "losses": 1},
    "fig5b": {"bursts": 200, "losses": 1},
    "fig6": {},
    "fig7a": {"bursts": 400},
    "fig7b": {"bursts": 400},
    "table3": {"bursts": 400, "losses": 1},
    "table4": {"bursts": 400, "losses": 1},
    "table5": {"duration": "40 s"},
    "closed-form": {"bursts": 300, "losses": 1},
    "flow-classes": {},
    "each-hole": {},
    "rto-against-holes": {"bursts": 300, "losses": 1},
    "equation-11": {"bursts": 400},
    "ble-order": {"bursts": 400, "losses": 1},
    "lost-notices": {"bursts": 400},
    "detectors": {"bursts": 150, "losses": 1},
}

#: Claims that hold in however short a run, by the start of their text.
CERTAIN = {
    "fig6": ["The first time-out", "BLE takes it", "Consecutive", "Down to", "At a window below"],
    "fig7a": ["Where the flow is fast"],
    "fig7b": ["Where the flow is fast"],
    "table4": ["With even losses the gain"],
    "flow-classes": ["With λT_b", "At 125 KB/s"],
    "equation-11": ["α_b is less"],
    "detectors": ["With perfect", "With detection off", "For a fast flow with lossless access BLE"],
}


@pytest.fixture(scope="module")
def tiny():
    """Run a target briefly."""
    ((paper, _),) = select(["yu2004/table3"])

    def shorten(plans):
        effort = {"precision": 1.0, "first": 2, "batch": 2, "most": 2}
        for target, short in TINY.items():
            plans[target]["quick"] = {**effort, **short}

    return briefly(paper, shorten)


@pytest.mark.parametrize("target", TINY)
def test_every_claim_of_section_v_finds_its_measures(tiny, target):
    report = tiny(target)
    assert len(report.to_json()["claims"]) >= 3
    check_report(report, f"yu2004/{target}", CERTAIN, charts=False)


@pytest.mark.parametrize("target", ["table3", "table4", "table5"])
def test_every_printed_cell_has_a_measured_one(tiny, target):
    report = tiny(target)
    printed = {label for name, label in report.paper.published if name == target}
    assert printed == {row.label for row in report.findings.rows if row.published is not None}


def test_contradictory_cells_are_judged_each_by_its_own_reading(tiny):
    third, fourth = tiny("table3").findings.measures, tiny("table4").findings.measures
    # One loss in ten bursts and one in eleven, in both tables.
    for measures, at in ((third, "log p = -1"), (fourth, "T_b = 0.04")):
        ten, eleven = measures[f"BLE-e, {at}"], measures[f"one in 1/p + 1: BLE-e, {at}"]
        assert ten.mean == pytest.approx(1.28, abs=0.02)
        assert eleven.mean == pytest.approx(1.24, abs=0.02)


def test_equation_11_goes_through_its_neighbours_in_both_tables(tiny):
    name = "BLE-b at T_b = 0.04 by (11) from its printed neighbours"
    for target in ("table3", "table4"):
        assert tiny(target).findings.measures[name] == pytest.approx(1.519, abs=0.001)


def test_a_reno_with_duplicate_acks_for_each_hole_does_what_figure_1_shows(tiny):
    verdicts = {claim["id"]: claim["verdict"] for claim in tiny("each-hole").to_json()["claims"]}
    assert set(verdicts.values()) == {"holds"}


@pytest.mark.parametrize("target", TINY)
def test_every_figure_can_be_drawn(tiny, target):
    charts = tiny(target).findings.charts
    assert set(charts) == {target}
    assert specification(charts[target])["$schema"]
    assert tiny(target).findings.data[target]


def fast(**tcp):
    """The fast flow of the paper, for 60 s."""
    return {
        "access": {"rate": "8 Mb/s"},
        "edge": {"assembly": "timer", "timer": "40 ms"},
        "tcp": {"profile": "ns2-2003", "variant": "reno", "window": 10, **tcp},
        "loss": {"data": {"process": "bernoulli", "probability": 0.1}},
        "run": {"duration": "60 s", "seed": 4},
    }


def test_the_ledger_adds_up_to_the_flows():
    result = bl.run(fast(detector="ble"), trace="ledger", replications=3)
    assert result.recorded == ["flows", "ledger", "ledger_losses"]
    timeouts = result.ledger.where(kind="timeout")
    assert len(timeouts) == result.flows["timeouts"].sum() > 20
    false = timeouts.where(truth="false")
    assert len(false) == result.flows["false_timeouts"].sum()
    assert (false["lost_bursts"] == 1).all()
    assert len(result.ledger_losses) == result.ledger["lost_packets"].sum()
    # Ten windows in a burst each: a lost burst of the fast flow is a time-out.
    assert (timeouts["cwnd"] > 0).all()


def test_without_a_trace_the_error_says_how_to_get_one():
    result = bl.run(fast())
    for table in ("ledger", "ledger_losses"):
        with pytest.raises(bl.InputError, match=r"trace=\('ledger',\)"):
            getattr(result, table)


def test_detection_changes_what_it_should():
    goodput = {
        detector: bl.run(fast(detector=detector), replications=4).flows["goodput_bps"].mean()
        for detector in ("none", "ble", "back", "bnak", "oracle")
    }
    assert goodput["none"] < goodput["ble"] == goodput["back"]
    assert goodput["back"] < goodput["bnak"] < goodput["oracle"]


def test_curves_and_heat_maps_take_gaps():
    curve = Curve("c", "#000000", [Dot(1.0, 2.0, None), Dot(2.0, 3.0, 0.1, 4)])
    chart = curve_chart([CurvePanel("p", [curve])], Axes("x", "y", shared_y=True))
    assert specification(chart)["concat"]
    cells = [HeatCell("column", "line", "x", "y", value) for value in (None, 0.5)]
    assert specification(heat_chart(cells, [HeatLine("line", 0.0, 1.0)], x_title="x"))["concat"]
