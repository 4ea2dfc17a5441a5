"""Every statement of the papers is judged by tests that a wrong model does not pass."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from burstlab.errors import InputError
from burstlab.reproduce.bands import Row
from burstlab.reproduce.coverage import (
    ROLES,
    Line,
    Role,
    Status,
    count,
    coverage,
    reports,
    rows_of,
    statements,
)
from burstlab.reproduce.paper import papers

PAPERS = papers()
KEYS = [paper.key for paper in PAPERS]
KINDS = {"figure", "table", "equation", "sentence"}


def claims_of(paper):
    return {
        f"{target}/{claim.id}": claim for target in paper.targets for claim in paper.claims(target)
    }


def names_of(item):
    """Return all claims that an item names, and all of its rows, whatever their role."""
    names = [name for role in ROLES.values() for name in item.get(role, [])]
    rows = item.get("rows", []) + [name for name in names if ":" in name]
    return [name for name in names if name not in rows], rows


@pytest.mark.parametrize("paper", PAPERS, ids=KEYS)
def test_every_item_is_judged_or_says_why_not(paper):
    claims = claims_of(paper)
    for item in paper.coverage:
        assert item["kind"] in KINDS, item
        assert item["where"]
        assert item["says"]
        named, rows = names_of(item)
        judged = item.get("rows", []) + item.get("claims", [])
        assert not (judged and item.get("not_judged")), item
        assert named or rows or item.get("not_judged"), item
        assert set(named) <= set(claims), item
        for name in rows:
            assert rows_of(paper, {"rows": [name]}), name


@pytest.mark.parametrize("paper", PAPERS, ids=KEYS)
def test_no_claim_of_the_project_is_a_verdict_on_the_paper(paper):
    claims = claims_of(paper)
    for item in paper.coverage:
        for name in item.get("claims", []):
            source = claims[name].entry["source"]
            assert not source.startswith("our own"), name
            assert "reading is ours" not in source, name
            assert "in our reading" not in source, name
        places = [set(item.get(role, ())) for role in ("claims", "readings", "own")]
        assert sum(map(len, places)) == len(set.union(*places)), item


@pytest.mark.parametrize("paper", PAPERS, ids=KEYS)
def test_every_published_value_is_judged_on_its_own(paper):
    covered = {
        row for item in paper.coverage for row in rows_of(paper, {"rows": names_of(item)[1]})
    }
    assert covered == set(paper.published)
    assert set(paper.tolerances) == set(paper.published)


def test_a_statement_has_the_worst_verdict_of_the_reading_that_is_taken():
    def line(verdict: Status, role: Role = "statement", says: str = "it rises"):
        return Line("p", "Figure 1", "figure", says, "fig1/rises", verdict, "", role)

    lines = [
        line("holds"), line("cannot tell"), line("fails", "reading"), line("differs", "own"),
        line("holds", says="it is flat"), line("holds", "own", says="no reading is flat"),
        line("differs, cause undecided", says="two"), line("differs", says="two"),
    ]  # fmt: skip
    found = {one.says: (one.verdict, one.lines) for one in statements(lines)}
    assert found == {
        "it rises": ("cannot tell", 2),
        "it is flat": ("holds", 1),
        "two": ("differs, cause undecided", 2),
    }
    assert count(statements(lines)) == {
        "holds": 1, "differs, cause undecided": 1, "cannot tell": 1,
    }  # fmt: skip


def test_every_claim_is_listed_and_those_that_no_item_names_are_our_own():
    for paper in PAPERS:
        found, _ = reports(paper, Path("nowhere"))
        lines = coverage(paper, found)
        assert {line.by for line in lines if "/" in line.by} >= set(claims_of(paper))
        named = {name for item in paper.coverage for name in names_of(item)[0]}
        left = [line for line in lines if line.by in set(claims_of(paper)) - named]
        assert all(line.role == "own" for line in left)


def test_no_negative_finding_of_ours_counts_for_the_paper():
    paper = next(paper for paper in PAPERS if paper.key == "lu-hunter")
    found, _ = reports(paper, Path("nowhere"))
    lines = [line for line in coverage(paper, found) if line.by == "readings/gain-ten"]
    assert [(line.role, line.verdict) for line in lines] == [("own", "holds")]
    (statement,) = [one for one in statements(coverage(paper, found)) if "10 times" in one.says]
    assert statement.verdict.startswith("differs")


def test_a_quick_run_before_the_steady_state_has_no_firm_verdict_on_printed_values():
    paper = next(paper for paper in PAPERS if paper.key == "ramantas")
    found, _ = reports(paper, Path("nowhere"))
    assert paper.early("fig5a", "full") == ""
    quick = {**found, "fig5a": {**found["fig5a"], "effort": "quick"}}
    lines = [line for line in coverage(paper, quick) if line.by.startswith("fig5a: ")]
    assert lines
    assert {line.verdict for line in lines} == {"cannot tell"}
    assert all("steady from 200 s on" in line.evidence for line in lines)


@pytest.mark.parametrize("paper", PAPERS, ids=KEYS)
def test_every_claim_has_a_name_a_limit_and_a_wrong_model(paper):
    for target in paper.targets:
        identifiers = [claim.id for claim in paper.claims(target)]
        assert all(identifiers), target
        assert len(identifiers) == len(set(identifiers)), target
    for name, claim in claims_of(paper).items():
        assert claim.entry.get("limit") in ("stated", "before", "after"), name
        assert claim.entry.get("null"), name
        explained = claim.entry.get("differs")
        if explained is not None:
            assert ("removed" in explained) != ("open" in explained), name


def measures_of(paper, target):
    """Return the measures of a target's full run."""
    return paper.measured(target)


@pytest.mark.parametrize("paper", [p for p in PAPERS if p.recorded], ids=lambda paper: paper.key)
def test_the_full_run_rejects_every_wrong_model(paper):
    recorded = {one["target"].partition("/")[2]: one for one in paper.recorded["targets"]}
    assert set(recorded) == set(paper.targets)
    passing = []
    for target, one in recorded.items():
        measures = measures_of(paper, target)
        rows = [Row(**row) for row in one["rows"]]
        stored = {claim["id"]: claim["verdict"] for claim in one["claims"]}
        assert one["effort"] == "full"
        for claim in paper.claims(target):
            judged = claim.judge(measures, rows)
            # The record is of the claims as they stand.
            assert judged.verdict == stored[claim.id], f"{target}/{claim.id}"
            shown = {model for model, verdict in judged.wrong.items() if verdict == "fails"}
            # A claim that a full run cannot tell from its reverse is published as such: at least
            # one of its wrong models is rejected; of any other claim all are.
            if not shown or (judged.verdict != "cannot tell" and shown != set(judged.wrong)):
                passing.append(f"{target}/{claim.id}: {set(judged.wrong) - shown}")
    assert not passing


@pytest.mark.parametrize(
    "name", ["fig1a/little", "fig1a/more-with-1-ms", "fig5a/average-5-ms", "pairs/5-over-1-ms"]
)
def test_a_quick_run_does_not_contradict_the_full_one_on_a_steady_state(name):
    paper = next(paper for paper in PAPERS if paper.key == "ramantas")
    target, _, _ = name.partition("/")
    claim = claims_of(paper)[name]
    far = dict.fromkeys(measures_of(paper, target), 1e6)
    assert claim.judge(far, []).verdict != "cannot tell"
    assert claim.judge(far, [], paper.early(target, "quick")).verdict == "cannot tell"
    assert paper.early(target, "full") == ""


@pytest.mark.parametrize("paper", PAPERS, ids=KEYS)
def test_a_claim_about_a_steady_state_is_of_a_plan_that_says_when_it_begins(paper):
    for name, claim in claims_of(paper).items():
        plan = paper.plans[name.partition("/")[0]]
        assert not claim.entry.get("steady") or plan.get("steady_from"), name


@pytest.mark.parametrize("paper", [p for p in PAPERS if p.recorded], ids=lambda paper: paper.key)
def test_the_full_run_leaves_nothing_unjudged(paper, tmp_path):
    found, origin = reports(paper, tmp_path)
    assert set(origin) == set(paper.targets)
    lines = coverage(paper, found)
    assert not [line for line in lines if line.verdict == "not run"]
    assert not [line.by for line in lines if line.verdict == "fails"]


def test_what_was_reproduced_comes_before_the_record(tmp_path):
    paper = PAPERS[0]
    target = paper.targets[0]
    one = {
        "target": f"{paper.key}/{target}",
        "rows": [],
        "claims": [],
        "effort": "quick",
        "burstlab": "0",
    }
    (tmp_path / "reproduce.json").write_text(json.dumps({"targets": [one]}))
    found, origin = reports(paper, tmp_path)
    assert found[target]["effort"] == "quick"
    assert origin[target].endswith("quick, version 0")


@pytest.mark.parametrize("text", ["", "{}", '{"targets": [{}]}', '{"targets": [1]}'])
def test_a_report_that_cannot_be_read_is_told(text, tmp_path):
    (tmp_path / "reproduce.json").write_text(text)
    with pytest.raises(InputError, match=r"reproduce\.json.*\n  fix:"):
        reports(PAPERS[0], tmp_path)


def test_the_command_lists_what_is_judged(tmp_path):
    command = [sys.executable, "-m", "burstlab", "reproduce", "--coverage", "--json"]
    done = subprocess.run(
        [*command, "--out", str(tmp_path)], capture_output=True, text=True, check=True
    )
    lines = json.loads(done.stdout)["coverage"]
    assert {line["paper"] for line in lines} == set(KEYS)
    names = {"paper", "where", "kind", "says", "by", "verdict", "evidence", "role"}
    assert set(lines[0]) == names
    statements = json.loads(done.stdout)["statements"]
    assert len(statements) < len(lines) / 3
    assert set(statements[0]) == {"paper", "where", "kind", "says", "verdict", "lines"}
    assert not list(tmp_path.iterdir())


def test_the_head_line_counts_statements(tmp_path):
    command = [sys.executable, "-m", "burstlab", "reproduce", "--coverage", "--out"]
    done = subprocess.run([*command, str(tmp_path)], capture_output=True, text=True, check=True)
    judged = [
        one for paper in PAPERS for one in statements(coverage(paper, reports(paper, tmp_path)[0]))
    ]
    holds = sum(one.verdict == "holds" for one in judged)
    head = done.stdout.splitlines()[0]
    assert head.startswith(f"{len(judged)} statements: {holds} hold, ")
    assert " differ, " in head


def test_the_pages_have_the_tables_of_the_record():
    script = Path(__file__).parents[2] / "docs" / "full_runs.py"
    done = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")
