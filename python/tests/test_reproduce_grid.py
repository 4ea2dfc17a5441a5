"""Grids of papers: nothing is run twice, and what an effort leaves out is left out."""

from __future__ import annotations

import copy
from types import SimpleNamespace
from typing import Any

import pytest

from burstlab import simulation
from burstlab.errors import InputError
from burstlab.reproduce import making
from burstlab.reproduce.abreast import reproduce_all
from burstlab.reproduce.context import Context
from burstlab.reproduce.engine import Options, reproduce
from burstlab.reproduce.grid import run_grid, runs_of
from burstlab.reproduce.keeping import KeptRuns, RunFile
from burstlab.reproduce.paper import select

((PAPER, _),) = select(["yu2004/fig4b"])

#: Two groups, two points, two senders, and a precision that is never reached.
PLAN: dict[str, Any] = {
    "title": "two by two",
    "scenario": "fig4.toml",
    "set": {"loss.data.process": "bernoulli"},
    "quick": {"duration": "20 s", "first": 2, "batch": 1, "most": 3, "precision": -1.0},
    "grid": {
        "points": [
            {"label": "few", "x": 0.01, "set": {"loss.data.probability": 0.01}},
            {"label": "many", "x": 0.1, "set": {"loss.data.probability": 0.1}},
        ],
        "groups": [
            {"label": "20 ms", "set": {"edge.timer": "20 ms"}},
            {"label": "40 ms", "set": {"edge.timer": "40 ms"}},
        ],
        "series": [
            {"label": "Reno", "set": {"tcp.variant": "reno"}},
            {"label": "SACK", "set": {"tcp.variant": "sack"}},
        ],
    },
}


def context(plan: dict[str, Any], jobs: int = 2, **left: Any) -> Context:
    paper: Any = SimpleNamespace(plans={"two": plan}, directory=PAPER.directory)
    return Context(paper, "two", "quick", 3, jobs, lambda share, label: None, **left)


def every(corner):
    return [
        corner.mean(name, lambda one: one.summary["counters"]["bursts_sent"])
        for name in corner.samples
    ]


@pytest.fixture
def made(monkeypatch):
    """Note which replications of which scenarios the engine makes."""
    runs: list[tuple[str, int, int]] = []
    real = simulation.replicate

    def replicate(text, seed, number, *rest):
        runs.append((text, seed, number))
        return real(text, seed, number, *rest)

    monkeypatch.setattr(making, "replicate", replicate)
    return runs


def test_workers_change_neither_corners_nor_their_order(made):
    here = [context(PLAN, jobs) for jobs in (1, 2)]
    found = [run_grid(one, "grid", every) for one in here]
    labels = [(corner.group, corner.label) for corner in found[0]]
    assert labels == [("20 ms", "few"), ("20 ms", "many"), ("40 ms", "few"), ("40 ms", "many")]
    assert here[0].fingerprints == here[1].fingerprints
    assert len(here[0].fingerprints) == 2 * len(labels) * 2
    for one, other in zip(*found, strict=True):
        assert one.label == other.label
        for name in ("Reno", "SACK"):
            summaries = [[s.summary for s in corner.samples[name]] for corner in (one, other)]
            assert summaries[0] == summaries[1]
            assert len(summaries[0]) == 3
    assert len(made) == 2 * len(set(made)) == 2 * 4 * 2 * 3


def test_a_run_is_made_once_whoever_asks_for_it(made):
    first = context(PLAN)
    corners = run_grid(first, "grid", every)
    count = len(made)
    # Another target with more replications of half of them.
    plan = copy.deepcopy(PLAN)
    plan["quick"].update(first=4, most=4, groups=["40 ms"])
    again = run_grid(context(plan, done=first.done), "grid", every)
    assert len(made) == count + 2 * 2
    for corner in again:
        (before,) = (one for one in corners if (one.group, one.label) == ("40 ms", corner.label))
        for name, samples in corner.samples.items():
            assert list(samples[:3]) == list(before.samples[name])
    # Tables are large, and those who want them are given no run that has none.
    plan["grid"]["trace"] = ["ledger"]
    traced = run_grid(context(plan, done=first.done), "grid", every)
    assert len(made) == count + 2 * 2 + 2 * 2 * 4
    assert "ledger" in traced[0].samples["Reno"][0].tables


def test_runs_that_a_file_keeps_are_not_made_again(made, tmp_path):
    found = []
    for _ in range(2):
        file = RunFile(tmp_path / "runs.sqlite")
        here = context(PLAN, done=KeptRuns(file))
        corners = run_grid(here, "grid", every)
        found.append(([[s.summary for s in one.samples["SACK"]] for one in corners], here))
        file.close(remove=False)
    assert found[0][0] == found[1][0]
    assert found[0][1].fingerprints == found[1][1].fingerprints
    assert len(made) == len(set(made)) == 2 * 4 * 3
    RunFile(tmp_path / "runs.sqlite").close(remove=True)
    assert not list(tmp_path.iterdir())


def test_a_file_of_another_kind_is_left_alone(tmp_path):
    other = tmp_path / "runs.sqlite"
    other.write_text("that of somebody else " * 100)
    with pytest.raises(InputError, match=r"is no file of runs \(file is not a database\)"):
        RunFile(other)
    assert other.read_text().startswith("that of somebody else")


def test_targets_share_runs_and_papers_do_not(made):
    plans = dict(PAPER.plans)
    short = {"first": 2, "batch": 1, "most": 2, "bursts": 50, "losses": 1}
    plans["fig4b"] = {**plans["fig4b"], "quick": {**plans["fig4b"]["quick"], **short}}
    paper: Any = type(PAPER)(PAPER.directory, plans)
    options = Options(jobs=1)
    one = reproduce(paper, "fig4b", options)
    count = len(made)
    assert count > 0
    other = reproduce(paper, "fig4b", options)
    assert len(made) == count
    assert other.fingerprint == one.fingerprint
    assert other.to_json()["measures"] == one.to_json()["measures"]
    assert list(options.left) == ["yu2004"]
    ((analysis, _),) = select(["lu-hunter/fig2"])
    both = [(paper, "fig4b"), (analysis, "fig2")]
    found = list(reproduce_all(both, options, lambda place: None))
    assert len(made) == count
    assert {report.name for report in found} == {"yu2004/fig4b", "lu-hunter/fig2"}
    assert not options.left


def test_where_an_effort_says_so_each_series_is_run_until_it_is_precise():
    plan = copy.deepcopy(PLAN)
    plan["quick"].update(first=2, batch=1, most=5, precision=0.0, each=True)

    def all_but_sack(corner):
        return [] if "SACK" in corner.samples else every(corner)

    corners = run_grid(context(plan), "grid", all_but_sack)
    alike = run_grid(context({**plan, "quick": {**plan["quick"], "each": False}}), "grid", every)
    for one, whole in zip(corners, alike, strict=True):
        assert {name: len(found) for name, found in one.samples.items()} == {"Reno": 5, "SACK": 2}
        assert not one.reached
        # The random numbers of a replication are the same, and the first two of both are compared.
        for name, found in one.samples.items():
            pairs = zip(found, whole.samples[name], strict=False)
            assert all(alone.summary == among.summary for alone, among in pairs)
        assert one.ratio("Reno", "SACK", lambda s: s.summary["counters"]["bursts_sent"]).n == 2


def test_an_effort_runs_only_what_its_rules_allow():
    plan = copy.deepcopy(PLAN)
    plan["quick"]["only"] = [
        {"groups": ["20 ms"], "points": ["many"], "series": ["SACK"]},
        {"groups": ["40 ms"], "points": ["few"], "series": []},
    ]
    corners = run_grid(context(plan), "grid", every)
    assert [(one.group, one.label, list(one.samples)) for one in corners] == [
        ("20 ms", "few", ["Reno", "SACK"]),
        ("20 ms", "many", ["SACK"]),
        ("40 ms", "many", ["Reno", "SACK"]),
    ]
    labels = [one.label for one in runs_of(context(plan), "grid")]
    assert labels == [f"{one.group} {one.label} {name}" for one in corners for name in one.samples]
    # Without groups or points a rule is about all of them.
    plan["quick"]["only"] = [{"series": ["Reno"]}]
    assert all(list(one.samples) == ["Reno"] for one in run_grid(context(plan), "grid", every))


def test_a_rule_that_names_what_is_not_there_is_a_fault_of_the_plan():
    plan = copy.deepcopy(PLAN)
    for kind in ("groups", "points", "series"):
        plan["quick"]["only"] = [{"series": ["Reno"], kind: ["nobody"]}]
        with pytest.raises(ValueError, match=f"{kind} of an effort: the grid has no"):
            run_grid(context(plan), "grid", every)
