"""Martinez-Yelmo et al. 2007: every target with tiny runs, and what its plans are meant to be."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from briefly import briefly, check_report

from burstlab.analytic import wlan
from burstlab.loading import set_at, to_document
from burstlab.papers.martinez2007_wlan.measured import (
    fall,
    gap,
    knee,
    knee_of,
    log_fall,
    share,
    throughput,
)
from burstlab.reproduce.grid import Corner, Sample
from burstlab.reproduce.paper import select
from burstlab.simulation import resolve, run_resolved
from burstlab.statistics import Estimate

((PAPER, _),) = select(["martinez-yelmo/fig2"])

TINY = {"duration": "2 s", "warmup": "1 s", "first": 2, "batch": 1, "most": 2}

#: Tries of a data frame.
TRIES = 4


def _shorten(plans):
    for target in PAPER.targets:
        for table in (plans[target], *plans[target].values()):
            if isinstance(table, dict) and "quick" in table:
                table["quick"].update(TINY)
    begins = PAPER.plans["bianchi"]["begins_s"]
    plans["bianchi"]["quick"].update(duration=f"{begins + 2} s", warmup="0 s")


@pytest.fixture(scope="module")
def tiny():
    """Run a target briefly, once; the figures of the surface share their runs."""
    return briefly(PAPER, _shorten)


@pytest.mark.parametrize("target", PAPER.targets)
def test_every_claim_finds_its_measures(tiny, target):
    check_report(tiny(target), f"martinez-yelmo/{target}", {}, finite=False)


def test_the_figures_of_the_surface_have_its_runs(tiny):
    # Figures 2 and 4 have runs of their own too.
    whole = {row["value"] for row in tiny("fig2").findings.data["fig2"]}
    cuts = [row for row in tiny("fig3").findings.data["fig3"] if row["look"] == "measured"]
    assert len(cuts) > 10
    assert {row["y"] for row in cuts} <= whole


def test_every_published_value_has_a_measured_one(tiny):
    for target in {name for name, _ in PAPER.published}:
        published = {label for name, label in PAPER.published if name == target}
        rows = tiny(target).findings.rows
        assert published == {row.label for row in rows if row.published is not None}


def test_errors_of_data_frames_leave_the_loss_of_their_label():
    wireless = PAPER.plans["fig2"]["grid"]["groups"]
    assert wireless[0] == {"label": "0", "set": {}}
    for group in wireless[1:]:
        error = group["set"]["wlan.0.probability"]
        assert error**TRIES == pytest.approx(float(group["label"]), rel=0.001)


def test_margins_of_the_other_readings_leave_the_loss_of_their_label():
    cell = PAPER.plans["readings"]["cell"]
    at = {group["label"]: group["at"] for group in cell["groups"]}
    every = at["every frame shadowed, no RTS, seven tries, window of 128"]
    losses = [float(point["label"]) for point in cell["points"]][1:]
    for loss, seven, four in zip(losses, every[1:], at["every frame shadowed"][1:], strict=True):
        errors = [
            1.0 - NormalDist().cdf(settings["wlan.0.margin_db"] / 4.0) for settings in (seven, four)
        ]
        assert errors[0] ** 7 == pytest.approx(loss, rel=0.01)
        assert wlan.residual_loss_rts(errors[1]) == pytest.approx(loss, rel=0.01)


def test_the_other_targets_sweep_what_the_surface_does():
    surface = PAPER.plans["fig2"]["grid"]
    points = {point["label"]: point["set"] for point in surface["points"]}
    for target, grid in (("knee", "loaded"), ("knee", "senders"), ("readings", "core")):
        for point in PAPER.plans[target][grid]["points"]:
            assert points[point["label"]] == point["set"]
    settings = {group["label"]: group["set"] for group in surface["groups"]}
    readings = PAPER.plans["readings"]["cell"]
    taken = readings["groups"][0]["at"]
    assert taken == [settings[point["label"]] for point in readings["points"]]
    for point in PAPER.plans["fig4"]["unqueued"]["points"]:
        assert point["set"] == settings[point["label"]]


def test_a_saturated_cell_carries_what_the_model_says():
    document = to_document(PAPER.directory / "saturated.toml")
    begins = PAPER.plans["bianchi"]["begins_s"]
    set_at(document, "run.duration", f"{begins + 20} s")
    for stations in (1, 5, 20):
        set_at(document, "flows.0.count", stations)
        (one,) = run_resolved(resolve(document), range(1)).replications
        cell = one.wlan[0]
        assert cell["down"]["delivered"] == stations, "only SYNs are answered"
        assert cell["up"]["in_flight"] > 0.5 * stations * document["tcp"]["window"]
        carried = cell["up"]["delivered"] * 12_000 / 20 / 1e6
        model = wlan.saturation(stations, tries=7).throughput_mbps
        assert carried == pytest.approx(model, rel=0.03)


def test_the_window_grows_as_section_2_says(tiny):
    measures = tiny("window").findings.measures
    assert measures["slow start: growth with an ACK"].mean == 1.0
    grown = measures["congestion avoidance: growth with an ACK, times the window"].mean
    assert grown == pytest.approx(1.0, abs=1e-9)


def test_a_law_between_runs_is_that_of_the_runs():
    first, second = Estimate(4.0, 0.4, 5), Estimate(2.0, 0.1, 7)
    ratio = share(second, first)
    assert (ratio.mean, ratio.n) == (0.5, 5)
    assert ratio.ci95 == pytest.approx(0.5 * math.hypot(0.1, 0.05))
    assert fall(first, second).mean == 0.5
    assert gap(first, second).mean == 2.0
    assert gap(first, second).ci95 == pytest.approx(math.hypot(0.4, 0.1))
    assert log_fall(first, second).mean == pytest.approx(math.log(2.0))


def test_load_closes_bursts_early_and_shortens_round_trips(tiny):
    measures = tiny("fig4").findings.measures
    assert measures["q = 1e-2, p = 0: mean round trip (ms)"].mean > 0.0
    plan = PAPER.plans["fig2"]["grid"]["points"]
    found = []
    for point in (plan[0], plan[-1]):
        document = to_document(PAPER.directory / "access.toml")
        for path, value in {**point["set"], "run.duration": "5 s", "run.warmup": "1 s"}.items():
            set_at(document, path, value)
        set_at(document, "tcp.window", 4)
        (one,) = run_resolved(resolve(document), range(1)).replications
        found.append((one.network["all"]["assembly_delay_s"], one.summary["flows"][0]["rtt_s"]))
    (idle, slow), (busy, fast) = found
    assert idle == pytest.approx(0.010, rel=0.02)
    assert busy < 0.001
    # Both directions are assembled, and a packet comes when its burst has been open for a while: in
    # each it waits for some of that time.
    assert 0.5 * (idle - busy) < slow - fast < 2 * (idle - busy)


def test_the_knee_of_a_known_curve():
    straight = [(1e-5, 4.0), (1e-3, 4.0), (1e-2, 3.0), (1e-1, 1.0)]
    assert knee(straight, 0.15) == pytest.approx(1e-3 * 10**0.6)
    assert np.isnan(knee(straight[:2], 0.15))


def test_the_knee_has_the_interval_of_its_points():
    corners = [
        (x, Corner("", "", x, None, {"one": [_brought(y + d) for d in (-0.1, 0.1)]}, True))
        for x, y in ((1e-5, 4.0), (1e-3, 4.0), (1e-2, 3.0))
    ]
    at = knee_of(corners, "one", 0.15)
    assert at.mean == pytest.approx(1e-3 * 10**0.6)
    half = corners[0][1].mean("one", throughput).ci95
    assert half is not None
    # Per unit of throughput the knee moves by ln 10: 0.4 of it for the first side, 0.6 for the
    # other, 0.85 for what is fallen from.
    expected = at.mean * math.log(10.0) * half * math.hypot(0.4, 0.6, 0.85)
    assert at.ci95 == pytest.approx(expected)


def _brought(mbps):
    summary: Any = {"flows": [{"goodput_bps": mbps * 1e6}]}
    return Sample(summary, {})
