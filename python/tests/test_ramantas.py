"""Ramantas et al. 2007: every target with tiny runs, and the arithmetic of its errata."""

from __future__ import annotations

import copy
import math

import pytest
from briefly import briefly, check_report

from burstlab.reproduce.engine import Options, reproduce
from burstlab.reproduce.paper import Paper, select

#: Enough for every number that a claim asks for.
TINY = {"warmup": "1 s", "duration": "2 s", "replications": 2}

#: What holds in however short a run, by the start of its claim.
CERTAIN = {
    "fig2a": ["With 1 ms a burst", "With 5 ms the increase", "With 10 ms it is shifted"],
    "fig3a": ["A shorter timer"],
    "fig6a": ["The flows lose nothing", "The window rises", "Most of what", "Average"],
    "fig6b": ["It is first reached", "It is reached soonest", "In 0.15 s"],
}

((PAPER, _),) = select(["ramantas/table1"])


def _shorten(plans):
    for target in PAPER.targets:
        if plans[target]["quick"]:
            plans[target]["quick"] = TINY
    # Seven times the traffic of the others; the engine's tests have rates for each pair.
    series = plans["readings"]["series"]
    plans["readings"]["series"] = [one for one in series if "a pair" not in one["label"]]


@pytest.fixture(scope="module")
def tiny():
    """Run a target briefly; what targets have in common is run once."""
    return briefly(PAPER, _shorten)


@pytest.mark.parametrize("target", [name for name in PAPER.targets if name != "readings"])
def test_every_claim_finds_its_measures(tiny, target):
    check_report(tiny(target), f"ramantas/{target}", CERTAIN)


@pytest.mark.parametrize("target", ["table1", "fig2b", "fig3a", "fig3b", "fig6a", "fig6b"])
def test_every_published_value_has_a_measured_one(tiny, target):
    report = tiny(target)
    published = {label for name, label in PAPER.published if name == target}
    assert published == {row.label for row in report.findings.rows if row.published is not None}


def test_shared_runs_change_no_number(tiny):
    shared = tiny("fig2b")
    plans = copy.deepcopy(PAPER.plans)
    plans["fig2b"]["quick"] = TINY
    alone = reproduce(Paper(PAPER.directory, plans), "fig2b", Options(jobs=1))
    assert alone.fingerprint == shared.fingerprint
    assert alone.to_json()["rows"] == shared.to_json()["rows"]


def test_the_arithmetic_of_the_errata():
    # Little's law, for an edge node and for eight.
    assert [round(50 * t) for t in (1.25, 1.6)] == [62, 80]
    assert [round(8 * 50 * t) for t in (1.25, 1.6)] == [500, 640]
    assert [800 / 50, 600 / 50] == [16, 12]
    # Shape of an endless Pareto, and the largest mean of one cut at 2 MB (shape 0).
    assert round(700 / (700 - 40), 2) == 1.06
    assert round((2000 - 40) / math.log(2000 / 40)) == 501
    # A window in a round, and the time it takes on the access link.
    rates = [round(128 * 8000 / round_s / 1e6) for round_s in (0.0191, 0.0323, 0.0424)]
    assert rates == [54, 32, 24]
    assert round(128 * 8000 / 100e6 * 1e3, 1) == 10.2
    assert 0.06 < min(5 / 80, 4 / 40, 4 / 34) < max(5 / 80, 4 / 40, 4 / 34) < 0.12
