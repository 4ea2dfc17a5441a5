"""Recorded ns-2 traces: every packet at its time."""

from __future__ import annotations

import gzip
import json
import shutil
from importlib.resources import files
from pathlib import Path

import pytest

ORACLES = Path(str(files("burstlab"))) / "data" / "oracles" / "ns2"


def test_the_recorded_traces_agree(burstlab):
    answer = burstlab("oracle", ORACLES, "--json")
    document = answer.json()
    different = [case for case in document["cases"] if not case["match"]]
    assert different == []
    assert answer.status == 0
    assert len(document["cases"]) >= 50
    assert sum(case["compared"] for case in document["cases"]) > 50_000
    variants = {case["variant"] for case in document["cases"]}
    assert variants == {"tahoe", "reno", "new-reno", "sack", "vegas"}


@pytest.fixture
def one_case(tmp_path):
    """A directory with one case of the data."""
    entries = json.loads((ORACLES / "index.json").read_text())
    entry = next(e for e in entries if e["tcp"] == "Reno" and e["drops"])
    (tmp_path / "traces").mkdir()
    shutil.copy(ORACLES / entry["trace"], tmp_path / entry["trace"])
    return tmp_path, entry


def write(directory, *entries):
    (directory / "index.json").write_text(json.dumps(entries))


def test_a_difference_is_found_and_shown(burstlab, one_case):
    directory, entry = one_case
    write(directory, {**entry, "window": entry["window"] - 1})
    answer = burstlab("oracle", directory, "--json")
    assert answer.status == 1
    (case,) = answer.json()["cases"]
    assert not case["match"]
    assert case["first_difference"].startswith("row ")
    text = burstlab("oracle", directory)
    assert text.status == 1
    assert "recorded" in text.out
    assert "0 of 1 cases match" in text.out


def test_one_changed_digit_is_found(burstlab, one_case):
    directory, entry = one_case
    path = directory / entry["trace"]
    with gzip.open(path, "rt") as file:
        lines = file.read().splitlines()
    place = next(i for i, line in enumerate(lines) if i > 200 and line.startswith("S"))
    cells = lines[place].split(",")
    cells[1] = f"{float(cells[1]) + 3e-9:.9f}"
    lines[place] = ",".join(cells)
    with gzip.open(path, "wt") as file:
        file.write("\n".join(lines) + "\n")
    write(directory, entry)
    (case,) = burstlab("oracle", directory, "--json").json()["cases"]
    assert not case["match"]
    assert case["compared"] == place - 1


def test_what_cannot_be_replayed_is_listed(burstlab, one_case):
    directory, entry = one_case
    write(directory, entry, {**entry, "case": "other", "tcp": "Fack"})
    answer = burstlab("oracle", directory, "--json")
    assert answer.status == 0
    (skipped,) = answer.json()["skipped"]
    assert (skipped["case"], skipped["variant"]) == ("other", "Fack")
    assert "skipped" in answer.err


def test_a_missing_or_broken_trace_is_bad_input(burstlab, one_case):
    directory, entry = one_case
    write(directory, {**entry, "trace": "traces/none.csv.gz"})
    assert burstlab("oracle", directory).status == 2
    (directory / entry["trace"]).write_bytes(b"\x1f\x8b\x08\x00broken")
    write(directory, entry)
    answer = burstlab("oracle", directory)
    assert answer.status == 2
    assert entry["trace"] in answer.err
