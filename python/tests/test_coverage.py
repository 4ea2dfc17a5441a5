"""Every statement of the papers is judged by tests that a wrong model does not pass."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from burstlab.errors import InputError
from burstlab.reproduce.bands import Row, restored
from burstlab.reproduce.coverage import coverage, reports, rows_of
from burstlab.reproduce.paper import papers

PAPERS = papers()
KEYS = [paper.key for paper in PAPERS]
KINDS = {"figure", "table", "equation", "sentence"}


def claims_of(paper):
    return {
        f"{target}/{claim.id}": claim for target in paper.targets for claim in paper.claims(target)
    }


@pytest.mark.parametrize("paper", PAPERS, ids=KEYS)
def test_every_item_is_judged_or_says_why_not(paper):
    claims = claims_of(paper)
    for item in paper.coverage:
        assert item["kind"] in KINDS, item
        assert item["where"]
        assert item["says"]
        judged = item.get("rows", []) + item.get("claims", [])
        assert bool(judged) != bool(item.get("not_judged")), item
        assert set(item.get("claims", [])) <= set(claims), item
        for name in item.get("rows", []):
            assert rows_of(paper, {"rows": [name]}), name


@pytest.mark.parametrize("paper", PAPERS, ids=KEYS)
def test_every_published_value_is_judged_on_its_own(paper):
    covered = {row for item in paper.coverage for row in rows_of(paper, item)}
    assert covered == set(paper.published)
    assert set(paper.tolerances) == set(paper.published)


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


@pytest.mark.parametrize("paper", [p for p in PAPERS if p.recorded], ids=lambda paper: paper.key)
def test_the_full_run_rejects_every_wrong_model(paper):
    recorded = {one["target"].partition("/")[2]: one for one in paper.recorded["targets"]}
    assert set(recorded) == set(paper.targets)
    passing = []
    for target, one in recorded.items():
        measures = {name: restored(value) for name, value in one["measures"].items()}
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
    assert set(lines[0]) == {"paper", "where", "kind", "says", "by", "verdict", "evidence"}
    assert not list(tmp_path.iterdir())


def test_the_pages_have_the_tables_of_the_record():
    script = Path(__file__).parents[2] / "docs" / "full_runs.py"
    done = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")
