"""Lu and Hunter 2009: the figures of the analysis, and their plans."""

from __future__ import annotations

import numpy as np
import pytest

from burstlab.analytic import lu_hunter
from burstlab.plot.saving import specification
from burstlab.reproduce.engine import Options, reproduce
from burstlab.reproduce.paper import select

((PAPER, _),) = select(["lu-hunter/fig2"])
ANALYSIS = ["rates", "fig2", "fig3", "fig4", "fig5", "fig6", "fig7"]

#: Claims that differ, for a reason in the claim.
DIFFERING = {"rates": 2, "fig2": 7, "fig3": 1, "fig4": 2, "fig5": 0, "fig6": 0, "fig7": 2}


@pytest.fixture(scope="module")
def reports():
    """Every figure of the analysis."""
    return {target: reproduce(PAPER, target, Options()) for target in ANALYSIS}


@pytest.mark.parametrize("target", ANALYSIS)
def test_verdicts(reports, target):
    document = reports[target].to_json()
    assert document["target"] == f"lu-hunter/{target}"
    verdicts = [claim["verdict"] for claim in document["claims"]]
    assert verdicts.count("fails") == 0
    assert verdicts.count("differs") == DIFFERING[target]
    assert document["rows"]
    assert all(np.isfinite(row["measured"]) for row in document["rows"])


@pytest.mark.parametrize("target", ANALYSIS)
def test_figures(reports, target):
    findings = reports[target].findings
    assert target in findings.charts
    assert set(findings.charts) == set(findings.data)
    for name, chart in findings.charts.items():
        assert specification(chart)["$schema"]
        assert all(row["y"] >= 0 for row in findings.data[name])


@pytest.mark.parametrize("target", ANALYSIS)
def test_wrong_models_fail(reports, target):
    for claim in reports[target].claims:
        assert claim.wrong, claim.id
        assert set(claim.wrong.values()) == {"fails"}, claim.id


def test_the_time_line_of_figure_1_is_that_of_light():
    report = reproduce(PAPER, "fig1", Options())
    assert [claim.verdict for claim in report.claims] == ["holds"] * 4
    measures = report.findings.measures
    assert measures["event 2, the edge hears of it (ms)"] == pytest.approx(40.0, abs=1e-6)
    assert measures["event 3, the sender halves its window (ms)"] == pytest.approx(120.0, abs=0.1)


def test_every_published_value_has_a_measured_one(reports):
    for target in ANALYSIS:
        published = {label for name, label in PAPER.published if name == target}
        rows = {row.label for row in reports[target].findings.rows if row.published is not None}
        assert published == rows


def test_a_worked_value_that_is_wrong_is_seen(reports):
    """The plan's numbers are held: another one fails its claim."""
    from burstlab.papers.lu2009_dlcc.link import missed

    assert missed([31.9, 297.7], [31.897, 297.703], 3) == 0
    assert missed([31.9, 299.7], [31.897, 297.703], 3) == 1
    # The corrected losses are not those worked from the print.
    assert reports["fig4"].findings.measures["worked losses missed by the corrected"] == 4


def test_curves_are_those_of_the_formulas(reports):
    rows = reports["fig4"].findings.data["fig4"]
    found = {(row["panel"], row["curve"], row["x"]): row["y"] for row in rows}
    assert len(found) == len(rows)
    lost = lu_hunter.crowd_loss(10e9, 0.3, 0.28, 10_000)
    assert found[("corrected", "R = 0.3", 280.0)] == pytest.approx(lost)
    printed = lu_hunter.crowd_loss(10e9, 0.3, 0.28, 10_000, as_printed=True)
    assert found[("V.F.1 as printed", "R = 0.3", 280.0)] == pytest.approx(printed)
    assert len(reports["fig7"].findings.data["fig7"]) == 3 * 6 * 6
