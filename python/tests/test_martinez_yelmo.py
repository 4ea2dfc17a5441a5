"""Martinez-Yelmo et al. 2007: every target with tiny runs, and what its plans are meant to be."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
import pytest
from briefly import briefly, check_report

from burstlab.loading import set_at, to_document
from burstlab.papers.martinez2007_wlan.measured import knee
from burstlab.reproduce.paper import select
from burstlab.simulation import resolve, run_resolved

((PAPER, _),) = select(["martinez-yelmo/fig2"])

TINY = {"duration": "3 s", "warmup": "1 s", "first": 2, "batch": 1, "most": 2}

#: Tries of a frame.
TRIES = 7


def _shorten(plans):
    for target in PAPER.targets:
        plans[target]["quick"] = TINY


@pytest.fixture(scope="module")
def tiny():
    """Run a target briefly, once; the figures of the surface share their runs."""
    return briefly(PAPER, _shorten)


@pytest.mark.parametrize("target", PAPER.targets)
def test_every_claim_finds_its_measures(tiny, target):
    check_report(tiny(target), f"martinez-yelmo/{target}", {}, finite=False)


def test_the_figures_of_the_surface_have_its_runs(tiny):
    assert tiny("fig2").fingerprint == tiny("fig3").fingerprint == tiny("fig4").fingerprint
    assert tiny("fig2").fingerprint != tiny("knee").fingerprint


def test_every_published_value_has_a_measured_one(tiny):
    published = {label for name, label in PAPER.published if name == "fig3"}
    rows = tiny("fig3").findings.rows
    assert published == {row.label for row in rows if row.published is not None}


def test_margins_leave_the_loss_of_their_label():
    wireless = PAPER.plans["fig2"]["grid"]["groups"]
    assert wireless[0] == {"label": "0", "set": {}}
    for group in wireless[1:]:
        error = 1.0 - NormalDist().cdf(group["set"]["wlan.0.margin_db"] / 4.0)
        assert error**TRIES == pytest.approx(float(group["label"]), rel=0.01)


def test_the_other_targets_sweep_what_the_surface_does():
    surface = PAPER.plans["fig2"]["grid"]
    assert PAPER.plans["knee"]["loaded"]["points"] == surface["points"]
    unloaded = PAPER.plans["knee"]["unloaded"]["points"]
    assert [p["label"] for p in unloaded] == [p["label"] for p in surface["points"]]
    settings = {group["label"]: group["set"] for group in surface["groups"]}
    readings = PAPER.plans["readings"]["grid"]
    recommended = readings["groups"][0]["at"]
    labels = [point["label"] for point in readings["points"]]
    assert recommended == [settings[label] for label in labels]


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
        found.append(
            (one.summary["network"]["all"]["assembly_delay_s"], one.summary["flows"][0]["rtt_s"])
        )
    (idle, slow), (busy, fast) = found
    assert idle == pytest.approx(0.010, rel=0.02)
    assert busy < 0.001
    # Both ways are assembled, and a packet comes when its burst has been open for a while.
    assert idle - busy < slow - fast < 2 * (idle - busy)


def test_the_knee_of_a_known_curve():
    straight = [(1e-5, 4.0), (1e-3, 4.0), (1e-2, 3.0), (1e-1, 1.0)]
    assert knee(straight, 0.15) == pytest.approx(1e-3 * 10**0.6)
    assert np.isnan(knee(straight[:2], 0.15))
