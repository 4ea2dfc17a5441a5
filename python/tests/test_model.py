"""The command that evaluates closed forms."""

from __future__ import annotations

import pytest

from burstlab.analytic import MODELS, yu2004


def test_the_json_is_the_document_of_the_registry(burstlab):
    answer = burstlab("model", "yu2004", "--set", "p=0.05", "--set", "window=20", "--json")
    assert answer.status == 0
    assert answer.err == ""
    document = answer.json()
    assert document == MODELS["yu2004"].document({"p": 0.05, "window": 20})
    gain = document["results"]["limited_gain"]
    assert gain["value"] == pytest.approx(float(yu2004.limited_gain(0.05, 20)))
    assert document["results"]["bnak_time_factor"]["as_printed"] > gain["value"] - 1


def test_a_table_for_people_has_every_result(burstlab):
    answer = burstlab("model", "yu2004")
    assert answer.status == 0
    for name in MODELS["yu2004"].document()["results"]:
        assert name in answer.out


def test_without_a_name_the_models_are_listed(burstlab):
    answer = burstlab("model")
    assert answer.status == 0
    for model in MODELS.values():
        assert model.name in answer.out
        for parameter in model.parameters:
            assert parameter.name in answer.out
    (listed,) = [m for m in burstlab("model", "--json").json()["models"] if m["model"] == "yu2004"]
    assert [p["name"] for p in listed["parameters"]] == [
        p.name for p in MODELS["yu2004"].parameters
    ]


@pytest.mark.parametrize(
    ("tokens", "says"),
    [
        (("yu204",), ("yu204", "did you mean 'yu2004'")),
        (("kleinrock",), ("kleinrock", "known: yu2004")),
        (("yu2004", "--set", "p=2"), ("p = 2", "0 < p < 1")),
        (("yu2004", "--set", "p=0"), ("p = 0", "0 < p < 1")),
        (("yu2004", "--set", "p=nan"), ("p = 'nan'", "give a number")),
        (("yu2004", "--set", "p=half"), ("p = 'half'", "give a number")),
        (("yu2004", "--set", "assembly=40 ms"), ("assembly = '40 ms'", "in s, without the unit")),
        (("yu2004", "--set", "windw=3"), ("windw", "did you mean 'window'")),
        (("yu2004", "--set", "rto=0.01"), ("rto = 0.01", "at least one round trip")),
        (("yu2004", "--set", "rtt0=0"), ("rtt0 = 0", "above 0")),
        (("yu2004", "--set", "p"), ("--set p", "name=value")),
        (("shihada", "--set", "p=2"), ("p = 2", "0 < p < 1")),
        (("shihada", "--set", "window=3"), ("window = 3", "slow start")),
        (("shihada", "--set", "pc=0.05"), ("pc = 0.05", "negative stable phase")),
        (("lu-hunter", "--set", "share=0.6"), ("share = 0.6", "halving its rate once")),
        (("lu-hunter", "--set", "udp=4e9"), ("udp = 4e+09", "at most its share")),
        (("lu-hunter", "--set", "rtt=0.01"), ("peak window of 0.438", "which are halved")),
        (("lu-hunter", "--set", "start=0.2"), ("start = 0.2", "congestion avoidance")),
        (("lu-hunter", "--set", "scheduled=-1"), ("scheduled = -1", "at least 0")),
        (("lu-hunter", "--set", "near=1"), ("near = 1", "0 < p < 1")),
        (("lu-hunter", "--set", "header=16000"), ("header = 16000", "carries data")),
        (("padhye", "--set", "p=2"), ("p = 2", "0 < p < 1")),
        (("--set", "p=0.1"), ("--set p=0.1", "burstlab model NAME")),
    ],
)
@pytest.mark.parametrize("flags", [(), ("--json",)])
def test_bad_input(burstlab, tokens, says, flags):
    answer = burstlab("model", *tokens, *flags)
    assert answer.status == 2, answer
    assert answer.out == ""
    assert "fix: " in answer.err
    for text in says:
        assert text in answer.err
