"""Headlines of the papers against the mechanism that they are about, switched off."""

from __future__ import annotations

import pytest

from burstlab.reproduce.bands import Row
from burstlab.reproduce.claims import Claim
from burstlab.reproduce.paper import papers
from burstlab.statistics import Estimate

#: The claims that carry a headline, and whether their full run sees the mechanism.
HEADLINES = {
    "shihada/fig5/close-to-3e-3": False,
    "shihada/fig5/close-at-3e-3": True,
    "shihada/fig6/close": False,
    "shihada/fig6/close-at-1e-2": True,
    "lu-hunter/fig2/rises-with-r-controlled": False,
    "lu-hunter/fig3/rises-with-r-controlled": False,
    "lu-hunter/fig8/above": False,
    "lu-hunter/fig11/above": False,
    "lu-hunter/ack-pacing/gains-more": False,
    "lu-hunter/reroute/resolves": True,
    "lu-hunter/synchronised/out-of-step": False,
    "lu-hunter/fig8/gain": True,
    "lu-hunter/length/gain": True,
    "lu-hunter/buffer/less-than-smoothing": True,
    "lu-hunter/buffer/less-than-neither": True,
    "martinez-yelmo/fig3/flat-to-5e-3": False,
    "martinez-yelmo/fig3/knee": False,
    "martinez-yelmo/fig3/wireless-sets-the-level": False,
    "ramantas/fig3a/order": True,
    "ramantas/fig5a/average-falls": False,
    "ramantas/fig5a/variance-falls": False,
    "ramantas/fig6a/early-gain": False,
    "ramantas/fig6a/rises-fastest": True,
    "ramantas/table1/best": True,
    "ramantas/table1/fairness": True,
    "ramantas/table1/fairness-32-100": True,
    "ramantas/table1/lowest-variance": False,
    "ramantas/table1/variance-32-100": True,
    "yu2004/fig6/first-false": False,
    "yu2004/table5/loss-rate": False,
    "yu2004/table5/throughput": False,
    "yu2004/equation-11/predicts": False,
    "yu2004/equation-11/predicts-16": False,
}

EVERY = {
    f"{paper.key}/{target}/{claim.id}": (paper, target, claim)
    for paper in papers()
    for target in paper.targets
    for claim in paper.claims(target)
}


def judged(name):
    paper, target, claim = EVERY[name]
    recorded = paper.recorded or {"targets": ()}
    (one,) = [t for t in recorded["targets"] if t["target"] == f"{paper.key}/{target}"]
    return claim.judge(paper.measured(target), [Row(**row) for row in one["rows"]])


@pytest.mark.parametrize("name", HEADLINES)
def test_a_headline_rejects_its_mechanism_switched_off_or_says_what_it_cannot_see(name):
    found = judged(name)
    assert found.off
    rejected = all(verdict == "fails" for verdict in found.off.values())
    assert rejected == HEADLINES[name], found.off
    assert bool(found.blind) == (not rejected), found.blind


def test_the_list_has_every_claim_that_names_such_a_model():
    assert {name for name, (_, _, claim) in EVERY.items() if "off" in claim.entry} == set(HEADLINES)
    assert {name for name, (_, _, claim) in EVERY.items() if "blind" in claim.entry} <= set(
        HEADLINES
    )


def test_a_claim_tells_what_it_cannot_see_and_keeps_its_verdict():
    entry = {
        "claim": "the gain is at least 1", "measure": "gain", "at_least": 1.0, "blind": "the cause",
        "off": [
            {"model": "without the cause", "set": {"gain": 1.2}},
            {"model": "without anything", "set": {"gain": 0.9}},
        ],
    }  # fmt: skip
    found = Claim(entry).judge({"gain": Estimate(2.0, 0.1, 4)}, [])
    assert found.verdict == "holds"
    assert found.off == {"without the cause": "holds", "without anything": "fails"}
    document = found.to_json()
    assert document["mechanism_off"] == found.off
    assert document["cannot_see"] == "the cause"


def test_rows_in_reverse_are_a_wrong_model():
    rows = [Row("A at 1", 1.0, 1.0, 0.1, 4), Row("A at 2", 3.0, 3.0, 0.1, 4)]
    entry = {"claim": "c", "rows": "A", "off": [{"model": "reversed", "reversed": True}]}
    assert Claim({**entry, "rows_within": 0.5}).judge({}, rows).off == {"reversed": "fails"}
    assert Claim({**entry, "rows_within": 2.5}).judge({}, rows).off == {"reversed": "holds"}
