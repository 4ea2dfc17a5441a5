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


def verdict(measures=None, rows=(), **entry):
    return Claim({"claim": "c", **entry}).judge(measures or {}, rows)


@pytest.mark.parametrize(
    ("test", "value", "expected"),
    [
        ({"equals": 0}, 0, "holds"),
        ({"equals": 0}, 1, "fails"),
        ({"at_least": 2}, 2, "holds"),
        ({"at_least": 2}, 1.99, "fails"),
        ({"at_most": 1.0}, Estimate(1.01, 0.5, 9), "fails"),
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
