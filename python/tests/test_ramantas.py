"""Ramantas et al. 2007: every target with tiny runs."""

from __future__ import annotations

import copy
from fractions import Fraction

import numpy as np
import pytest
from briefly import briefly, check_report

from burstlab.analytic import ramantas
from burstlab.papers.ramantas2007_burstifiers import fairness
from burstlab.reproduce.engine import Options, reproduce
from burstlab.reproduce.paper import Paper, select

#: Enough for every number that a claim asks for.
TINY = {"warmup": "1 s", "duration": "2 s", "replications": 2}

#: Claims that hold in however short a run, by the start of their text.
CERTAIN = {
    "fig2a": ["With 1 ms a burst", "With longer timers the increase"],
    "fig6a": ["The flows lose nothing", "The window rises", "Most of what", "Average"],
    "fig6b": ["The largest rate", "It is first reached", "It is reached soonest", "In 0.15 s"],
    "assembly": ["A flow is assembled", "With B = 32", "A timer limits", "A lossless file"],
}

((PAPER, _),) = select(["ramantas/table1"])


def _shorten(plans):
    for target in PAPER.targets:
        if plans[target]["quick"]:
            plans[target]["quick"] = TINY
    for one in plans["readings"]["series"]:
        # Seven times the traffic of the others.
        if "a pair" in one["label"]:
            one["quick"] = {"warmup": "200 ms", "duration": "400 ms"}


@pytest.fixture(scope="module")
def tiny():
    """Run a target briefly; targets share runs."""
    return briefly(PAPER, _shorten)


#: A pair of nodes may have no transfer, or none of 2 MB, in so short a run.
SPARSE = {"fig3a", "fig3b", "fig4a", "fig4b", "pairs"}


@pytest.mark.parametrize("target", PAPER.targets)
def test_every_claim_finds_its_measures(tiny, target):
    check_report(tiny(target), f"ramantas/{target}", CERTAIN, finite=target not in SPARSE)


@pytest.mark.parametrize("target", PAPER.targets)
def test_every_published_value_has_a_measured_one(tiny, target):
    report = tiny(target)
    published = {label for name, label in PAPER.published if name == target}
    assert published == {row.label for row in report.findings.rows if row.published is not None}


def test_what_differs_in_any_run_is_explained_without_its_cause(tiny):
    # Nothing is drawn at random here.
    verdicts = {
        f"{target}/{claim.id}": claim.verdict
        for target in ("fig6a", "fig6b", "assembly")
        for claim in tiny(target).claims
    }
    differing = {name for name, verdict in verdicts.items() if verdict == "differs"}
    assert differing == {
        "fig6b/rounds",
        "fig6b/constant-10-ms",
        "fig6b/varies-1-ms",
        "assembly/periodic",
    }
    assert set(verdicts.values()) == {"holds", "differs"}


def test_littles_law_is_exact_with_the_ages_at_both_ends(tiny):
    gap = tiny("fig1a").findings.measures["700 KB: largest gap from λT, ages at both ends counted"]
    assert gap.mean < 1e-12


def test_rounds_of_a_flow_are_those_of_the_closed_form(tiny):
    measures = tiny("fig6a").findings.measures
    for timer, assembly_s in (("1 ms", 0.001), ("5 ms", 0.005), ("10 ms", 0.010)):
        law = float(ramantas.time_to_window(500, assembly_s, 0.017))
        assert law < measures[f"time to 500 segments (s): {timer}"] < 1.15 * law


def test_shared_runs_change_no_number(tiny):
    shared = tiny("fig2b")
    plans = copy.deepcopy(PAPER.plans)
    plans["fig2b"]["quick"] = TINY
    alone = reproduce(Paper(PAPER.directory, plans), "fig2b", Options(jobs=1))
    assert alone.fingerprint == shared.fingerprint
    assert alone.to_json()["rows"] == shared.to_json()["rows"]


def test_the_index_of_jain_is_that_of_exact_arithmetic():
    values = [3, 1, 4, 1, 5, 9, 2, 6]
    total, squares = sum(values), sum(one * one for one in values)
    exact = float(Fraction(total * total, len(values) * squares))
    array = np.asarray(values, dtype=np.float64)
    assert fairness.jain(array) == pytest.approx(exact, rel=1e-12)
    # A common factor changes nothing; it is 1 if all are equal and 1/n if one has all.
    assert fairness.jain(7.5 * array) == pytest.approx(exact, rel=1e-12)
    assert fairness.jain(np.full(5, 2.0)) == pytest.approx(1.0)
    assert fairness.jain(np.asarray([0.0, 0.0, 4.0, 0.0])) == pytest.approx(0.25)
    assert np.isnan(fairness.jain(np.asarray([])))
    average, variance = float(array.mean()), float(array.var())
    assert fairness.by_print(average, variance) == pytest.approx(exact, rel=1e-12)


def test_the_print_of_table_1_has_a_fairness(tiny):
    measures = tiny("table1").findings.measures
    assert measures["print, Jain's index: 1 ms"] == pytest.approx(8.8**2 / (8.8**2 + 62))
    ratio = measures["print, Jain's index: 10 ms over 1 ms"]
    assert ratio == pytest.approx(1.030, abs=5e-4)
    # Flows of one pair share their path, so that they are more alike than flows of all pairs.
    for timer in ("1 ms", "10 ms"):
        of_pair = measures[f"flows of a pair, Jain's index: {timer}"]
        assert of_pair.mean > measures[f"all pairs, Jain's index: {timer}"].mean
