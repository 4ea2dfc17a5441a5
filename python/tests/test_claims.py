"""Verdicts: what holds, what differs, what fails."""

import pytest

from burstlab.reproduce.claims import Claim, Row
from burstlab.statistics import Estimate

ROWS = [
    Row("A, log p = -3", 1.0, 1.05, 0.01, 10),
    Row("A, log p = -2", 1.3, 1.6, 0.01, 10),
    Row("B, log p = -3", 1.0, 0.9, 0.01, 10),
    Row("without a published value", None, 5.0, None, 1),
]


def verdict(measures=None, found=(), **entry):
    return Claim({"claim": "c", **entry}).judge(measures or {}, found)


@pytest.mark.parametrize(
    ("test", "value", "expected"),
    [
        ({"equals": 0}, 0, "holds"),
        ({"equals": 0}, 1, "fails"),
        ({"at_least": 2}, 2, "holds"),
        ({"at_least": 2}, 1.99, "fails"),
        ({"at_most": 1.0}, Estimate(1.01, 0.5, 9), "cannot tell"),
        ({"at_most": 1.0}, Estimate(0.99, 0.5, 9), "cannot tell"),
        ({"at_most": 1.0}, Estimate(0.49, 0.5, 9), "holds"),
        ({"at_most": 1.0}, Estimate(1.51, 0.5, 9), "fails"),
        ({"band": [0.0, 1.0]}, Estimate(0.5, 0.4, 9), "holds"),
        ({"band": [0.0, 1.0]}, Estimate(0.5, 9.0, 9), "cannot tell"),
        ({"at_least": 0.0}, Estimate(0.5, None, 1), "cannot tell"),
        ({"band": [-2.0, -1.5]}, -1.5, "holds"),
        ({"band": [-2.0, -1.5]}, -1.0, "fails"),
        ({"band": [0.0, 1.0]}, float("nan"), "fails"),
    ],
)
def test_limits(test, value, expected):
    assert verdict({"m": value}, measure="m", **test).verdict == expected


def test_an_order_is_strict():
    order = {"order": ["a", "b", "c"]}
    assert verdict({"a": 3, "b": 2, "c": 1}, **order).verdict == "holds"
    assert verdict({"a": 3, "b": 2, "c": 2}, **order).verdict == "fails"
    assert "b = 2" in verdict({"a": 3, "b": 2, "c": 1}, **order).evidence


def test_an_order_has_intervals():
    order = {"order": ["a", "b"]}
    wide, narrow = Estimate(213.8, 140.0, 5), Estimate(213.8, 10.0, 5)
    assert verdict({"a": wide, "b": 195.4}, **order).verdict == "cannot tell"
    assert verdict({"a": narrow, "b": 195.4}, **order).verdict == "holds"
    assert verdict({"a": 195.4, "b": narrow}, **order).verdict == "fails"
    # The interval of a difference: two of ±3 are apart by 4.3, not by 6.
    near = {"a": Estimate(5.0, 3.0, 9), "b": Estimate(0.0, 3.0, 9)}
    assert verdict(near, **order).verdict == "holds"
    near["b"] = Estimate(1.0, 3.0, 9)
    assert verdict(near, **order).verdict == "cannot tell"


def test_rows_have_intervals():
    rows = [Row("A", 1.0, 1.05, 0.02, 10)]
    within = {"rows": "A"}
    assert verdict(found=rows, **within, rows_within=0.07).verdict == "holds"
    assert verdict(found=rows, **within, rows_within=0.06).verdict == "cannot tell"
    assert verdict(found=rows, **within, rows_within=0.02).verdict == "fails"
    assert "undecided: A" in verdict(found=rows, **within, rows_within=0.06).evidence
    assert verdict(found=rows, **within, rows_share=0.07).verdict == "holds"
    twice = [Row("A", 2.0, 2.1, 0.04, 10)]
    assert verdict(found=twice, **within, rows_share=0.07).verdict == "holds"
    assert verdict(found=twice, **within, rows_within=0.07).verdict == "cannot tell"


def test_a_test_that_a_wrong_model_passes_has_no_power():
    flat = {"model": "a constant", "constant": "best"}
    wide = verdict(found=ROWS, rows="A", rows_within=0.4, null=[flat])
    assert wide.verdict == "cannot tell"
    assert wide.wrong == {"a constant": "holds"}
    near = [Row("A, log p = -3", 1.0, 1.0, 0.01, 10), Row("A, log p = -2", 1.3, 1.3, 0.01, 10)]
    narrow = verdict(found=near, rows="A", rows_within=0.1, null=[flat])
    assert (narrow.verdict, narrow.wrong) == ("holds", {"a constant": "fails"})
    share = verdict(found=near, rows="A", rows_share=0.131, null=[flat])
    assert share.wrong == {"a constant": "holds"}


def test_wrong_models_replace_measures_and_rows():
    swapped = {"model": "swapped", "set": {"a": "b", "b": "a"}}
    assert verdict({"a": 2, "b": 1}, order=["a", "b"], null=[swapped]).wrong == {"swapped": "fails"}
    equal = {"model": "equal", "set": {"a": 1.0}}
    assert verdict({"a": 2}, measure="a", at_least=1.5, null=[equal]).verdict == "holds"
    assert verdict({"a": 2}, measure="a", at_least=1.0, null=[equal]).verdict == "cannot tell"
    rows = [Row("A at 1", 5.0, 5.0, None, 1), Row("B at 1", 7.0, 7.0, None, 1)]
    other = {"model": "the other scheme", "rows_from": "B"}
    found = verdict(found=rows, rows="A", rows_within=1.0, null=[other])
    assert (found.verdict, found.wrong) == ("holds", {"the other scheme": "fails"})


@pytest.mark.parametrize(
    "null",
    [
        {"model": "no change"},
        {"set": {"a": 1.0}},
        {"model": "two", "set": {"a": 1.0}, "constant": 1.0},
        {"model": "unknown measure", "set": {"z": 1.0}},
    ],
)
def test_a_wrong_model_says_what_it_changes(null):
    with pytest.raises(ValueError, match="null"):
        verdict({"a": 1.0}, measure="a", equals=1, null=[null])


def test_a_claim_that_differs_has_its_cause_removed():
    entry = {
        "measure": "gap",
        "at_most": 0.1,
        "differs": {"at_most": 0.5, "why": "the rule", "removed": {"measure": "without"}},
    }
    assert verdict({"gap": 0.4, "without": 0.05}, **entry).verdict == "differs"
    assert "without the cause" in verdict({"gap": 0.4, "without": 0.05}, **entry).evidence
    stays = verdict({"gap": 0.4, "without": 0.3}, **entry)
    assert stays.verdict == "fails"
    assert "it stays" in stays.evidence
    unsure = {"gap": 0.4, "without": Estimate(0.1, 0.05, 5)}
    assert verdict(unsure, **entry).verdict == "differs, cause undecided"
    entry["differs"] = {"at_most": 0.5, "why": "it is so.", "open": "tried three rules"}
    judged = verdict({"gap": 0.4}, **entry)
    assert judged.verdict == "differs"
    assert judged.why.endswith("No cause is known: tried three rules")


@pytest.mark.parametrize(
    ("gap", "without"),
    [
        (Estimate(0.48, 0.05, 5), 0.05),  # whether the narrower test describes it
        (Estimate(0.3, 0.05, 5), Estimate(0.1, 0.05, 5)),  # whether the difference goes
    ],
)
def test_what_is_missed_for_certain_differs_though_its_cause_is_undecided(gap, without):
    explained = {"at_most": 0.5, "why": "the rule", "removed": {"measure": "without"}}
    entry = {"measure": "gap", "at_most": 0.1, "differs": explained}
    judged = verdict({"gap": gap, "without": without}, **entry)
    assert (judged.verdict, judged.why) == ("differs, cause undecided", "the rule")
    near = verdict({"gap": Estimate(0.12, 0.05, 5), "without": without}, **entry)
    assert near.verdict == "cannot tell"


@pytest.mark.parametrize("value", [0.05, 0.4, 0.7])
def test_no_firm_verdict_on_a_steady_state_from_before_it(value):
    explained = {"at_most": 0.5, "why": "the rule", "open": "much"}
    entry = {"claim": "c", "measure": "gap", "at_most": 0.1, "differs": explained}
    firm = Claim(entry).judge({"gap": value}, [], "it is measured too early")
    assert firm.verdict in ("holds", "differs", "fails")
    early = Claim({**entry, "steady": True}).judge({"gap": value}, [], "it is measured too early")
    assert (early.verdict, early.why) == ("cannot tell", "")
    assert early.evidence.endswith("no firm verdict: it is measured too early")
    assert Claim({**entry, "steady": True}).judge({"gap": value}, []).verdict == firm.verdict


def test_removed_may_be_other_rows():
    rows = [Row("A at 1", 5.0, 7.0, None, 1), Row("B at 1", 5.0, 5.1, None, 1)]
    entry = {
        "rows": "A",
        "rows_within": 0.2,
        "differs": {"rows_within": 3.0, "why": "because", "removed": {"rows": "B"}},
    }
    assert verdict(found=rows, **entry).verdict == "differs"


def test_rows_are_chosen_by_their_start():
    near = Claim({"claim": "c", "rows": "B", "rows_within": 0.2}).judge({}, ROWS)
    assert near.verdict == "holds"
    far = Claim({"claim": "c", "rows": "A", "rows_within": 0.2}).judge({}, ROWS)
    assert far.verdict == "fails"
    assert "1 of 2 values" in far.evidence
    assert "outside: A, log p = -2" in far.evidence


def test_an_explanation_counts_only_where_its_own_test_passes():
    entry = {
        "measure": "timeouts",
        "equals": 0,
        "differs": {"equals": 1, "why": "too few duplicate ACKs"},
    }
    assert verdict({"timeouts": 0}, **entry).verdict == "holds"
    differs = verdict({"timeouts": 1}, **entry)
    assert (differs.verdict, differs.why) == ("differs", "too few duplicate ACKs")
    assert verdict({"timeouts": 7}, **entry).verdict == "fails"


def test_further_measures_are_shown():
    judged = verdict({"m": 1, "n": 7}, measure="m", equals=1, evidence=["n"])
    assert judged.evidence.endswith("n: 7")


def test_a_claim_has_exactly_one_test():
    with pytest.raises(ValueError, match="one test"):
        Claim({"claim": "c", "measure": "m"})
    with pytest.raises(ValueError, match="one test"):
        Claim({"claim": "c", "measure": "m", "equals": 1, "at_least": 1})


def test_the_json_of_a_claim():
    document = verdict({"m": 1}, measure="m", equals=1).to_json()
    assert set(document) == {"claim", "verdict", "evidence"}
    assert set(ROWS[0].to_json()) == {"label", "published", "measured", "ci95", "n"}
