"""Canonical runs over all parts of the engine give what is recorded, event by event."""

from __future__ import annotations

import copy
import json
import os
from pathlib import Path

import pytest

import burstlab as bl
from burstlab.loading import read_toml, set_at

DATA = Path(__file__).parent / "data"
CASES = read_toml(DATA / "fingerprints.toml")
RECORD = DATA / "fingerprints.json"

#: Beside the fingerprint, so that a change can be read.
SHOWN = ("packets_sent", "packets_delivered", "packets_lost", "acks_sent", "bursts_lost")


def found(case):
    scenario = copy.deepcopy(CASES["bases"][case["base"]])
    for path, value in case.get("set", {}).items():
        set_at(scenario, path, value)
    result = bl.run(scenario)
    counters = result.summary["counters"]
    return {"fingerprint": result.fingerprint, **{name: counters[name] for name in SHOWN}}


def test_names_are_unique_and_all_recorded():
    names = [case["name"] for case in CASES["runs"]]
    assert len(set(names)) == len(names) >= 12
    if "BURSTLAB_RECORD" not in os.environ:
        assert list(json.loads(RECORD.read_text())) == names


@pytest.mark.skipif("BURSTLAB_RECORD" in os.environ, reason="the record is being written")
@pytest.mark.parametrize("case", CASES["runs"], ids=lambda case: case["name"])
def test_a_run_gives_what_is_recorded(case):
    assert found(case) == json.loads(RECORD.read_text())[case["name"]]


@pytest.mark.skipif("BURSTLAB_RECORD" not in os.environ, reason="make fingerprints writes it")
def test_the_record_is_written():
    record = {case["name"]: found(case) for case in CASES["runs"]}
    RECORD.write_text(json.dumps(record, indent=1) + "\n")
